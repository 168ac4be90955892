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
            target="pacsklearn_trees:Boosters",
            estimators=("xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRegressor"),
            description="all candidates' boosters on one DMatrix",
        ),
        BatchPredictorRecord(
            name="stacked_forest",
            target="pacsklearn_trees:StackedForest",
            estimators=(
                "sklearn.ensemble.RandomForestClassifier",
                "sklearn.ensemble.RandomForestRegressor",
                "sklearn.ensemble.ExtraTreesClassifier",
                "sklearn.ensemble.ExtraTreesRegressor",
                "sklearn.ensemble.GradientBoostingClassifier",
                "sklearn.ensemble.GradientBoostingRegressor",
                "pacsklearn.FixedStructureForestClassifier",
                "pacsklearn.FixedStructureForestRegressor",
            ),
            description="trees of all candidates in one pass over the rows",
        ),
    ]


@hookimpl
def pacsklearn_canonicalizers() -> list[CanonicalizerRecord]:
    """Canonicalizers of this distribution."""
    return [
        CanonicalizerRecord(
            name="fixed_structure_booster",
            target="pacsklearn_trees:FixedStructureCanonicalizer",
            estimators=(
                "pacsklearn_trees.FixedStructureBoosterClassifier",
                "pacsklearn_trees.FixedStructureBoosterRegressor",
            ),
            description="leaf values of trees whose splits are public",
        )
    ]


@hookimpl
def pacsklearn_subset_fitters() -> list[SubsetFitterRecord]:
    """Subset fitters of this distribution."""
    return [
        SubsetFitterRecord(
            name="random_forest",
            target="pacsklearn_trees:RandomForestFitter",
            estimators=("sklearn.ensemble.RandomForestClassifier",),
            description="trees on the rows of one table, each feature of which is sorted once",
        ),
        SubsetFitterRecord(
            name="hist_gradient_boosting",
            target="pacsklearn_trees:HistGradientBoostingFitter",
            estimators=(
                "sklearn.ensemble.HistGradientBoostingClassifier",
                "sklearn.ensemble.HistGradientBoostingRegressor",
            ),
            description="bins and trees on the rows of one table, each feature sorted once",
        ),
    ]
