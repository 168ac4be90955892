"""Tables with texts and missing values, for which nobody has written a codebook."""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.encoder import SchemaEncoder
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.universe.frame import not_numbers
from pacsklearn.universe.row_rules import RowRules, steps_of

_TEXT_FEATURES = 8


def mixed_columns(X: Any, estimator: Any) -> dict[str, Any] | None:
    """Return which columns have to be encoded for an estimator of numbers; None where none has.

    Parameters
    ----------
    X : DataFrame
    estimator : estimator
        What a command named.

    Returns
    -------
    dict or None
        ``hashed``: names of the columns that are no numbers; ``imputed``: whether numbers are
        missing. For the recipe, which is public: both are functions of the whole table.
    """
    first = steps_of(estimator)[0]
    if "schema" in first.get_params(deep=False):
        return None
    reads = get_tags(first).input_tags
    if reads.string or reads.categorical:
        return None
    hashed = [*map(str, not_numbers(X))]
    rest = X.drop(columns=hashed)
    imputed = bool(rest.isna().any(axis=None)) and not RowRules.of(estimator).accepts_nan
    return {"hashed": hashed, "imputed": imputed} if hashed or imputed else None


def column_encoder(columns: dict[str, Any]) -> ColumnTransformer:
    """Return a transformer that hashes texts and scales numbers.

    What the numbers' steps learn is learned inside each subset and released under noise.
    """
    hashed = list(columns["hashed"])
    numbers = make_pipeline(*([SimpleImputer()] * columns["imputed"]), StandardScaler())
    schema = Schema([Column(name, "text") for name in hashed])
    texts = SchemaEncoder(schema, text_features=_TEXT_FEATURES)
    steps = [("texts", texts, hashed)] if hashed else []
    return ColumnTransformer(steps, remainder=numbers, verbose_feature_names_out=False)
