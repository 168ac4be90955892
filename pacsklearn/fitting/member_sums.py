"""Sums over the rows of every candidate subset at once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.secret_space import SecretSpace

__all__ = ["member_products", "member_sums"]

Floats = NDArray[np.float64]

_ROWS = 4096
_MOST_TOGETHER = 8
# Rows of a bucket for each column, below which a product is too small for BLAS.
_FILL = 4


def member_sums(table: Floats, space: SecretSpace, weight: Floats | None = None) -> Floats:
    """Sum of the members' rows, by one product with the membership matrix.

    Parameters
    ----------
    table : ndarray of shape (n_rows, q)
        Finite, so that rows of weight zero leave a sum as it is.
    space : SecretSpace
    weight : ndarray of shape (n_rows, 1), optional

    Returns
    -------
    ndarray of shape (m, q)
    """
    found = np.zeros((space.n_subsets, table.shape[1]))
    for start in range(0, len(table), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(table)))
        members = _members(space, rows).astype(np.float64)
        if weight is not None:
            members *= weight[rows]
        found += members.T @ table[rows]
    return found


def member_products(table: Floats, space: SecretSpace) -> Floats:
    """Sum of the outer products of the members' rows, ``table[S].T @ table[S]``.

    Parameters
    ----------
    table : ndarray of shape (n_rows, q)
    space : SecretSpace

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
    n, q = table.shape
    together = int(np.clip(np.log2(max(n / (_FILL * q), 2.0)), 1, _MOST_TOGETHER))
    members = np.concatenate(
        [_members(space, np.arange(i, min(i + _ROWS, n))) for i in range(0, n, _ROWS)]
    )
    found = np.empty((space.n_subsets, q, q))
    for start in range(0, space.n_subsets, together):
        held = members[:, start : start + together]
        powers = 1 << np.arange(held.shape[1])
        combination = (held @ powers).astype(np.uint8)  # which is sorted by counting
        order = np.argsort(combination, kind="stable")
        sorted_rows, names = table[order], combination[order]
        edges = np.flatnonzero(np.diff(names.astype(np.int16), prepend=-1, append=-1))
        present = names[edges[:-1]]
        buckets = np.empty((present.size, q, q))
        for i, (first, last) in enumerate(pairwise(edges)):
            bucket = sorted_rows[first:last]
            np.matmul(bucket.T, bucket, out=buckets[i])
        holds = ((present[None, :].astype(np.int64) & powers[:, None]) > 0).astype(np.float64)
        found[start : start + together] = np.tensordot(holds, buckets, axes=1)
    return found


def _members(space: SecretSpace, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each of the rows is in each of the candidates; shape (n, m)."""
    return space.membership(rows if space.unit_of_row is None else space.unit_of_row[rows])
