"""Trees of gradient boosting, the very ones that XGBoost's histograms give; compiled.

Sums are taken in XGBoost's order in double precision, gains in single, by its formula. A bin whose
gain is clearly no better is passed over without a division. Importing this module imports numba.
"""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled

__all__ = ["grow_tree", "logistic_steps", "logit"]

# XGBoost's: gains up to this are none; what keeps a Hessian from zero; and the largest exponent.
_NO_GAIN, _TINY, _MOST = np.float32(1e-6), np.float32(1e-16), np.float32(88.7)
_ONE = np.float32(1)
# More than rounding in single precision takes from a gain.
_CLEARLY = 1.0 - 1e-5


@compiled()
def logit(share):
    """Margin of a share, in single precision as the C library has it."""
    return -np.log(_ONE / share - _ONE)


@compiled()
def logistic_steps(margins, labels, steps):
    """Gradients and Hessians of the logistic loss."""
    for i in range(margins.shape[0]):
        share = _ONE / (np.exp(min(-margins[i], _MOST)) + _ONE + _TINY)
        steps[0, i], steps[1, i] = share - labels[i], max(share * (_ONE - share), _TINY)


@compiled()
def _sum_bins(bins, rows, steps, sums):
    for f in range(bins.shape[0]):
        column, total = bins[f], sums[f]
        total[:] = 0.0
        for row in rows:
            b = column[row]
            total[b, 0] += steps[0, row]
            total[b, 1] += steps[1, row]


@compiled()
def _gain(gradient, hessian, penalty):
    return np.float32(np.float32(gradient * gradient) / np.float32(hessian + penalty))


@compiled()
def _scan(sums, bins, whole, limits, best):
    """Best split of one feature whose bins come to one side in turn; whether some bin is close.

    Parameters
    ----------
    sums : ndarray of shape (n_bins, 2)
    bins : tuple of int
        First, step, how many. Bins come to the left side where the step is 1.
    whole : tuple
        Sums of gradients and Hessians of the node, its gain.
    limits : tuple of float
        Penalty, least Hessian of a child.
    best : ndarray of float64
        Gain, feature, bin, gradients and Hessians to the left, step; the last two: sums of all
        bins. The feature is left to the caller.
    """
    first, step, length = bins
    all_gradients, all_hessians, own = whole
    penalty, least = limits
    clearly = (best[0] + np.float64(own)) * _CLEARLY
    gradient, hessian, close = 0.0, 0.0, False
    for j in range(length):
        b = first + step * j
        gradient += sums[b, 0]
        hessian += sums[b, 1]
        other, rest = all_gradients - gradient, all_hessians - hessian
        if hessian < least * _CLEARLY or rest < least * _CLEARLY:
            continue
        here, there = hessian + penalty, rest + penalty
        if gradient * gradient * there + other * other * here < clearly * (here * there):
            continue
        close = True
        if hessian < least or rest < least:
            continue
        near, far = _gain(gradient, hessian, penalty), _gain(other, rest, penalty)
        gain = (near + far) - own
        if gain > best[0]:
            clearly = (np.float64(gain) + np.float64(own)) * _CLEARLY
            best[0], best[5] = gain, step
            if step > 0:
                best[2], best[3], best[4] = b, gradient, hessian
            else:
                best[2], best[3], best[4] = b - 1, other, rest
    best[6], best[7] = gradient, hessian
    return close


@compiled()
def _search(sums, n_bins, whole, limits, best):
    """Find the best split of a node among all features; see :func:`_scan`."""
    best[:] = 0.0
    for f in range(n_bins.shape[0]):
        before = best[0]
        # From the right XGBoost looks too where sums of all bins, rounded, are not the node's; it
        # finds what it has found, or by rounding a little more.
        close = _scan(sums[f], (0, 1, n_bins[f]), whole, limits, best)
        if close and (best[6] != whole[0] or best[7] != whole[1]):
            _scan(sums[f], (n_bins[f] - 1, -1, n_bins[f]), whole, limits, best)
        if best[0] > before:
            best[1] = f


