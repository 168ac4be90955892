"""What this distribution adds to pacsklearn. Imports nothing heavy: targets are strings."""

from __future__ import annotations

from pacsklearn.plugins import (
    BatchPredictorRecord,
    CanonicalizerRecord,
    SubsetFitterRecord,
    hookimpl,
)


@hookimpl
def pacsklearn_batch_predictors() -> list[BatchPredictorRecord]:
    """Batch predictors of this distribution."""
    return [
        BatchPredictorRecord(
            name="xgboost",
            target="pacsklearn_xgboost.boosters:Boosters",
            estimators=("xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRegressor"),
            description="all candidates' boosters on one DMatrix",
        )
    ]


@hookimpl
def pacsklearn_canonicalizers() -> list[CanonicalizerRecord]:
    """Canonicalizers of this distribution."""
    return [
        CanonicalizerRecord(
            name="fixed_structure_booster",
            target="pacsklearn_xgboost.canonicalizer:FixedStructureCanonicalizer",
            estimators=(
                "pacsklearn_xgboost.fixed_structure.FixedStructureBoosterClassifier",
                "pacsklearn_xgboost.fixed_structure.FixedStructureBoosterRegressor",
            ),
            description="leaf values of trees whose splits are public",
        )
    ]


@hookimpl
def pacsklearn_subset_fitters() -> list[SubsetFitterRecord]:
    """Subset fitters of this distribution."""
    return [
        SubsetFitterRecord(
            name="xgboost",
            target="pacsklearn_xgboost.joint:BoosterFitter",
            estimators=("xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRegressor"),
            description="cut points and trees on the rows of one table, sorted once",
        )
    ]
