"""Rows made up from a public codebook, for private answers where no public rows exist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer, is_word
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.schema.tables import check_schema
from pacsklearn.tabular.schema.values import column_values
from pacsklearn.universe.frame import column_names


@final
@dataclass(frozen=True, eq=False)
class SchemaQueries:
    """Rows drawn column by column, independently, from public or privately released marginals.

    Parameters
    ----------
    schema : Schema
        Public. Columns of text cannot be made up; ignored columns are left empty.
    marginals : None, "private" or mapping of str to array-like, default=None
        None draws uniformly from the public ranges and categories. A mapping gives *public* shares
        by column name, one for each bin or category: of a census, say. ``"private"`` has the
        marginals of the secret rows released in the same session, for ``share`` of its budget.
    n_queries : int, default=5000
    share : float, default=0.25
        Part of the budget that private marginals may use.
    n_bins : int, default=16
        Bins of equal width that numbers and dates are drawn from, unless the schema has edges.
    seed : int, default=0
        Public seed of the draws.

    Examples
    --------
    >>> from pacsklearn.tabular import Column, Schema, SchemaQueries
    >>> schema = Schema([Column("age", low=0, high=100), Column("ward", "category",
    ...     categories=("north", "south"))])
    >>> queries = SchemaQueries(schema, {"ward": [1, 3]}, n_queries=4)
    >>> queries.rows().shape
    (4, 2)
    """

    schema: Schema
    marginals: Any = None
    n_queries: int = 5000
    share: float = 0.25
    n_bins: int = 16
    seed: int = 0

    def __post_init__(self) -> None:
        check_schema(self.schema)
        check_integer(name="n_queries", value=self.n_queries, minimum=1)
        check_integer(name="n_bins", value=self.n_bins, minimum=1)
        if not 0 < self.share < 1:
            raise ValueError(f"share must be strictly between 0 and 1, got {self.share!r}.")
        texts = [column.name for column in self.schema if column.kind == "text"]
        if texts:
            raise ValueError(
                f"Columns of text cannot be made up: {', '.join(texts)}. Give public rows as "
                "queries, or leave the columns out (schema.drop, for the model too)."
            )
        if self.is_private or self.marginals is None:
            return
        if not isinstance(self.marginals, Mapping):
            raise ValueError(
                "marginals must be None, 'private' or a mapping of column names to public shares, "
                f"got {self.marginals!r}."
            )
        for name, shares in self.marginals.items():
            size = self.schema[name].n_cells(self.n_bins)
            given = np.asarray(shares, dtype=np.float64)
            if given.shape != (size,) or not np.all(given >= 0) or not 0 < given.sum() < np.inf:
                raise ValueError(
                    f"marginals of column {name!r} must be {size} shares >= 0, one for each bin "
                    f"or category, got an array of shape {given.shape}."
                )

    @property
    def is_private(self) -> bool:
        """Whether the marginals are to be released first."""
        return is_word(self.marginals, "private")

    def measured(self, X: Any, y: Any = None) -> Floats:
        """Measure shares of the cells of all columns among some rows, for a private release.

        Parameters
        ----------
        X : array or table of shape (n, n_columns)
        y : ignored

        Returns
        -------
        ndarray of shape (n_cells,)
        """
        parts = []
        for position, column in enumerate(self.schema):
            if column.kind == "ignored":
                continue
            cells = column.cells(column_values(X, column.name, position), self.n_bins)
            counts = np.bincount(cells[cells >= 0], minlength=column.n_cells(self.n_bins))
            parts.append(counts / max(int(counts.sum()), 1))
        return np.concatenate(parts)

    def rows(self, released: Floats | None = None, like: Any = None) -> Any:
        """Make up rows.

        Parameters
        ----------
        released : ndarray of shape (n_cells,), optional
            Noisy marginals, in the order of :meth:`measured`.
        like : array or DataFrame, optional
            Container and types to give the rows: names, or none; whole numbers where those are.
        """
        generator = np.random.default_rng(self.seed)
        columns: dict[str, Any] = {}
        start = 0
        for column in self.schema:
            if column.kind == "ignored":
                columns[column.name] = np.full(self.n_queries, np.nan)
                continue
            size = column.n_cells(self.n_bins)
            shares = np.ones(size)
            if released is not None:
                # Noisy shares may all be negative: nothing is known then, and all are equal.
                shares = np.maximum(released[start : start + size], 0.0)
                shares = shares if shares.sum() > 0 else np.ones(size)
            elif not self.is_private and self.marginals is not None:
                shares = np.asarray(self.marginals.get(column.name, shares), dtype=np.float64)
            start += size
            cells = generator.choice(size, self.n_queries, p=shares / shares.sum())
            columns[column.name] = self._drawn(column, cells, generator)
        return _contained(columns, like)

    def _drawn(self, column: Column, cells: NDArray[Any], generator: np.random.Generator) -> Any:
        if column.categories:
            kept = np.empty(len(column.categories), dtype=object)
            kept[:] = column.categories
            return kept[cells]
        low, high = column.bounds
        ends = np.concatenate([[low], np.clip(column.cuts(self.n_bins), low, high), [high]])
        numbers = generator.uniform(ends[cells], ends[cells + 1])
        if column.kind == "date":
            return np.datetime64(0, "s") + (86400 * numbers).astype("timedelta64[s]")
        return numbers


def _contained(columns: dict[str, Any], like: Any) -> Any:
    """Return the columns as an array or a DataFrame, with the types of ``like``."""
    if like is None or column_names(like) is not None:
        import pandas as pd

        table = pd.DataFrame(columns)
        for name in () if like is None else table.columns.intersection(like.columns):
            table[name] = _typed(table[name], like[name].dtype)
        return table if like is None else table.reindex(columns=list(like.columns))
    values = np.column_stack([np.asarray(values, dtype=object) for values in columns.values()])
    if like.dtype.kind not in "fiub":
        return values
    numbers = values.astype(np.float64)
    return np.rint(numbers) if like.dtype.kind in "iu" else numbers


def _typed(column: Any, dtype: Any) -> Any:
    if column.isna().all() or getattr(dtype, "tz", None):  # is not used, or has a clock of its own
        return column
    if getattr(dtype, "kind", "O") in "iu" and column.dtype.kind == "f":
        return column.round().astype(dtype)
    if hasattr(dtype, "categories") or column.dtype.kind == getattr(dtype, "kind", "O"):
        return column.astype(dtype)
    return column
