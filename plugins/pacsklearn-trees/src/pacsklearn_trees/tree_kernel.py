"""Rows sent down many trees, several at a time."""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled

# Rows that go down a tree side by side: enough to hide how long a lookup takes.
_SIDE_BY_SIDE = 64
# Rows whose features stay in the cache while all trees are asked.
_BLOCK = 1024
# Places of rows in trees that are looked up at once by the reference.
_CELLS = 2**18


@compiled(worth=2**20)
def lay_out(left, right, feature, threshold, at, new_feature, new_threshold, child, source):
    """Lay a tree out level by level from place ``at``, children side by side; its depth.

    A leaf is its own child, and its threshold is one that nothing is above. ``source`` says which
    node of the tree each place holds.
    """
    source[at], levels, end = 0, 0, at + 1
    start = at
    while start < end:
        last = end
        for place in range(start, last):
            node = source[place]
            if left[node] < 0:
                child[place], new_feature[place], new_threshold[place] = place, 0, np.inf
                continue
            child[place] = end
            new_feature[place], new_threshold[place] = feature[node], threshold[node]
            source[end], source[end + 1] = left[node], right[node]
            end += 2
        start = last
        levels += 1
    return levels - 1


@lay_out.in_numpy
def _lay_out_in_numpy(
    left, right, feature, threshold, at, new_feature, new_threshold, child, source
):
    source[at], levels, start, end = 0, 0, at, at + 1
    while start < end:
        level = slice(start, end)
        child[level], new_feature[level], new_threshold[level] = np.arange(start, end), 0, np.inf
        places = start + np.flatnonzero(left[source[level]] >= 0)
        nodes = source[places]
        child[places] = end + 2 * np.arange(places.size)
        new_feature[places], new_threshold[places] = feature[nodes], threshold[nodes]
        both = np.stack([left[nodes], right[nodes]], axis=1).ravel()
        source[end : end + both.size] = both
        start, end, levels = end, end + both.size, levels + 1
    return levels - 1


@compiled(worth=2**21)
def tree_sums(X, feature, threshold, child, values, trees, sums):
    """Add up what the leaves say that each row reaches.

    Places are unsigned, because a signed one is first asked whether it counts from the end.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Contiguous, without gaps.
    feature, child : ndarray of uint32, shape (n_nodes,)
    threshold : ndarray of shape (n_nodes,)
        A row goes to ``child``, or to the one after it where its feature is above the threshold.
    values : ndarray of shape (n_nodes, width)
    trees : ndarray of int of shape (n_trees, 4)
        Root, depth, model, and first column of the sums.
    sums : ndarray of shape (m, n, columns)
        Tree by tree in their order, so that sums are rounded as when models are asked alone.
    """
    n, p, width = X.shape[0], X.shape[1], values.shape[1]
    cells = X.reshape(n * p)
    places = np.empty(_SIDE_BY_SIDE, np.uint32)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        for tree in range(trees.shape[0]):
            root, depth, model, column = trees[tree]
            for first in range(start, stop, _SIDE_BY_SIDE):
                count = min(_SIDE_BY_SIDE, stop - first)
                for i in range(count):
                    places[i] = root
                for _ in range(depth):
                    for i in range(count):
                        here = places[i]
                        cell = cells[np.uint64((first + i) * p) + np.uint64(feature[here])]
                        places[i] = child[here] + np.uint32(cell > threshold[here])
                for i in range(count):
                    here, row = places[i], np.uint64(first + i)
                    for j in range(width):
                        value = values[here, np.uint64(j)]
                        sums[np.uint64(model), row, np.uint64(column + j)] += value


@tree_sums.in_numpy
def _tree_sums_in_numpy(X, feature, threshold, child, values, trees, sums):
    roots, depths, models, columns = trees.T
    step = max(1, _CELLS // len(trees))
    for start in range(0, len(X), step):
        rows = np.arange(start, min(start + step, len(X)))
        places = np.repeat(roots[:, None], rows.size, axis=1)
        for _ in range(depths.max(initial=0)):  # a leaf is its own child
            places = child[places] + (X[rows, feature[places]] > threshold[places])
        for j in range(values.shape[1]):  # tree by tree, as the loop does
            at = models[:, None], rows, columns[:, None] + j
            np.add.at(sums, at, values[places, j])