@compiled()
def _part(column, rows, spare, highest):
    """Bring rows of bins up to ``highest`` to the front, in order; how many."""
    left, right = 0, 0
    for row in rows:
        goes = column[row] <= highest
        rows[left], spare[right] = row, row
        left += goes
        right += not goes
    rows[left:] = spare[:right]
    return left


@compiled()
def _weight(gradient, hessian, limits):
    if hessian < limits[1] or hessian <= 0.0:
        return np.float32(0)
    return np.float32(-gradient / (hessian + limits[0]))


@compiled()
def grow_tree(table, steps, rows, spare, room, limits, nodes, margins):
    """Grow one tree level by level and add its leaves to the margins; how many nodes it has.

    Parameters
    ----------
    table : tuple of ndarray
        Bins (p, n), and how many each feature has (p,).
    steps : ndarray of float32, shape (2, n)
        Gradients and Hessians.
    rows, spare : ndarray of uint32, shape (n,)
        Used up.
    room : ndarray of float64, shape (n_slots, p, max_bin, 2)
    limits : tuple
        Penalty, least Hessian of a child, learning rate, largest depth.
    nodes : tuple of ndarray
        int64 (8, most_nodes): left and right child, parent, feature, bin, whether gaps go to the
        left, depth, slot. float32 (3, most_nodes): gain, Hessians, weight.
    margins : ndarray of float32, shape (n,)
    """
    bins, n_bins = table
    penalty, least, rate, deepest = limits
    pair = penalty, least
    facts, numbers = nodes
    left, right, parent, feature, bin_to, to_left, depth, slot = facts
    span, sums = np.zeros((facts.shape[1], 2), np.int64), np.zeros((facts.shape[1], 2))
    free, n_free, best = np.arange(room.shape[0] - 1, -1, -1), room.shape[0] - 1, np.empty(8)
    _sum_bins(bins, rows, steps, room[0])
    for b in range(n_bins[0]):
        sums[0] += room[0, 0, b]
    span[0, 1], parent[0], depth[0], slot[0] = rows.shape[0], -1, 0, 0
    n_nodes, node = 1, 0
    while node < n_nodes:
        here, gradient, hessian = slot[node], sums[node, 0], sums[node, 1]
        weight = _weight(gradient, hessian, pair)
        left[node], right[node], feature[node], bin_to[node], to_left[node] = -1, -1, 0, 0, 0
        numbers[0, node], numbers[1, node], numbers[2, node] = 0.0, hessian, weight
        own, best[0] = rows[span[node, 0] : span[node, 1]], 0.0
        if depth[node] < deepest:
            whole = gradient, hessian, _gain(gradient, hessian, penalty)
            _search(room[here], n_bins, whole, pair, best)
        if best[0] <= _NO_GAIN:
            for row in own:
                margins[row] += weight * rate
            if depth[node] < deepest:
                free[n_free] = here
                n_free += 1
            node += 1
            continue
        one, two = n_nodes, n_nodes + 1
        left[node], right[node], feature[node], bin_to[node] = one, two, best[1], best[2]
        numbers[0, node], to_left[node] = best[0], best[5] < 0
        edge = span[node, 0] + _part(bins[feature[node]], own, spare, bin_to[node])
        span[one, 0], span[one, 1] = span[node, 0], edge
        span[two, 0], span[two, 1] = edge, span[node, 1]
        sums[one, 0], sums[one, 1] = best[3], best[4]
        sums[two, 0], sums[two, 1] = gradient - best[3], hessian - best[4]
        for child in (one, two):
            parent[child], depth[child] = node, depth[node] + 1
        node, n_nodes = node + 1, n_nodes + 2
        if depth[one] == deepest:
            free[n_free] = here
            n_free += 1
            continue
        small, large = (two, one) if sums[two, 1] < sums[one, 1] else (one, two)
        n_free -= 1
        slot[small], slot[large] = free[n_free], here
        _sum_bins(bins, rows[span[small, 0] : span[small, 1]], steps, room[slot[small]])
        flat, less = room[here].reshape(-1), room[slot[small]].reshape(-1)
        for i in range(flat.shape[0]):
            flat[i] -= less[i]
    return n_nodes
