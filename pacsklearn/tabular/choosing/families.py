"""Short lists of models that lose little to noise, for tables of any kind."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pacsklearn.tabular.additive.classifier import AdditiveClassifier
from pacsklearn.tabular.additive.regressor import AdditiveRegressor
from pacsklearn.tabular.additive.terms import starts_at_zero
from pacsklearn.tabular.schema.encoder import SchemaEncoder
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.stepwise.classifier import StepwiseClassifier
from pacsklearn.tabular.stepwise.regressor import StepwiseRegressor
from pacsklearn.tabular.stepwise.stepwise_model import StepwiseModel

# Ridge and smoothness, in rows: the more, the fewer directions count, and the less noise they need.
_PENALTIES = ((20.0, 1e3), (100.0, 1e4), (400.0, 4e4))
# Bins that are narrow near zero, where half of the numbers start there.
_AMOUNT_BINS = 8
# Columns with free weights, and the penalty of the others: small budgets pay for the first ones.
_BOUNDS = ((1, None), (2, None), (4, None), (4, 0.1))
_COLUMNS = ((1, None), (2, None), (4, None), (8, None))
# Straight lines, where candidates agree on columns and not on bounds within them.
_LINES = ((2, None),)
# Penalties on the weights of all columns, a row: from a direction that follows how columns hang
# together to the plain differences of the classes' means, which need least noise.
_SHRUNKEN = (1.0, 10.0)
# Random features (Rahimi and Recht, 2007) of a table of few numbers and nothing else, which see how
# columns act together: width of the kernel, features, and shrinkage towards fewer directions.
_FEW_NUMBERS = 20
_KERNELS = ((2.0, 100, 0.5), (2.0, 100, 0.2), (5.0, 200, 0.01))
# Beyond, models that take minutes for all candidates; what is left is as good there.
_MOST_EQUATIONS, _MOST_CLASSES = 500, 30
# Of three classes of wine candidates' boosted trees disagree on 70 % of the queries, SVMs on 30 %.
_FEW_CLASSES = 2


def classifier_families(schema: Schema | None, n_features: int) -> list[Any]:
    """Return the classifiers to choose among.

    A schema brings additive models and encodings without noise.

    Parameters
    ----------
    schema : Schema, optional
        Public.
    n_features : int
        Columns of the table.
    """
    heads = [
        *(LogisticRegression(C=C, max_iter=1000) for C in (1e-3, 1e-2)),
        *(LinearDiscriminantAnalysis(solver="lsqr", shrinkage=level) for level in (0.9, 0.99)),
        *(StepwiseClassifier(0, ridge=ridge) for ridge in _SHRUNKEN),
    ]
    return [
        *_additive(schema, AdditiveClassifier),
        *_few(schema, StepwiseClassifier, n_features),
        *_behind_encoding(schema, heads),
        *_together(schema),
    ]


def regressor_families(schema: Schema | None, n_features: int) -> list[Any]:
    """Return the regressors to choose among; arguments as for :func:`classifier_families`."""
    heads = [
        *(Ridge(alpha) for alpha in (1e1, 1e3)),
        *(StepwiseRegressor(0, ridge=ridge) for ridge in _SHRUNKEN),
    ]
    return [
        *_additive(schema, AdditiveRegressor),
        *_few(schema, StepwiseRegressor, n_features),
        *_behind_encoding(schema, heads),
    ]


def too_dear(model: Any, n_rows: int, n_features: int, n_classes: int) -> str:
    """Return why a listed model takes too long on a table of such a shape; empty where it does not.

    Parameters
    ----------
    model : estimator
    n_rows : int
        Where columns are more, stepwise models solve an equation for each row instead.
    n_features : int
        Columns of the table; a public encoding gives as many as it gives.
    n_classes : int
        None of a regression: 0.
    """
    encoder, last = (model[0], model[-1]) if hasattr(model, "steps") else (None, model)
    if isinstance(encoder, SchemaEncoder):
        n_features = len(encoder.get_feature_names_out())
    n_equations = 0
    if isinstance(last, LinearDiscriminantAnalysis):
        n_equations = n_features
    elif isinstance(last, StepwiseModel) and last.ridge is not None:
        n_equations = min(n_features, n_rows)
    if n_equations > _MOST_EQUATIONS:
        return (
            f"left out by the table's shape: each candidate would solve {n_equations} equations, "
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
    models = [kind(schema, ridge=ridge, smoothness=smoothness) for ridge, smoothness in _PENALTIES]
    numbers = [column for column in schema if column.kind == "number"]
    if numbers and 2 * sum(map(starts_at_zero, numbers)) >= len(numbers):
        amounts = {"bins": "amounts", "n_bins": _AMOUNT_BINS}
        models += [clone(model).set_params(**amounts) for model in models[:2]]
    return models


def _few(schema: Schema | None, kind: Any, n_features: int) -> list[Any]:
    encodings: list[tuple[Any, Any]] = [
        # More columns than there are would be the same model again.
        (StandardScaler(), [few for few in _COLUMNS if few[0] < 2 * n_features])
    ]
    if schema is not None:
        bounds = SchemaEncoder(schema, numbers="thermometer", missing="ignore")
        encodings = [(bounds, _BOUNDS), (SchemaEncoder(schema, missing="ignore"), _LINES)]
    return [
        make_pipeline(encoder, kind(n_terms, ridge=ridge))
        for encoder, few in encodings
        for n_terms, ridge in few
    ]


def _together(schema: Schema | None) -> list[Any]:
    if schema is None or not 2 <= len(schema) <= _FEW_NUMBERS:
        return []
    if any(column.kind != "number" for column in schema):
        return []
    return [
        make_pipeline(
            SchemaEncoder(schema),
            RBFSampler(gamma=gamma, n_components=n_components, random_state=0),
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage),
        )
        for gamma, n_components, shrinkage in _KERNELS
    ]


def _behind_encoding(schema: Schema | None, heads: list[Any]) -> list[Any]:
    encoder = StandardScaler() if schema is None else SchemaEncoder(schema)
    return [make_pipeline(encoder, head) for head in heads]
