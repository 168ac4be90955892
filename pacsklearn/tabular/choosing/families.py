"""Short lists of models that lose little to noise, for tables of any kind."""

from __future__ import annotations

from typing import Any

from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pacsklearn.tabular.additive.classifier import AdditiveClassifier
from pacsklearn.tabular.additive.regressor import AdditiveRegressor
from pacsklearn.tabular.forests.classifier import FixedStructureForestClassifier
from pacsklearn.tabular.forests.regressor import FixedStructureForestRegressor
from pacsklearn.tabular.schema.encoder import SchemaEncoder
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.stepwise.classifier import StepwiseClassifier
from pacsklearn.tabular.stepwise.regressor import StepwiseRegressor

# Ridge and smoothness, in rows: the more, the fewer directions count, and the less noise they need.
_PENALTIES = ((20.0, 1e3), (100.0, 1e4), (400.0, 4e4))
_COMPONENTS = 4
# Columns with free weights, and the penalty of the others: small budgets pay for the first ones.
_BOUNDS = ((1, None), (2, None), (4, None), (4, 0.1))
# Straight lines, where candidates agree on columns and not on bounds within them.
_LINES = ((2, None), (4, None))
_SHRUNKEN = 1.0
# Beyond, models that take minutes for all candidates; what is left is as good there.
_MOST_EQUATIONS, _MOST_CLASSES = 500, 30
# Of three classes of wine candidates' boosted trees disagree on 70 % of the queries, SVMs on 30 %.
_FEW_CLASSES = 2


def classifier_families(schema: Schema | None, n_features: int) -> list[Any]:
    """Classifiers to choose among; a schema brings additive models and encodings without noise.

    Parameters
    ----------
    schema : Schema, optional
        Public.
    n_features : int
        Columns of the table.
    """
    heads = [
        LogisticRegression(C=1e-2, max_iter=1000),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.9),
        StepwiseClassifier(0, ridge=_SHRUNKEN),
    ]
    forest = FixedStructureForestClassifier(class_weight="balanced")
    return [
        *_additive(schema, AdditiveClassifier),
        *_few(schema, StepwiseClassifier),
        *_behind_encoding(schema, n_features, heads, heads[0], forest),
    ]


def regressor_families(schema: Schema | None, n_features: int) -> list[Any]:
    """Regressors to choose among; arguments as for :func:`classifier_families`."""
    heads = [*(Ridge(alpha) for alpha in (1e1, 1e3)), StepwiseRegressor(0, ridge=_SHRUNKEN)]
    forest = FixedStructureForestRegressor()
    return [
        *_additive(schema, AdditiveRegressor),
        *_few(schema, StepwiseRegressor),
        *_behind_encoding(schema, n_features, heads, heads[0], forest),
    ]


def too_dear(model: Any, n_features: int, n_classes: int) -> str:
    """Why a listed model takes too long on a table of such a shape; empty where it does not.

    Parameters
    ----------
    model : estimator
    n_features : int
        Columns of the table; a public encoding gives as many as it gives.
    n_classes : int
        None of a regression: 0.
    """
    encoder, last = (model[0], model[-1]) if hasattr(model, "steps") else (None, model)
    if isinstance(encoder, SchemaEncoder):
        n_features = len(encoder.get_feature_names_out())
    solves = isinstance(last, LinearDiscriminantAnalysis) or getattr(last, "ridge", None)
    if solves and not hasattr(last, "schema") and n_features > _MOST_EQUATIONS:
        return (
            f"left out by the table's shape: each candidate would solve {n_features} equations, "
            f"more than {_MOST_EQUATIONS}"
        )
    if isinstance(last, (AdditiveClassifier, StepwiseClassifier)) and n_classes > _MOST_CLASSES:
        return (
            f"left out by the table's shape: {n_classes} classes are more than {_MOST_CLASSES}, "
            "and each candidate would fit them all in many steps"
        )
    return ""


def teacher(schema: Schema | None, *, n_classes: int | None) -> Any:
    """Steady model whose answers students learn: boosted trees, or an SVM of three classes or more.

    Parameters
    ----------
    schema : Schema, optional
        Public; without one the rows must be what boosted trees take.
    n_classes : int or None
        None answers numbers.
    """
    if schema is not None and n_classes is not None and n_classes > _FEW_CLASSES:
        return make_pipeline(SchemaEncoder(schema), SVC(C=4.0))
    kind = HistGradientBoostingRegressor if n_classes is None else HistGradientBoostingClassifier
    model = kind(learning_rate=0.1, max_iter=60, max_leaf_nodes=15, min_samples_leaf=40)
    return model if schema is None else make_pipeline(SchemaEncoder(schema), model)


def _additive(schema: Schema | None, kind: Any) -> list[Any]:
    if schema is None:
        return []
    return [kind(schema, ridge=ridge, smoothness=smoothness) for ridge, smoothness in _PENALTIES]


def _few(schema: Schema | None, kind: Any) -> list[Any]:
    encodings: list[tuple[Any, Any]] = [(StandardScaler(), _BOUNDS)]
    if schema is not None:
        bounds = SchemaEncoder(schema, numbers="thermometer", missing="ignore")
        encodings = [(bounds, _BOUNDS), (SchemaEncoder(schema, missing="ignore"), _LINES)]
    return [
        make_pipeline(encoder, kind(n_terms, ridge=ridge))
        for encoder, few in encodings
        for n_terms, ridge in few
    ]


def _behind_encoding(
    schema: Schema | None, n_features: int, heads: list[Any], last: Any, forest: Any
) -> list[Any]:
    encoder = StandardScaler() if schema is None else SchemaEncoder(schema)
    models = [make_pipeline(encoder, head) for head in heads]
    if schema is None:
        if n_features > _COMPONENTS:
            models.append(make_pipeline(encoder, PCA(_COMPONENTS), last))
        return [*models, forest]
    return [*models, make_pipeline(encoder, forest.set_params(feature_range=(0.0, 1.0)))]
