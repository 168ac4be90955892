"""Complete trees on some rows of a shared table, which are never copied; compiled.

Importing this module imports numba.
"""

from __future__ import annotations

import math

import numpy as np

from pacsklearn.information.compiled import compiled

__all__ = ["count_cells", "descend_level", "grid_cells", "mean_square", "mean_spread", "sum_leaves"]

_CLOSE = 1e-6


@compiled()
def mean_spread(X, rows, shares):
    """Mean and standard deviation of each column, rows counted by their shares."""
    p = X.shape[1]
    mean, square = np.zeros(p), np.zeros(p)
    for i in range(rows.shape[0]):
        row, share = rows[i], shares[i]
        for j in range(p):
            mean[j] += share * X[row, j]
    for i in range(rows.shape[0]):
        row, share = rows[i], shares[i]
        for j in range(p):
            gap = X[row, j] - mean[j]
            square[j] += share * (gap * gap)
    return mean, np.sqrt(square)


@compiled()
def grid_cells(columns, rows, centre, half_width, raw, slack, cells):
    """How many thresholds of the grid each number is above, and whether rounding decides of one.

    ``columns`` and ``cells`` hold a feature a row, ``raw`` its thresholds in its own units. Numbers
    within ``slack`` of a threshold, in steps of the grid, count as decided by rounding; a negative
    one is for thresholds that are known exactly.
    """
    size = raw.shape[1]
    half = (size - 1) / 2
    doubtful = False
    for f in range(columns.shape[0]):
        factor = half / half_width[f]
        for i in range(rows.shape[0]):
            number = columns[f, rows[i]]
            place = (number - centre[f]) * factor + half
            if place < -0.5:
                cells[f, i] = 0
            elif place > size - 0.5:
                cells[f, i] = size
            else:
                cell = math.ceil(place)
                gap = cell - place
                cell = min(max(cell, 0), size)
                if gap < _CLOSE or gap > 1 - _CLOSE:
                    doubtful |= gap < slack[f] or gap > 1 - slack[f]
                    # Thresholds themselves are left of their cell, whatever was rounded.
                    while cell > 0 and raw[f, cell - 1] >= number:
                        cell -= 1
                    while cell < size and raw[f, cell] < number:
                        cell += 1
                cells[f, i] = cell
    return doubtful


@compiled()
def count_cells(cells, asked, node, statistics, places, counts):
    """Add each row's statistics to its node's and cell's, tree by tree.

    ``asked`` is each tree's row of ``cells``, ``node`` where its rows are, ``places`` where they
    stand in ``statistics``; ``counts`` has the shape (trees, nodes, cells, q).
    """
    for tree in range(asked.shape[0]):
        for i in range(node.shape[1]):
            total = counts[tree, node[tree, i], cells[asked[tree], i]]
            for j in range(statistics.shape[1]):
                total[j] += statistics[places[i], j]


@compiled()
def descend_level(columns, rows, asked, thresholds, slack, node):
    """Send each row on to its child, and tell whether rounding decides of one.

    ``thresholds`` are those of the level, of shape (trees, nodes).
    """
    doubtful = False
    for tree in range(asked.shape[0]):
        column, near = columns[asked[tree]], slack[asked[tree]]
        for i in range(rows.shape[0]):
            here = node[tree, i]
            gap = column[rows[i]] - thresholds[tree, here]
            if abs(gap) < near:
                doubtful = True
            node[tree, i] = 2 * here + (1 if gap > 0 else 0)
    return doubtful


@compiled()
def sum_leaves(leaves, statistics, places, sums):
    """Add each row's statistics to those of the leaves it reaches; (trees, leaves, q)."""
    for tree in range(leaves.shape[0]):
        for i in range(leaves.shape[1]):
            total = sums[tree, leaves[tree, i]]
            for j in range(statistics.shape[1]):
                total[j] += statistics[places[i], j]


@compiled()
def mean_square(columns, rows, asked, thresholds, values):
    """Mean square of the trees' average distance from equal probabilities.

    ``asked`` is the row of ``columns`` for each tree and level, ``values`` the leaves' class
    probabilities.
    """
    n_trees, depth = asked.shape
    n_nodes, n_classes = thresholds.shape[1], values.shape[2]
    sums, total = np.empty(n_classes), 0.0
    for i in range(rows.shape[0]):
        sums[:] = 0.0
        for tree in range(n_trees):
            node = 0
            for level in range(depth):
                above = columns[asked[tree, level], rows[i]] > thresholds[tree, node]
                node = 2 * node + (2 if above else 1)
            for j in range(n_classes):
                sums[j] += values[tree, node - n_nodes, j]
        for j in range(n_classes):
            gap = sums[j] / n_trees - 1 / n_classes
            total += gap * gap
    return total / (rows.shape[0] * n_classes)
