"""A table as its codebook has it, for estimators that select columns themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.schema.tables import (
    TableReader,
    check_schema,
    checked_table,
    set_table_features,
    warn_of_unread,
)
from pacsklearn.tabular.schema.values import as_words, column_values
from pacsklearn.universe.frame import as_pandas, column_names, is_missing


@dataclass(eq=False, repr=False)
class SchemaColumns(TransformerMixin, TableReader):
    """The columns of a table, each value as a codebook has it and no gap left.

    ``schema=`` of :class:`PACPrivate` puts it before estimators that select columns themselves,
    such as a ``ColumnTransformer``. Numbers and dates (as days) are moved into their public range,
    and are its middle where they are missing; categories are those listed, or else ``other``, or
    an empty cell; text stays text. Columns that the schema does not list stay as they are.

    Parameters
    ----------
    schema : Schema

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_columns,)
        When the table has column names.

    Notes
    -----
    *Guarantee.* The output of a row is a function of that row and of the schema.

    Examples
    --------
    >>> import pandas as pd
    >>> from pacsklearn.tabular import Column, Schema, SchemaColumns
    >>> schema = Schema([Column("age", low=0, high=100)])
    >>> rows = pd.DataFrame({"age": [30, None, 130]})
    >>> SchemaColumns(schema).fit_transform(rows)["age"].tolist()
    [30.0, 50.0, 100.0]
    """

    learns_nothing: ClassVar[bool] = True

    schema: Schema

    def check_codebook(self) -> None:
        """Refuse a schema with facts that nobody confirmed."""
        check_schema(self.schema)

    def check_table(self, X: Any) -> None:
        """Refuse a table without the schema's columns."""
        clone(self).fit(X)
        warn_of_unread(X, self.schema)

    def fit(self, X: Any, y: Any = None) -> SchemaColumns:
        """Check the schema and the names of the columns; the rows are not looked at.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table, or array of shape (n_rows, n_columns)
        y : None
            Ignored.
        """
        check_schema(self.schema)
        set_table_features(self, checked_table(X, self.schema))
        return self

    def transform(self, X: Any) -> Any:
        """Read rows by the schema.

        Returns
        -------
        DataFrame of pandas, or array of objects of shape (n_rows, n_columns)
            As many columns as ``X`` has.
        """
        check_is_fitted(self, "n_features_in_")
        X = as_pandas(checked_table(X, self.schema))
        read = {
            column.name: _filled(column, column_values(X, column.name, position))
            for position, column in enumerate(self.schema)
            if column.kind != "ignored"
        }
        if column_names(X) is not None:
            return X.assign(**read)
        table = np.array(X, dtype=object)
        for position, name in enumerate(self.schema.names):
            table[:, position] = read.get(name, table[:, position])
        return table

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns."""
        names = getattr(self, "feature_names_in_", self.schema.names)
        return np.array(names, dtype=object)


def _filled(column: Column, values: Any) -> Any:
    if column.kind in ("number", "date"):
        low, high = column.bounds
        numbers, _ = column.read(values)
        return np.clip(np.where(np.isnan(numbers), (low + high) / 2, numbers), low, high)
    if column.kind == "text":
        return np.array([text or "" for text in as_words(values, column.missing)], dtype=object)
    codes, gap = column.codes(values), gap_of(column)
    known = [gap if value == column.other else value for value in column.categories]
    return np.array([*known, gap], object)[np.where(codes < 0, len(known), codes)]


def gap_of(column: Column) -> Any:
    """Return what stands for a gap among categories, or for one that is not listed."""
    own = [value for value in column.categories if value != column.other]
    # An empty one where words stand: encoders of categories take no two types in a column.
    blank = "" if all(isinstance(value, str) for value in own) else np.nan
    is_mixed = isinstance(column.other, str) and is_missing(blank)
    return blank if column.other is None or is_mixed else column.other
