"""Trees of a random forest, the very ones that scikit-learn grows, on some rows of a shared table.

Class weights of nodes are whole numbers, so that no sum depends on the order of its terms, and a
tree on nothing but the order of each feature's numbers, their values and the random features that
are asked. Numbers come as ranks among all rows of the table: sorting a node's rows by a small
whole number takes a few passes over them. Importing this module imports numba.
"""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled

# scikit-learn's: neighbours no further apart are one number, and what an impurity may miss zero by.
_TIE = np.float32(1e-7)
_EPSILON = np.finfo(np.float64).eps
# Fewer rows are sorted by insertion.
_FEW = 48
_LOW = np.uint64(0xFFFFFFFF)


@compiled()
def _drawn(low, high, state):
    """Next number of the xorshift generator, from ``low`` to below ``high``."""
    x = state[0] or np.uint64(1)
    x ^= (x << np.uint64(13)) & _LOW
    x ^= x >> np.uint64(17)
    x ^= (x << np.uint64(5)) & _LOW
    state[0] = x
    return low + np.int64(x & np.uint64(0x7FFFFFFF)) % (high - low)


@compiled()
def _sorted_keys(keys, spare, count, n_digits):
    """The first ``count`` keys in the order of their upper halves; in one of both arrays."""
    if count < _FEW:
        for i in range(1, count):
            key, j = keys[i], i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return keys
    ends = np.empty(257, np.int64)
    for digit in range(n_digits):
        shift = np.uint64(32 + 8 * digit)
        ends[:] = 0
        for i in range(count):
            ends[((keys[i] >> shift) & np.uint64(255)) + np.uint64(1)] += 1
        for bucket in range(1, 256):
            ends[bucket] += ends[bucket - 1]
        for i in range(count):
            bucket = (keys[i] >> shift) & np.uint64(255)
            spare[ends[bucket]] = keys[i]
            ends[bucket] += 1
        keys, spare = spare, keys
    return keys


@compiled()
def _best_of_feature(keys, count, numbers, lows, highs, mass, min_leaf, best):
    """Best split of sorted rows: what it leaves, rows to the left, threshold, rank, impurities.

    ``highs`` holds the node's class weights and is used up.
    """
    left, square_left, square_right = 0.0, 0.0, 0.0
    for c in range(highs.shape[0]):
        lows[c] = 0.0
        square_right += highs[c] * highs[c]
    improved, top, rank = False, best[0], keys[0] >> np.uint64(32)
    before = numbers[rank]
    for i in range(count):
        at = keys[i] >> np.uint64(32)
        if at != rank:
            rank, value = at, numbers[at]
            if value > before + _TIE and i >= min_leaf and count - i >= min_leaf:
                right = mass - left
                gini_left = 1.0 - square_left / (left * left)
                gini_right = 1.0 - square_right / (right * right)
                gain = -right * gini_right - left * gini_left
                if gain > top:
                    improved, top = True, gain
                    best[0], best[1], best[3] = gain, i, at
                    best[2] = np.float64(before) / 2.0 + np.float64(value) / 2.0
                    best[4], best[5], best[6] = gini_left, gini_right, left
            before = value
        c = keys[i] & np.uint64(0xFFFF)
        weight = np.float64((keys[i] >> np.uint64(16)) & np.uint64(0xFFFF))
        square_left += weight * (2 * lows[c] + weight)
        square_right -= weight * (2 * highs[c] - weight)
        lows[c] += weight
        highs[c] -= weight
        left += weight
    return improved


@compiled()
def _weighed(load, rows, total):
    """Weight of some rows, and of each class in ``total``."""
    mass = 0.0
    total[:] = 0.0
    for row in rows:
        weight = np.float64(load[row] >> np.uint32(16))
        total[load[row] & np.uint32(0xFFFF)] += weight
        mass += weight
    return mass


