"""Rows that may be the same person, and are units of their own; for the curator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from pacsklearn.universe.balanced_space import units_of

# Pairs that are listed at most.
_MOST_PAIRS = 100_000


@final
@dataclass(frozen=True, eq=False)
class NearDuplicates:
    """Pairs of nearly equal rows that no group joins.

    Parameters
    ----------
    pairs : ndarray of shape (n_pairs, 2)
        Numbers of rows; private.
    n_rows : int
    tolerance : float
    """

    pairs: NDArray[np.intp] = field(repr=False)
    n_rows: int
    tolerance: float

    @property
    def n_affected(self) -> int:
        """Rows that have a near duplicate."""
        return int(np.unique(self.pairs).size)

    def __str__(self) -> str:
        if not len(self.pairs):
            return "No two rows of different units are nearly equal."
        return (
            f"FOR THE CURATOR: {self.n_affected:,} of {self.n_rows:,} rows are nearly equal to a "
            f"row of another unit ({len(self.pairs):,} pairs within {self.tolerance:g} standard "
            "deviations). If such rows are one person, the promise, which is about one unit, does "
            "not cover that person: give groups= that join them. Rows of few distinct values can "
            "be equal by chance."
        )


def near_duplicates(X: Any, groups: Any = None, *, tolerance: float = 1e-3) -> NearDuplicates:
    """Look for rows that ``groups`` does not join and that differ by next to nothing.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Numbers are compared in standard deviations of their column; of anything else equal values
        only are near.
    groups : array-like of shape (n_rows,), optional
        Unit of privacy, as given to ``fit``.
    tolerance : float, default=1e-3
        Largest difference in any column.

    Returns
    -------
    NearDuplicates
        For the curator; it prints without quoting a row.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 2.0], [5.0, 3.0], [1.0, 2.0]])
    >>> len(near_duplicates(rows).pairs), len(near_duplicates(rows, groups=[0, 1, 0]).pairs)
    (1, 0)
    """
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be a number from 0 on, got {tolerance!r}.")
    table = _scaled(X)
    named, n_units = units_of(groups, len(table))
    units = np.arange(n_units) if named is None else named
    search = NearestNeighbors(radius=tolerance, metric="chebyshev").fit(table)
    near_pairs: list[NDArray[np.intp]] = []
    for start in range(0, len(table), 1024):
        near = search.radius_neighbors(table[start : start + 1024], return_distance=False)
        first = np.repeat(np.arange(start, start + len(near)), [len(each) for each in near])
        second = np.concatenate(near).astype(np.intp)
        kept = (first < second) & (units[first] != units[second])
        near_pairs.append(np.column_stack([first[kept], second[kept]]))
        if sum(map(len, near_pairs)) >= _MOST_PAIRS:
            break
    pairs = np.concatenate(near_pairs)[:_MOST_PAIRS]
    return NearDuplicates(pairs, len(table), float(tolerance))


def _scaled(X: Any) -> NDArray[np.float64]:
    """Return the columns in standard deviations; other values as codes that are far apart."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    columns = [X.iloc[:, i] for i in range(X.shape[1])] if hasattr(X, "iloc") else np.asarray(X).T
    scaled = []
    for column in columns:
        try:
            numbers = np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            codes = np.unique(np.asarray(column, dtype=str), return_inverse=True)[1]
            scaled.append(codes.astype(np.float64).ravel())
            continue
        # A missing number is equal to a missing number.
        spread = float(np.nanstd(numbers)) or 1.0
        scaled.append(np.nan_to_num((numbers - np.nanmean(numbers)) / spread, nan=-1e6))
    return np.column_stack(scaled)
