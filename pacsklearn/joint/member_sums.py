"""Sums over the rows of every candidate subset at once.

A handful of subsets cut the rows into buckets, one for each combination of them. Every row is added
to one bucket, and buckets to the subsets that hold them: with g subsets together this costs 2/g of
sums taken subset by subset. A row is in no sum of a subset that does not hold it, and where it
stands in a sum, and so how sums are rounded, follows from the public design and from its own class:
rows of others leave no trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.blas import dgemm

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.compiled import compiled

# Rows multiplied at once: they and their products stay in the cache.
_CACHED = 256


@compiled(worth=2**23)
def add_rows(table, rows, buckets, sums):
    """Add each of the rows to the sum of its bucket, and its squares where there is room for them.

    Rows of bucket 0 are in none of the subsets.
    """
    q = table.shape[1]
    squares = sums.shape[1] > q
    for i in range(rows.shape[0]):
        bucket = buckets[i]
        if bucket == 0:
            continue
        row, own = table[rows[i]], sums[bucket]
        for j in range(q):
            own[j] += row[j]
        if squares:
            for j in range(q):
                own[q + j] += row[j] * row[j]


@add_rows.in_numpy
def _add_rows_in_numpy(table, rows, buckets, sums):
    own, q = table[rows], table.shape[1]
    for start, numbers in [(0, own), (q, own * own)][: sums.shape[1] // q]:
        for j in range(q):  # one after the other, as the loop does
            sums[1:, start + j] += np.bincount(buckets, numbers[:, j], len(sums))[1:]


@compiled(worth=2**25)
def add_products(table, rows, buckets, together, totals):
    """Add the products of the rows of each bucket to those of the subsets that hold it.

    A bucket's number has ``together`` bits, one for each of the subsets, the first one highest.
    """
    q, n_buckets = table.shape[1], 1 << together
    starts, order = np.zeros(n_buckets + 1, dtype=np.int64), np.empty_like(rows)
    for i in range(rows.shape[0]):
        starts[buckets[i] + 1] += 1
    starts = np.cumsum(starts)
    place = starts.copy()
    for i in range(rows.shape[0]):
        order[place[buckets[i]]] = rows[i]
        place[buckets[i]] += 1
    own, part = np.empty((_CACHED, q)), np.empty((q, q))
    # One loop over all numbers: numba's own sums of tables take twice as long.
    flat, flat_totals = part.reshape(-1), totals.reshape(totals.shape[0], -1)
    for b in range(1, n_buckets):
        for first in range(starts[b], starts[b + 1], _CACHED):
            some = min(_CACHED, starts[b + 1] - first)
            for k in range(some):
                row = order[first + k]
                for j in range(q):
                    own[k, j] = table[row, j]
            np.dot(own[:some].T, own[:some], part)
            for subset in range(totals.shape[0]):
                if b >> (together - 1 - subset) & 1:
                    total = flat_totals[subset]
                    for k in range(total.shape[0]):
                        total[k] += flat[k]


@add_products.in_numpy
def _add_products_in_numpy(table, rows, buckets, together, totals):
    order = np.argsort(buckets, kind="stable")
    edges = np.searchsorted(buckets[order], np.arange(1 << together), side="right")
    for b in range(1, 1 << together):
        held = [i for i in range(len(totals)) if b >> (together - 1 - i) & 1]
        for first in range(edges[b - 1], edges[b], _CACHED):
            # The very product that compiled loops ask SciPy's BLAS for.
            own = table[rows[order[first : min(first + _CACHED, edges[b])]]].T
            part = dgemm(1.0, own, own, trans_b=True).T
            for subset in held:
                totals[subset] += part


# Rows that are read again and again while they are near.
_ROWS = 2**16
# BLAS has its fastest kernels for a multiple of so many columns.
_LANES = 4
_TOGETHER = (1, 2, 4, 8)
# Rows of a bucket for each column, below which a product is too small for BLAS.
_FILL = 1


class Memberships(Protocol):
    """Bits of some rows: a whole :class:`~pacsklearn.secrets.SecretSpace`, or those of one batch.

    Attributes
    ----------
    packed : ndarray of uint8, shape (n_units, ceil(m / 8))
    n_subsets : int
    unit_of_row : ndarray of shape (n_rows,) or None
    """

    @property
    def packed(self) -> NDArray[np.uint8]: ...

    @property
    def n_subsets(self) -> int: ...

    @property
    def unit_of_row(self) -> NDArray[np.int64] | None: ...

    def rows(self, index: int) -> NDArray[np.int64]:
        """Return the row indices of candidate ``index``, increasing."""
        ...

    def membership(self, units: Any = ...) -> NDArray[np.bool_]:
        """Return which candidates hold each of the units; shape (n_chosen_units, m)."""
        ...


def member_sums(
    table: Floats,
    space: Memberships,
    codes: NDArray[Any] | None = None,
    n_codes: int = 1,
    *,
    squares: bool = False,
) -> Floats:
    """Return the sum of the members' rows, for each class of them.

    Parameters
    ----------
    table : ndarray of shape (n_rows, q)
        Finite, so that a row of weight zero leaves a sum as it is.
    space : Memberships
    codes : ndarray of int, shape (n_rows,), optional
        Class of each row, from 0 to ``n_codes - 1``.
    squares : bool, default=False
        Whether squares of the columns are summed too, after them.

    Returns
    -------
    ndarray of shape (m, q), or (m, n_codes, q) with ``codes``; 2 q with ``squares``
    """
    table, (n, q) = np.ascontiguousarray(table), table.shape
    shape = (n_codes, (2 if squares else 1) * q)
    totals = np.zeros((space.n_subsets, *shape))
    for first in range(0, n, _ROWS):
        rows = np.arange(first, min(first + _ROWS, n))
        shift = 0 if codes is None else codes[rows].astype(np.int32) << 8
        for start, combination, holds in _combinations(space, rows, 8):
            sums = np.zeros((n_codes * 256, shape[1]))
            add_rows(table, rows, combination + shift, sums)
            summed = np.matmul(holds, sums.reshape(n_codes, 256, -1))
            totals[start : start + 8] += summed.transpose(1, 0, 2)
    return totals[:, 0] if codes is None else totals


def member_products(
    table: Floats, space: Memberships, chosen: NDArray[np.intp] | None = None
) -> Floats:
    """Return the sum of the outer products of the members' rows, ``table[S].T @ table[S]``.

    Parameters
    ----------
    table : ndarray of shape (n_rows, q)
    space : Memberships
    chosen : ndarray of int, optional
        Which rows are summed, increasing; all when not given.

    Returns
    -------
    ndarray of shape (m, q, q)
    """
    table, (n, q) = np.ascontiguousarray(table), table.shape
    # Of all rows, chosen or not: how sums are rounded may not depend on how many are chosen.
    room = np.log2(max(min(n, _ROWS) / (_FILL * q), 2.0))
    together = max(size for size in _TOGETHER if size <= max(room, 1))
    totals = np.zeros((space.n_subsets, q, q))
    for first in range(0, n, _ROWS):
        rows = np.arange(first, min(first + _ROWS, n))
        if chosen is not None:
            rows = chosen[slice(*np.searchsorted(chosen, [first, first + _ROWS]))]
        for start, combination, _ in _combinations(space, rows, together):
            add_products(table, rows, combination, together, totals[start : start + together])
    return totals


def _combinations(
    space: Memberships, rows: NDArray[np.intp], together: int
) -> Iterator[tuple[int, NDArray[np.uint8], Floats]]:
    """Yield each group of ``together`` subsets: the first, and which hold each row, as bits.

    With them, which numbers stand for each; shape (together, 2**together), fewer in the end.
    """
    packed = space.packed[rows if space.unit_of_row is None else space.unit_of_row[rows]]
    numbers = np.arange(2**together, dtype=np.uint8)[:, None]
    holds = np.unpackbits(numbers, axis=1)[:, 8 - together :].T.astype(np.float64)
    for start in range(0, space.n_subsets, together):
        shift = np.uint8(8 - start % 8 - together)
        combination = (packed[:, start // 8] >> shift) & np.uint8(2**together - 1)
        yield start, combination, holds[: space.n_subsets - start]


def padded_columns(*parts: Floats) -> Floats:
    """Return columns of all parts beside each other, and zeros up to a width that BLAS likes."""
    width = sum(part.shape[1] for part in parts)
    table = np.zeros((len(parts[0]), width + -width % _LANES))
    start = 0
    for part in parts:
        table[:, start : start + part.shape[1]] = part
        start += part.shape[1]
    return table


def block_members(space: Memberships, rows: Any) -> NDArray[np.bool_]:
    """Return whether each of the rows is in each of the candidates; shape (n, m)."""
    return space.membership(rows if space.unit_of_row is None else space.unit_of_row[rows])


def double_rows(X: Any) -> Floats | None:
    """Return the rows as doubles.

    None where the ordinary fit would use another precision, or sparse rows.
    """
    kinds = list(getattr(X, "dtypes", [getattr(X, "dtype", None)]))
    if sparse.issparse(X) or any(getattr(kind, "kind", "O") not in "iuf" for kind in kinds):
        return None
    if any(kind.kind == "f" and kind.itemsize != np.dtype(np.float64).itemsize for kind in kinds):
        return None
    return np.asarray(X, dtype=np.float64)
