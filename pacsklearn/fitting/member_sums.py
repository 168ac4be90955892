"""Sums over the rows of every candidate subset at once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacsklearn.core.memberships import Memberships
from pacsklearn.information.arrays import Floats

__all__ = ["block_members", "member_products", "member_sums", "padded_columns"]

_BUCKETS = 256
# Rows whose memberships fit the cache; classes that are multiplied rather than sorted into buckets.
_ROWS = 1024
_FEW_CODES = 4
# BLAS has its fastest kernels for a multiple of so many columns.
_LANES = 4
_TOGETHER = (1, 2, 4, 8)
# Rows of a bucket for each column, below which a product is too small for BLAS.
_FILL = 1
_MOST_CELLS = 2**23


def member_sums(
    table: Floats,
    space: Memberships,
    codes: NDArray[Any] | None = None,
    n_codes: int = 1,
    *,
    squares: bool = False,
) -> Floats:
    """Sum of the members' rows, for each class of them.

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

    Notes
    -----
    Of a few classes, one product of the memberships with the table, block by block. A row of
    another class has a zero for each column: where a row stands in a product, and so in what order
    sums are rounded, may not depend on rows of others.
    """
    (n, q), m = table.shape, space.n_subsets
    width = 2 * q if squares else q
    totals = np.zeros((m, n_codes, width))
    if n_codes > _FEW_CODES:
        both = np.concatenate([table, table**2], axis=1) if squares else table
        return _bucket_sums(both, space, codes, n_codes)
    block = np.empty((_ROWS, n_codes, width))
    for start in range(0, n, _ROWS):
        rows = slice(start, min(start + _ROWS, n))
        part = block[: rows.stop - start]
        part[:, 0, :q] = table[rows]
        if squares:
            np.square(part[:, 0, :q], out=part[:, 0, q:])
        if codes is not None:
            own = codes[rows]
            for code in range(1, n_codes):
                np.multiply(part[:, 0], (own == code)[:, None], out=part[:, code])
            part[:, 0] *= (own == 0)[:, None]
        members = block_members(space, rows).astype(np.float64)
        totals += (members.T @ part.reshape(len(part), -1)).reshape(totals.shape)
    return totals[:, 0] if codes is None else totals


def _bucket_sums(
    table: Floats, space: Memberships, codes: NDArray[Any] | None, n_codes: int
) -> Floats:
    """The same for many classes.

    Eight subsets cut the rows into 256 buckets, one for each combination of them. Every row is
    added to one bucket, and buckets to the subsets that hold them: one addition a row and eight
    subsets, instead of eight. A row is in no sum of a subset that does not hold it.
    """
    n, q = table.shape
    packed = space.packed if space.unit_of_row is None else space.packed[space.unit_of_row]
    shift = 0 if codes is None else _BUCKETS * codes.astype(np.int32)
    ends, ones = np.arange(n + 1, dtype=np.int32), np.ones(n)
    holds = np.unpackbits(np.arange(_BUCKETS, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
    totals = np.empty((packed.shape[1] * 8, n_codes, q))
    for byte in range(packed.shape[1]):
        bucket = packed[:, byte].astype(np.int32) + shift
        indicator = sparse.csc_array((ones, bucket, ends), shape=(_BUCKETS * n_codes, n))
        sums = (indicator @ table).reshape(n_codes, _BUCKETS, q)
        sums[:, 0] = 0.0  # rows of none of them
        totals[8 * byte : 8 * byte + 8] = np.tensordot(holds.T, sums, axes=(1, 1))
    return totals[: space.n_subsets]


def member_products(
    table: Floats, space: Memberships, chosen: NDArray[np.intp] | None = None
) -> Floats:
    """Sum of the outer products of the members' rows, ``table[S].T @ table[S]``.

    Parameters
    ----------
    table : ndarray of shape (n_rows, q)
    space : Memberships
    chosen : ndarray of int, shape (n_rows,), optional
        Which rows of the space these are; all when not given.

    Returns
    -------
    ndarray of shape (m, q, q)

    Notes
    -----
    A handful of subsets cut the rows into buckets, one for each combination of them. Products are
    taken once a bucket, and added up for each subset that holds it: with g subsets together this
    costs 2/g of the products taken subset by subset. Which buckets there are is a matter of the
    public design.
    """
    packed = space.packed if space.unit_of_row is None else space.packed[space.unit_of_row]
    # Of all rows, chosen or not: how sums are rounded may not depend on how many are chosen.
    n, width = len(packed), table.shape[1]
    if width % _LANES:
        table = np.pad(table, ((0, 0), (0, -width % _LANES)))
    q = table.shape[1]
    room = np.log2(max(min(n / (_FILL * q), _MOST_CELLS / q**2), 2.0))
    together = max(size for size in _TOGETHER if size <= max(room, 1))
    if chosen is not None:
        packed = packed[chosen]
    products, sorted_rows = np.zeros((packed.shape[1] * 8, q, q)), np.empty_like(table)
    buckets = np.empty((2**together, q, q))
    powers = 1 << np.arange(together)[::-1]
    for start in range(0, space.n_subsets, together):
        byte, shift = packed[:, start // 8], 8 - start % 8 - together
        combination = (byte >> np.uint8(shift)) & np.uint8(2**together - 1)
        order = np.argsort(combination, kind="stable")  # a counting sort, for bytes
        np.take(table, order, axis=0, out=sorted_rows, mode="clip")
        edges = np.searchsorted(combination[order], np.arange(2**together + 1))
        buckets[0] = 0.0  # rows of none of them
        for i, (first, last) in enumerate(pairwise(edges[1:]), start=1):
            bucket = sorted_rows[first:last]
            np.matmul(bucket.T, bucket, out=buckets[i])
        holds = ((np.arange(2**together) & powers[:, None]) > 0).astype(np.float64)
        products[start : start + together] = np.tensordot(holds, buckets, axes=1)
    return products[: space.n_subsets, :width, :width]


def padded_columns(*parts: Floats) -> Floats:
    """Columns of all parts beside each other, and zeros up to a width that BLAS likes."""
    width = sum(part.shape[1] for part in parts)
    table = np.zeros((len(parts[0]), width + -width % _LANES))
    start = 0
    for part in parts:
        table[:, start : start + part.shape[1]] = part
        start += part.shape[1]
    return table


def block_members(space: Memberships, rows: Any) -> NDArray[np.bool_]:
    """Whether each of the rows is in each of the candidates; shape (n, m)."""
    return space.membership(rows if space.unit_of_row is None else space.unit_of_row[rows])
