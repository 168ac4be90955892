"""Libraries that write down whatever is fitted: MLflow's autologging, and CatBoost."""

from __future__ import annotations

import sys
from typing import Any

_LIBRARIES = ("sklearn", "xgboost", "lightgbm", "statsmodels", "pytorch", "tensorflow", "keras")


def check_unlogged(estimator: Any = None) -> None:
    """Refuse work on candidates while MLflow logs each fit, with its model and its scores.

    CatBoost writes the learning curve of each fit into a folder, unless its models are told not to.

    Parameters
    ----------
    estimator : estimator, optional
        With all its parts; not given where a function fits what nobody else sees.

    Raises
    ------
    ValueError
        With how to switch it off.
    """
    # Looked up: whoever has switched it on has it loaded.
    loaded = sys.modules.get("mlflow.utils.autologging_utils")
    is_off = getattr(loaded, "autologging_is_disabled", lambda _: True)
    logged = [library for library in _LIBRARIES if not is_off(library)]
    if logged:
        # One that was switched on by itself is not switched off by mlflow.autolog(disable=True).
        off = " and ".join(f"mlflow.{library}.autolog(disable=True)" for library in logged)
        raise ValueError(
            f"MLflow logs every fit of {', '.join(logged)}, and would log the models of all "
            "candidates as well, which were learned from private rows and have no noise. Call "
            f"{off} before, and log released_estimator_ yourself."
        )
    for part in [estimator, *getattr(estimator, "get_params", dict)().values()]:
        is_catboost = any(base.__module__ == "catboost.core" for base in type(part).__mro__)
        if is_catboost and part.get_params().get("allow_writing_files", True):
            raise ValueError(
                f"{type(part).__name__} writes the learning curve of each candidate's fit into the "
                "folder catboost_info, without noise; give it allow_writing_files=False."
            )
