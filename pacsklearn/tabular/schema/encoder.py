"""A transformer that knows the codebook and learns nothing from the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.encodings import Encoding, encoding_of
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.schema.tables import (
    TableReader,
    check_schema,
    checked_table,
    set_table_features,
    warn_of_unread,
)
from pacsklearn.tabular.schema.values import column_values


@dataclass(eq=False, repr=False)
class SchemaEncoder(TransformerMixin, TableReader):
    """Mixed tables into numbers, by a public codebook alone.

    ``fit`` looks at the names of the columns and at no row, so a private release adds no noise to
    this step: put it first in a pipeline, in place of encoders and scalers that learn.

    Parameters
    ----------
    schema : Schema
        What is publicly known about the columns. Columns of the table that it does not list, and
        those of kind "ignored", are not used.
    numbers : {"scaled", "thermometer", "bins"}, default="scaled"
        Numbers and dates: from 0 to 1 over the public range; a feature for each bound between
        bins that the value reaches; or a feature for each bin.
    categories : {"onehot", "ordinal"}, default="onehot"
        Categories without an order.
    ordered : {"onehot", "ordinal", "thermometer"}, default="thermometer"
        Ordered categories.
    n_bins : int, default=8
        Bins over the public range where the column has no edges.
    text_features : int, default=64
        Features that the words of a text column are hashed to; a column with a vocabulary has one
        for each word instead.
    missing : {"indicator", "ignore"}, default="indicator"
        Whether each column that may have missing values gets a feature that says so. A missing
        number counts as the middle of its range, a missing category as none of them.
    outside : {"nearest", "error"}, default="nearest"
        What a value outside the schema becomes: the nearer end of the range; none of the
        categories (all their features are 0, ordinal: -1); where a number or date should be and
        something else is, a missing value. "error" refuses such rows, by column and count.
    encodings : mapping of str to str, optional
        Encoding of single columns by name, in place of the above.
    sparse_output : bool, default=False
        Return a sparse matrix in CSR form.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_columns,)
        When the table has column names.

    Raises
    ------
    ValueError
        From ``fit`` and ``transform``: a column of the schema is not in the table, an array has
        another number of columns, the schema has facts nobody confirmed or lacks a range. No value
        is ever quoted.

    Notes
    -----
    *Guarantee.* The output of a row is a function of that row and of the schema. The schema is
    public: whoever writes a range or a category into it that was found in the rows publishes it.

    Examples
    --------
    >>> import pandas as pd
    >>> from pacsklearn.tabular import Column, Schema, SchemaEncoder
    >>> schema = Schema([
    ...     Column("age", low=0, high=100, required=True),
    ...     Column("ward", "category", categories=("north", "south")),
    ... ])
    >>> rows = pd.DataFrame({"age": [50, 130], "ward": ["south", None]})
    >>> encoder = SchemaEncoder(schema).fit(rows)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'ward=north', 'ward=south', 'ward missing']
    >>> encoder.transform(rows).tolist()
    [[0.5, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]]
    """

    learns_nothing: ClassVar[bool] = True

    schema: Schema
    _: KW_ONLY
    numbers: str = "scaled"
    categories: str = "onehot"
    ordered: str = "thermometer"
    n_bins: int = 8
    text_features: int = 64
    missing: str = "indicator"
    outside: str = "nearest"
    encodings: Mapping[str, str] | None = None
    sparse_output: bool = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "missing": [StrOptions({"indicator", "ignore"})],
        "outside": [StrOptions({"nearest", "error"})],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "text_features": [Interval(Integral, 1, None, closed="left")],
        "encodings": [Mapping, None],
        "sparse_output": ["boolean"],
    }

    def check_codebook(self) -> None:
        """Refuse parameters, and a schema with facts that nobody confirmed."""
        self._encodings()

    def check_table(self, X: Any) -> None:
        """Refuse a table without the schema's columns, or with values that are refused."""
        encoder = clone(self).fit(X)
        if encoder.outside == "error":
            encoder.transform(X)
        warn_of_unread(X, self.schema)

    def fit(self, X: Any, y: Any = None) -> SchemaEncoder:
        """Check the schema and the names of the columns; the rows are not looked at.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table, or array of shape (n_rows, n_columns)
            Columns are found by name; those of an array are the schema's, in its order.
        y : None
            Ignored.
        """
        self._encodings()
        set_table_features(self, checked_table(X, self.schema))
        return self

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table, or array of shape (n_rows, n_columns)

        Returns
        -------
        ndarray or sparse matrix of shape (n_rows, n_features)
        """
        check_is_fitted(self, "n_features_in_")
        X = checked_table(X, self.schema)
        used = dict(self._encodings())
        blocks: list[Any] = []
        for position, column in enumerate(self.schema):
            if column.name not in used:
                continue
            encoded = used[column.name].encode(column_values(X, column.name, position))
            if self.outside == "error":
                _refuse(column, encoded.outside, "outside the schema")
                if column.required:
                    _refuse(column, encoded.missing, "missing, and the schema requires them")
            blocks.append(encoded.features)
            if self._has_indicator(column):
                blocks.append((encoded.missing & ~encoded.outside).astype(np.float64)[:, None])
        if self.sparse_output:
            # As sparse ones: SciPy takes arrays of equal shape for one of three axes.
            return sparse.hstack([sparse.csr_matrix(block) for block in blocks], format="csr")
        dense = [block.toarray() if sparse.issparse(block) else block for block in blocks]
        return np.concatenate(dense, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features: of the column, and of what each stands for."""
        names: list[str] = []
        for name, encoding in self._encodings():
            names += encoding.names
            if self._has_indicator(self.schema[name]):
                names.append(f"{name} missing")
        return np.array(names, dtype=object)

    def _has_indicator(self, column: Column) -> bool:
        return self.missing == "indicator" and not column.required

    def _encodings(self) -> list[tuple[str, Encoding]]:
        """Return the encoding of each used column; checks all parameters."""
        check_schema(self.schema)
        check_parameters(self)
        single = dict(self.encodings or {})
        unknown = sorted(single.keys() - set(self.schema.names))
        if unknown:
            raise ValueError(f"encodings: the schema has no column {unknown[0]!r}.")
        encodings = [
            (
                column.name,
                encoding_of(
                    column,
                    single.get(column.name, self._default(column)),
                    n_bins=self.n_bins,
                    text_features=self.text_features,
                ),
            )
            for column in self.schema
            if column.kind != "ignored"
        ]
        if not encodings:
            raise ValueError("The schema has no column to encode: all of them are ignored.")
        return encodings

    def _default(self, column: Column) -> str:
        if column.kind in ("number", "date"):
            return self.numbers
        if column.kind == "category":
            return self.ordered if column.ordered else self.categories
        if column.kind == "boolean":
            return "flag"
        return "vocabulary" if column.vocabulary else "hashing"


def _refuse(column: Column, where: NDArray[np.bool_], what: str) -> None:
    if where.any():
        raise ValueError(
            f"Column {column.name!r}: {int(where.sum())} of {where.size} values are {what}. "
            "Correct the schema or the rows, or use outside='nearest'."
        )
