"""Complete trees on some rows of a shared table, which are never copied."""

from __future__ import annotations

import math

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled, summed

_CLOSE = 1e-6
# Rows of the table that stay in the cache while every candidate reads its own.
_BLOCK = 256


@compiled(worth=2**23)
def mean_spread(X, rows, edges, shares):
    """Return mean and standard deviation of each candidate's columns, rows counted by their shares.

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


@mean_spread.in_numpy
def _mean_spread_in_numpy(X, rows, edges, shares):
    mean, square = np.zeros((2, edges.size - 1, X.shape[1]))
    for i in range(edges.size - 1):
        part = slice(edges[i], edges[i + 1])
        own, share = X[rows[part]].T, shares[part]
        mean[i] = summed(share * own)
        square[i] = summed(share * np.square(own - mean[i][:, None]))
    return mean, np.sqrt(square)


@compiled(worth=2**23)
def grid_cells(columns, rows, edges, centre, half_width, raw, cells):
    """Count the grid's thresholds below each number.

    ``columns`` and ``cells`` hold a feature a row; ``centre`` and ``half_width`` have the shape
    (candidates, features), and ``raw`` each candidate's thresholds in their own units.
    """
    m, size = edges.shape[0] - 1, raw.shape[2]
    half = (size - 1) / 2
    for i in range(m):
        for f in range(columns.shape[0]):
            column, own = columns[f], raw[i, f]
            factor, middle = half / half_width[i, f], centre[i, f]
            for k in range(edges[i], edges[i + 1]):
                number = column[rows[k]]
                place = min(max((number - middle) * factor + half, -0.5), size - 0.5)
                cell = math.ceil(place)
                gap = cell - place
                if gap < _CLOSE or gap > 1 - _CLOSE:
                    # Thresholds themselves are left of their cell, whatever was rounded.
                    while cell > 0 and own[cell - 1] >= number:
                        cell -= 1
                    while cell < size and own[cell] < number:
                        cell += 1
                cells[f, k] = cell


@grid_cells.in_numpy
def _grid_cells_in_numpy(columns, rows, edges, centre, half_width, raw, cells):
    half = (raw.shape[2] - 1) / 2
    for i in range(edges.size - 1):
        part = slice(edges[i], edges[i + 1])
        for f in range(len(columns)):
            numbers = columns[f, rows[part]]
            places = (numbers - centre[i, f]) * (half / half_width[i, f]) + half
            places = np.minimum(np.maximum(places, -0.5), raw.shape[2] - 0.5)
            own = np.ceil(places)
            gaps = own - places
            close = (gaps < _CLOSE) | (gaps > 1 - _CLOSE)
            own[close] = np.searchsorted(raw[i, f], numbers[close])
            cells[f, part] = own


@compiled(worth=2**23)
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


@count_cells.in_numpy
def _count_cells_in_numpy(cells, splits, node, edges, codes, values, counts):
    m, n_trees, _, width, q = counts.shape
    for i in range(m):
        part = slice(edges[i], edges[i + 1])
        for tree in range(n_trees):
            places = node[tree, part].astype(np.intp) * width + cells[splits[tree], part]
            _add_values(counts[i, tree], places * q + codes[part], values[:, part])


def _add_values(total, places, values):
    """Add values, a kind a row, from each row's place on; one after the other, as the loops do."""
    kinds = np.arange(len(values))[:, None]
    total += np.bincount((places + kinds).ravel(), values.ravel(), total.size).reshape(total.shape)


@compiled(worth=2**23)
def descend_level(columns, rows, edges, splits, thresholds, node):
    """Send each row on to its child.

    ``thresholds`` are those of the level, of shape (candidates, trees, nodes).
    """
    for i in range(thresholds.shape[0]):
        for tree in range(splits.shape[0]):
            column, own, here = columns[splits[tree]], thresholds[i, tree], node[tree]
            for k in range(edges[i], edges[i + 1]):
                here[k] = 2 * here[k] + (1 if column[rows[k]] > own[here[k]] else 0)


@descend_level.in_numpy
def _descend_level_in_numpy(columns, rows, edges, splits, thresholds, node):
    for i in range(len(thresholds)):
        part = slice(edges[i], edges[i + 1])
        for tree in range(splits.size):
            here = node[tree, part]
            above = columns[splits[tree], rows[part]] > thresholds[i, tree, here]
            node[tree, part] = 2 * here + above


@compiled(worth=2**23)
def sum_leaves(leaves, edges, codes, values, sums):
    """Add each row's values to those of the leaves it reaches; (candidates, trees, leaves, q)."""
    q = sums.shape[3]
    for i in range(sums.shape[0]):
        for tree in range(leaves.shape[0]):
            total, here = sums[i, tree].reshape(-1), leaves[tree]
            for j in range(values.shape[0]):
                for k in range(edges[i], edges[i + 1]):
                    total[np.uint32(here[k] * q + codes[k] + j)] += values[j, k]


@sum_leaves.in_numpy
def _sum_leaves_in_numpy(leaves, edges, codes, values, sums):
    q = sums.shape[3]
    for i in range(len(sums)):
        part = slice(edges[i], edges[i + 1])
        for tree in range(len(leaves)):
            places = leaves[tree, part].astype(np.intp) * q + codes[part]
            _add_values(sums[i, tree], places, values[:, part])


@compiled(worth=2**23)
def mean_squares(columns, rows, edges, splits, thresholds, values):
    """Return each candidate's mean square distance of its average from equal probabilities.

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


@mean_squares.in_numpy
def _mean_squares_in_numpy(columns, rows, edges, splits, thresholds, values):
    m, n_trees, n_leaves, n_classes = values.shape
    squares = np.empty(m)
    for i in range(m):
        own = rows[edges[i] : edges[i + 1]]
        sums = np.full((own.size, n_classes), -n_trees / n_classes)
        for tree in range(n_trees):
            node = np.zeros(own.size, np.intp)
            for split in splits[tree]:
                node = 2 * node + 1 + (columns[split, own] > thresholds[i, tree, node])
            sums += values[i, tree, node - (n_leaves - 1)]
        squares[i] = summed(np.square(sums).ravel()) / (n_trees * n_trees * own.size * n_classes)
    return squares
