"""Whether a table has the columns of a schema."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.schema.values import column_values, key_of
from pacsklearn.universe.frame import column_names
from pacsklearn.universe.row_rules import check_names


class TableReader(BaseEstimator):
    """An estimator that reads tables of any kind, by a schema of its own."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.no_validation = True
        return tags


def check_schema(schema: Any) -> None:
    """Refuse what is no schema, or has facts from private rows that nobody confirmed."""
    if not isinstance(schema, Schema):
        raise TypeError(
            f"schema must be a Schema, got {type(schema).__name__}; see Schema.read, "
            "Schema.from_dtypes and Schema.template."
        )
    if schema.open_columns:
        raise ValueError(
            "The schema has facts that were looked up in private rows, about the columns "
            f"{', '.join(schema.open_columns)}. Replace them by what the codebook says "
            "(schema.with_column), or say that they are public (schema.confirm; in a file, "
            '"confirmed": true beside "looked_up").'
        )


def checked_table(X: Any, schema: Schema) -> Any:
    """Return ``X`` as a table or an array that has the schema's columns.

    Raises
    ------
    ValueError
        Naming the columns that are not there, or the shape of an array of another width.
    """
    check_names(X)
    names = column_names(X)
    if names is None:
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
        if len(X.shape) != 2 or X.shape[1] != len(schema):
            raise ValueError(
                f"X must have the schema's {len(schema)} columns, got an array of shape "
                f"{tuple(X.shape)}; give a table with column names, or schema.select([...]) for "
                "what is in the array."
            )
        return X
    absent = [
        column.name for column in schema if column.kind != "ignored" and column.name not in names
    ]
    if absent:
        raise ValueError(
            f"X has no column {', '.join(map(repr, absent))}, which the schema lists; drop it "
            "from the schema (schema.drop), or give the whole table."
        )
    return X


def warn_of_unread(X: Any, schema: Schema) -> None:
    """Warn of columns that hold values of which the schema reads none.

    Each is encoded as a constant; a decimal comma, a blank or another date format is enough.
    """
    unread = [
        column.name
        for position, column in enumerate(schema)
        if column.kind not in ("text", "ignored")
        and not column.reads_any(column_values(X, column.name, position))
    ]
    if unread:
        warn_user(
            f"The schema reads no value of {', '.join(unread)}: what is there is no number, no "
            "date in ISO form or none of the categories as they are written in the schema, and "
            "tells a model nothing. Convert the columns, or correct the schema.",
            UtilityWarning,
        )
    for position, column in enumerate(schema):
        word = _unlike_numbers(column, column_values(X, column.name, position))
        if word is not None:
            warn_user(
                f"Column {column.name} of X holds numbers, of which none is read as the category "
                f"{word!r}: write it in the schema as numbers are written ({_plainly(word)!r}), or "
                "have the column read as text (dtype=str).",
                UtilityWarning,
            )


def _unlike_numbers(column: Column, values: Any) -> str | None:
    """Return a category that is written as no number of a column of numbers is, such as 007."""
    if getattr(values, "dtype", np.dtype(object)).kind not in "iuf":
        return None
    words = map(key_of, column.categories)
    return next((word for word in words if _plainly(word) not in (word, None)), None)


def _plainly(word: str) -> str | None:
    try:
        return key_of(float(word))
    except ValueError:
        return None


def set_table_features(estimator: Any, X: Any) -> None:
    """Set ``n_features_in_`` and, for a table with names, ``feature_names_in_``."""
    names = column_names(X)
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator.n_features_in_ = int(X.shape[1]) if names is None else len(names)