@compiled()
def _searched(table, rows, total, mass, features, known, limits, state, room, best):
    """Feature of the best split of some rows, -1 where there is none; how many are constant.

    Features are drawn without replacement. The first ``known`` are constant since some node
    further up; those found constant here stand behind them afterwards.
    """
    ranks, numbers, n_digits, load = table
    features, constants = features
    keys, spare, lows, highs = room
    best[0], best_feature, count = -np.inf, -1, rows.shape[0]
    last, visited, new_constants, drawn = ranks.shape[0], 0, 0, 0
    while last > known + new_constants and (
        visited < limits[0] or visited <= new_constants + drawn
    ):
        visited += 1
        place = _drawn(drawn, last - new_constants, state)
        if place < known:
            features[drawn], features[place] = features[place], features[drawn]
            drawn += 1
            continue
        place += new_constants
        f = features[place]
        for i in range(count):
            row = rows[i]
            keys[i] = (np.uint64(ranks[f, row]) << np.uint64(32)) | np.uint64(load[row])
        ordered = _sorted_keys(keys, spare, count, n_digits)
        lowest = numbers[f, ordered[0] >> np.uint64(32)]
        if numbers[f, ordered[count - 1] >> np.uint64(32)] <= lowest + _TIE:
            other = known + new_constants
            features[place], features[other] = features[other], features[place]
            new_constants += 1
            continue
        last -= 1
        features[last], features[place] = features[place], features[last]
        highs[:] = total
        if _best_of_feature(ordered, count, numbers[f], lows, highs, mass, limits[3], best):
            best_feature = f
    features[:known] = constants[:known]
    constants[known : known + new_constants] = features[known : known + new_constants]
    return best_feature, known + new_constants


@compiled()
def _parted(ranks, rows, boundary):
    """Bring the rows below the boundary to the front."""
    i, j = 0, rows.shape[0]
    while i < j:
        if ranks[rows[i]] < boundary:
            i += 1
        else:
            j -= 1
            rows[i], rows[j] = rows[j], rows[i]


@compiled()
def grow_tree(table, rows, seed, limits, min_decrease, nodes, values):
    """Grow one tree depth first; how many nodes it has, and how deep it is.

    Parameters
    ----------
    table : tuple
        Ranks, of shape (p, n) and uint32: the place of each number among those of its feature.
        Numbers, of the same shape and float32: the one at each place. How many bytes hold a rank.
        Loads, of shape (n,) and uint32: weight of each row in the upper half, class in the lower.
    rows : ndarray of int32
        Rows of positive weight; reordered.
    seed : int
        State of the generator.
    limits : tuple of int
        Features to look at, largest depth, fewest rows of a node to split and of a child.
    min_decrease : float
    nodes : tuple of ndarray of shape (n_nodes,)
        Left and right child, feature, threshold, impurity, rows, weight, where gaps go: -1 and -2
        of a leaf.
    values : ndarray of shape (n_nodes, n_classes)
        Shares of classes.
    """
    left, right, feature, threshold, impurity, counts, masses, gaps = nodes
    ranks, load, n, k = table[0], table[3], rows.shape[0], values.shape[1]
    state, best, total = np.array([seed], np.uint64), np.empty(7), np.empty(k)
    features = np.arange(ranks.shape[0]), np.empty(ranks.shape[0], np.int64)
    room = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(k), np.empty(k)
    # Start, end, depth, parent, constant features; and impurity.
    stack, impurities = np.empty((values.shape[0] + 1, 5), np.int64), np.empty(values.shape[0] + 1)
    stack[0, :] = 0, n, 0, -1, 0
    height, n_nodes, deepest = 1, 0, 0
    whole = _weighed(load, rows, total)
    impurities[0] = 1.0 - np.sum(total * total) / (whole * whole)
    while height:
        height -= 1
        start, end, depth, parent, known = stack[height]
        node, count, own, chosen = n_nodes, end - start, impurities[height], -1
        n_nodes, deepest = n_nodes + 1, max(deepest, depth)
        mass = _weighed(load, rows[start:end], total)
        # A left child is grown right after its parent.
        if parent == node - 1 and left[parent] < 0:
            left[parent] = node
        elif parent >= 0:
            right[parent] = node
        if depth < limits[1] and count >= limits[2] and own > _EPSILON:
            chosen, known = _searched(
                table, rows[start:end], total, mass, features, known, limits, state, room, best
            )
        if chosen >= 0:
            gain = own - ((mass - best[6]) / mass * best[5]) - (best[6] / mass * best[4])
            chosen = -1 if mass / whole * gain + _EPSILON < min_decrease else chosen
        impurity[node], counts[node], masses[node] = own, count, mass
        values[node] = total / mass
        left[node], right[node], feature[node], threshold[node], gaps[node] = -1, -1, -2, -2.0, 0
        if chosen < 0:
            continue
        feature[node], threshold[node], edge = chosen, best[2], start + np.int64(best[1])
        gaps[node] = edge - start > end - edge
        _parted(ranks[chosen], rows[start:end], np.uint32(best[3]))
        stack[height, :] = edge, end, depth + 1, node, known
        stack[height + 1, :] = start, edge, depth + 1, node, known
        impurities[height], impurities[height + 1] = best[5], best[4]
        height += 2
    return n_nodes, deepest
