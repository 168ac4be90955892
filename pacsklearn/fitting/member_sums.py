"""Sums over the rows of every candidate subset at once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacsklearn.core.memberships import Memberships
from pacsklearn.information.arrays import Floats

__all__ = ["block_members", "member_products", "member_sums"]

_BUCKETS = 256
_TOGETHER = (1, 2, 4, 8)
# Rows of a bucket for each column, below which a product is too small for BLAS.
_FILL = 1
_MOST_CELLS = 2**23


def member_sums(
    table: Floats, space: Memberships, codes: NDArray[Any] | None = None, n_codes: int = 1
) -> Floats:
    """Sum of the members' rows, for each class of them.

    Parameters
    ----------
    table : ndarray of shape (n_rows, q)
        Finite, so that a bucket of weight zero leaves a sum as it is.
    space : Memberships
    codes : ndarray of int, shape (n_rows,), optional
        Class of each row, from 0 to ``n_codes - 1``.

    Returns
    -------
    ndarray of shape (m, q), or (m, n_codes, q) with ``codes``

    Notes
    -----
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
    totals = totals[: space.n_subsets]
    return totals[:, 0] if codes is None else totals


def member_products(table: Floats, space: Memberships) -> Floats:
    """Sum of the outer products of the members' rows, ``table[S].T @ table[S]``.

    Parameters
    ----------
    table : ndarray of shape (n_rows, q)
    space : Memberships

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
    n, width = table.shape
    # Columns of zeros up to a multiple of four, for which BLAS has its fastest kernels.
    table = np.pad(table, ((0, 0), (0, -width % 4)))
    q = table.shape[1]
    room = np.log2(max(min(n / (_FILL * q), _MOST_CELLS / q**2), 2.0))
    together = max(size for size in _TOGETHER if size <= max(room, 1))
    packed = space.packed if space.unit_of_row is None else space.packed[space.unit_of_row]
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


def block_members(space: Memberships, rows: Any) -> NDArray[np.bool_]:
    """Whether each of the rows is in each of the candidates; shape (n, m)."""
    return space.membership(rows if space.unit_of_row is None else space.unit_of_row[rows])
