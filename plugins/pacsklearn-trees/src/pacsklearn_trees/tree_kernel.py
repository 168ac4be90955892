"""Rows sent down many trees: all rows past every node, or several rows and trees at a time."""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled

# Rows whose ranks stay in the cache while all trees are asked, and how far apart features are: on
# other lines of the cache.
BLOCK, APART = 1024, 1024 + 32
# Ways down trees that are gone side by side: enough to hide how long a lookup takes.
_SIDE_BY_SIDE = 64
_LOWER = 2**32 - 1
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
def tree_sums(  # noqa: C901, PLR0912 - parts that are compiled by themselves take twice as long
    X, cuts, edges, split, child, trees, value, column, following, passing, ranks, sums
):
    """Add up what the leaves say that each row reaches.

    Rows are ranked among the thresholds of each feature once, for all trees. Places are unsigned,
    because a signed one is first asked whether it counts from the end.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        At most ``BLOCK`` rows, without gaps.
    cuts : ndarray of shape (n_cuts,)
        All trees' thresholds, feature by feature, each once and in increasing order.
    edges : ndarray of int, shape (p + 1,)
        Where the features' cuts begin, and the last ones end.
    split : ndarray of uint64, shape (n_nodes,)
        Where the feature's ranks begin, and in the lower half a rank; the highest for a leaf.
    child : ndarray of uint32, shape (n_nodes,)
        Where a row goes, or one after it if more cuts of the feature are below it than the rank.
    trees : ndarray of int of shape (n_trees, 4)
        Root, end, depth and model.
    value, column, following : ndarray of shape (n_values,)
        What each node, if it is a leaf, adds to which column, and where the next such numbers of
        the same leaf stand, or zero.
    passing : bool
        Whether all rows are moved past each node, or each one's way is looked up.
    ranks : ndarray of unsigned int, shape (p * APART,)
        Room for how many cuts are below each row.
    sums : ndarray of shape (m, columns, n)
        Tree by tree in their order, so that sums are rounded as when models are asked alone.
    """
    n = len(X)
    for j in range(X.shape[1]):
        for i in range(n):
            low, high = edges[j], edges[j + 1]
            while low < high:
                middle = (low + high) // 2
                if cuts[middle] < X[i, j]:
                    low = middle + 1
                else:
                    high = middle
            ranks[j * APART + i] = low - edges[j]
    places, rows = np.empty(BLOCK, np.uint32), np.empty(_SIDE_BY_SIDE, np.uint32)
    passed = np.empty(BLOCK, np.uint16)
    wide = n if passing else min(n, _SIDE_BY_SIDE)
    together = 1 if passing else _SIDE_BY_SIDE // wide
    for tree in range(0, len(trees), together):
        stop = min(tree + together, len(trees))
        for first in range(0, n, wide):
            count, way, depth = min(wide, n - first), 0, 0
            if passing:  # one node after the other: rows that stand there go on
                root = trees[tree, 0]
                passed[:] = 0
                for node in range(root, trees[tree, 1]):
                    if child[node] != node:
                        here, there = np.uint16(node - root), np.uint16(child[node] - root)
                        own, rank = ranks[split[node] >> 32 :], ranks.dtype.type(split[node])
                        for i in range(count):
                            further = np.uint16(there + np.uint16(own[i] > rank))
                            passed[i] = further if passed[i] == here else passed[i]
                for i in range(count):
                    places[i] = root + passed[i]
            else:  # level by level: many rows of one tree, or few of many trees
                for each in range(tree, stop):
                    depth = max(depth, trees[each, 2])
                    for i in range(count):
                        places[way], rows[way] = trees[each, 0], first + i
                        way += 1
                for _ in range(depth):  # a leaf is its own child
                    for i in range(way):
                        node = split[places[i]]
                        above = ranks[np.uint32(node >> 32) + rows[i]] > np.uint32(node)
                        places[i] = child[places[i]] + np.uint32(above)
            for each in range(tree, stop):
                total = sums[trees[each, 3]]
                for i in range(count):
                    leaf, row = places[(each - tree) * count + i], np.uint64(first + i)
                    total[column[leaf], row] += value[leaf]
                    while following[leaf]:
                        leaf = following[leaf]
                        total[column[leaf], row] += value[leaf]


@tree_sums.in_numpy
def _tree_sums_in_numpy(
    X, cuts, edges, split, child, trees, value, column, following, _passing, _ranks, sums
):
    own = zip(X.T, edges[:-1], edges[1:], strict=True)
    ranks = np.array([np.searchsorted(cuts[first:end], each) for each, first, end in own])
    feature, rank = (split >> 32) // APART, split & _LOWER
    roots, _, depths, models = trees.T
    step = max(1, _CELLS // len(trees))
    for start in range(0, len(X), step):
        rows = np.arange(start, min(start + step, len(X)))
        places = np.repeat(roots[:, None], rows.size, axis=1)
        for _ in range(depths.max(initial=0)):  # a leaf is its own child
            places = child[places] + (ranks[feature[places], rows] > rank[places])
        # Tree by tree, as the loop does.
        each, at = np.repeat(models, rows.size), np.tile(rows, len(trees))
        places = places.ravel()
        while places.size:
            np.add.at(sums, (each, column[places], at), value[places])
            more = following[places] > 0
            each, at, places = each[more], at[more], following[places[more]]
