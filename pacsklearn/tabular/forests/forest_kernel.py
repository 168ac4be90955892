"""Complete trees on some rows of a shared table, which are never copied; compiled.

Importing this module imports numba.
"""

from __future__ import annotations

import math

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled

_CLOSE = 1e-6
# Rows of the table that stay in the cache while every candidate reads its own.
_BLOCK = 256


@compiled()
def mean_spread(X, rows, edges, shares):
    """Mean and standard deviation of each candidate's columns, rows counted by their shares.

    ``rows`` of candidate ``i``, increasing, stand from ``edges[i]`` to ``edges[i + 1]``. Blocks of
    the table are read once for all candidates; each adds its own rows in their order.
    """
    m, (n, p) = edges.shape[0] - 1, X.shape
    mean, square = np.zeros((m, p)), np.zeros((m, p))
    for sums in (mean, square):
        at = edges[:-1].copy()
        for start in range(0, n, _BLOCK):
            for i in range(m):
                centre, total, k = mean[i], sums[i], at[i]
                while k < edges[i + 1] and rows[k] < start + _BLOCK:
                    row, share = X[rows[k]], shares[k]
                    if sums is mean:
                        for j in range(p):
                            total[j] += share * row[j]
                    else:
                        for j in range(p):
                            gap = row[j] - centre[j]
                            total[j] += share * (gap * gap)
                    k += 1
                at[i] = k
    return mean, np.sqrt(square)


@compiled()
def grid_cells(columns, rows, edges, centre, half_width, raw, slack, cells):
    """How many thresholds of the grid each number is above, and whether rounding decides of one.

    ``columns`` and ``cells`` hold a feature a row; ``centre``, ``half_width`` and ``slack`` have
    the shape (candidates, features), and ``raw`` each candidate's thresholds in their own units.
    Numbers within ``slack`` of a threshold, in steps of the grid, count as decided by rounding; a
    negative one is for thresholds that are known exactly.
    """
    m, size = edges.shape[0] - 1, raw.shape[2]
    half, doubtful = (size - 1) / 2, np.zeros(m, np.bool_)
    for i in range(m):
        for f in range(columns.shape[0]):
            column, own = columns[f], raw[i, f]
            factor, middle, near = half / half_width[i, f], centre[i, f], slack[i, f]
            for k in range(edges[i], edges[i + 1]):
                number = column[rows[k]]
                place = min(max((number - middle) * factor + half, -0.5), size - 0.5)
                cell = math.ceil(place)
                gap = cell - place
                if gap < _CLOSE or gap > 1 - _CLOSE:
                    doubtful[i] |= gap < near or gap > 1 - near
                    # Thresholds themselves are left of their cell, whatever was rounded.
                    while cell > 0 and own[cell - 1] >= number:
                        cell -= 1
                    while cell < size and own[cell] < number:
                        cell += 1
                cells[f, k] = cell
    return doubtful


@compiled()
def count_cells(cells, splits, node, edges, codes, values, counts):
    """Add each row's values to its node's and cell's, tree by tree.

    ``splits`` is each tree's row of ``cells``, ``node`` where its rows are; ``values``, a kind a
    row, are added from column ``codes`` on. ``counts`` has the shape (candidates, trees, nodes,
    cells, q).
    """
    m, _, _, width, q = counts.shape
    for i in range(m):
        for tree in range(splits.shape[0]):
            total, here, cell = counts[i, tree].reshape(-1), node[tree], cells[splits[tree]]
            for j in range(values.shape[0]):
                for k in range(edges[i], edges[i + 1]):
                    # Unsigned: a signed place is first asked whether it counts from the end.
                    total[np.uint32((here[k] * width + cell[k]) * q + codes[k] + j)] += values[j, k]


@compiled()
def descend_level(columns, rows, edges, splits, thresholds, slack, node, doubtful):
    """Send each row on to its child, and note of whom rounding decides.

    ``thresholds`` are those of the level, of shape (candidates, trees, nodes).
    """
    for i in range(doubtful.shape[0]):
        for tree in range(splits.shape[0]):
            column, near, here = columns[splits[tree]], slack[i, splits[tree]], node[tree]
            own, close = thresholds[i, tree], False
            for k in range(edges[i], edges[i + 1]):
                gap = column[rows[k]] - own[here[k]]
                close |= abs(gap) < near
                here[k] = 2 * here[k] + (1 if gap > 0 else 0)
            doubtful[i] |= close


@compiled()
def sum_leaves(leaves, edges, codes, values, sums):
    """Add each row's values to those of the leaves it reaches; (candidates, trees, leaves, q)."""
    q = sums.shape[3]
    for i in range(sums.shape[0]):
        for tree in range(leaves.shape[0]):
            total, here = sums[i, tree].reshape(-1), leaves[tree]
            for j in range(values.shape[0]):
                for k in range(edges[i], edges[i + 1]):
                    total[np.uint32(here[k] * q + codes[k] + j)] += values[j, k]


@compiled()
def mean_squares(columns, rows, edges, splits, thresholds, values):
    """Mean square, for each candidate, of its trees' average distance from equal probabilities.

    ``splits`` is the row of ``columns`` for each tree and level, ``values`` the leaves' class
    probabilities, of shape (candidates, trees, leaves, classes).
    """
    m, n_trees, n_leaves, n_classes = values.shape
    squares, node = np.empty(m), np.empty(_BLOCK, np.uint32)
    for i in range(m):
        total = 0.0
        for start in range(edges[i], edges[i + 1], _BLOCK):
            stop = min(start + _BLOCK, edges[i + 1])
            sums = np.full((stop - start, n_classes), -n_trees / n_classes)
            for tree in range(n_trees):
                node[:] = 0
                own = thresholds[i, tree]
                for level in range(splits.shape[1]):
                    column = columns[splits[tree, level]]
                    for k in range(stop - start):
                        above = column[rows[start + k]] > own[node[k]]
                        node[k] = 2 * node[k] + (2 if above else 1)
                for k in range(stop - start):
                    leaf = values[i, tree, node[k] - (n_leaves - 1)]
                    for j in range(n_classes):
                        sums[k, j] += leaf[j]
            for k in range(stop - start):
                for j in range(n_classes):
                    total += sums[k, j] * sums[k, j]
        squares[i] = total / (n_trees * n_trees * (edges[i + 1] - edges[i]) * n_classes)
    return squares
