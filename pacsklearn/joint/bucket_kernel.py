"""Sums over buckets of rows: those that the same ones of a few subsets hold."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dgemm

from pacsklearn.kernel.bounds.compiled import compiled

# Rows multiplied at once: they and their products stay in the cache.
_ROWS = 256


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
    own, part = np.empty((_ROWS, q)), np.empty((q, q))
    # One loop over all numbers: numba's own sums of tables take twice as long.
    flat, flat_totals = part.reshape(-1), totals.reshape(totals.shape[0], -1)
    for b in range(1, n_buckets):
        for first in range(starts[b], starts[b + 1], _ROWS):
            some = min(_ROWS, starts[b + 1] - first)
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
        for first in range(edges[b - 1], edges[b], _ROWS):
            # The very product that compiled loops ask SciPy's BLAS for.
            own = table[rows[order[first : min(first + _ROWS, edges[b])]]].T
            part = dgemm(1.0, own, own, trans_b=True).T
            for subset in held:
                totals[subset] += part
