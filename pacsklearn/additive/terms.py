"""Terms of an additive model: public levels of one column, or of a pair of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacsklearn.schema.column import Column
from pacsklearn.schema.values import as_codes, as_days, as_numbers

Codes = NDArray[np.intp]


@final
@dataclass(frozen=True)
class Term:
    """Levels of a column, of which every row has exactly one.

    Parameters
    ----------
    columns : tuple of Column
        One, or two for a pair.
    n_bins : int
        Bins of a number without edges of its own.
    """

    columns: tuple[Column, ...]
    n_bins: int

    @property
    def name(self) -> str:
        """Name of the column, or of both."""
        return " x ".join(column.name for column in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels of each column; the last one of a column stands for missing values."""
        return tuple(_n_values(column, self.n_bins) + 1 for column in self.columns)

    @property
    def n_levels(self) -> int:
        """Levels of the term."""
        return int(np.prod(self.sizes))

    @property
    def n_ordered(self) -> int:
        """How many levels, from the first on, have an order; 0 where none have."""
        (column, *others) = self.columns
        ordered = column.kind in ("number", "date") or column.ordered
        return self.sizes[0] - 1 if ordered and not others else 0

    @property
    def labels(self) -> list[str]:
        """Name of each level."""
        parts = [_labels(column, self.n_bins) for column in self.columns]
        labels = parts[0]
        for part in parts[1:]:
            labels = [f"{left}, {right}" for left in labels for right in part]
        return labels

    def codes(self, columns: Sequence[Any]) -> Codes:
        """Level of each row, from the values of the term's columns."""
        indices = [
            _codes(column, self.n_bins, values)
            for column, values in zip(self.columns, columns, strict=True)
        ]
        return np.asarray(np.ravel_multi_index(indices, self.sizes), dtype=np.intp)


def terms_of(
    columns: Iterable[Column], pairs: Iterable[Any], n_bins: int, n_pair_bins: int
) -> tuple[Term, ...]:
    """A term for each column that is used, then one for each pair."""
    used = {column.name: column for column in columns if column.kind not in ("ignored", "text")}
    singles = [Term((column,), n_bins) for column in used.values()]
    crossed = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or len(set(pair)) != 2 or not {*pair} <= {*used}:
            raise ValueError(
                f"pairs must hold pairs of two columns that the model uses, got {pair!r}; it uses "
                f"{', '.join(used)}."
            )
        crossed.append(Term(tuple(used[name] for name in pair), n_pair_bins))
    if not singles:
        raise ValueError("There is no column to use: text and ignored columns have no levels.")
    return (*singles, *crossed)


def design_of(codes: Sequence[Codes], sizes: Sequence[int]) -> sparse.csr_matrix:
    """Ones where a row has a level, with a first column of ones; (n_rows, 1 + levels)."""
    n_rows, starts = codes[0].size, 1 + np.concatenate([[0], np.cumsum(sizes)[:-1]])
    columns = np.empty((n_rows, len(codes) + 1), dtype=np.int32)
    columns[:, 0] = 0
    for place, (code, start) in enumerate(zip(codes, starts, strict=True), start=1):
        columns[:, place] = code + start
    ends = np.arange(0, columns.size + 1, columns.shape[1], dtype=np.int32)
    shape = (n_rows, 1 + int(sum(sizes)))
    return sparse.csr_matrix((np.ones(columns.size), columns.ravel(), ends), shape=shape)


def _n_values(column: Column, n_bins: int) -> int:
    if column.kind in ("number", "date"):
        return column.cuts(n_bins).size + 1
    return len(column.categories)


def _labels(column: Column, n_bins: int) -> list[str]:
    if column.kind in ("number", "date"):
        inner = [f"{cut:g}" for cut in column.cuts(n_bins)]
        ends = zip(["..", *inner], [*inner, ".."], strict=True)
        return [*(f"[{low},{high})" for low, high in ends), "missing"]
    return [*map(str, column.categories), "other or missing"]


def _codes(column: Column, n_bins: int, values: Any) -> Codes:
    count = _n_values(column, n_bins)
    if column.kind not in ("number", "date"):
        codes = as_codes(values, column.categories, column.missing)
        # One level for both: which of them a cell is would need a level of its own, and noise.
        return np.where(codes < 0, count, codes)
    read = as_days if column.kind == "date" else as_numbers
    numbers, _ = read(values, column.missing)
    bins = np.searchsorted(column.cuts(n_bins), numbers, side="right")
    return np.where(np.isnan(numbers), count, bins)
