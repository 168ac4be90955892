"""XGBoost for pacsklearn: fast private responses, and boosters whose leaves can be released.

xgboost itself is imported when its models are first predicted with.
"""

from pacsklearn_xgboost.fixed_structure import (
    FixedStructureBoosterClassifier,
    FixedStructureBoosterRegressor,
)

__all__ = ["FixedStructureBoosterClassifier", "FixedStructureBoosterRegressor"]
