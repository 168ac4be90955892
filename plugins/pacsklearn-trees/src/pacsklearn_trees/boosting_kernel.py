"""Trees of histogram gradient boosting, the very ones that scikit-learn grows; compiled.

Sums are taken in scikit-learn's order and gains by its formula, so that every number is the same.
A bin whose gain is clearly no better is passed over without a division. Importing this module
imports numba.
"""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled

# scikit-learn's: least sum of hessians on each side, and what keeps a division from zero.
_LEAST_HESSIAN, _TINY = 1e-3, 1e-15
# More than rounding takes from a gain.
_CLEARLY = 1.0 - 1e-9


@compiled()
def _cuts(numbers, places, thresholds):
    """Thresholds between sorted numbers; how many there are."""
    distinct, count, taken = min(numbers.shape[0], 1), 0, numbers.shape[0]
    for j in range(1, taken):
        distinct += numbers[j] != numbers[j - 1]
    if distinct <= thresholds.shape[0] + 1:
        for j in range(1, taken):
            if numbers[j] != numbers[j - 1]:
                thresholds[count] = (numbers[j - 1] + numbers[j]) / 2.0
                count += 1
        return count
    for place in places[0]:
        low = np.int64(place)
        number = numbers[low]
        if place > low:
            number = numbers[low + 1] - (numbers[low + 1] - number) * 0.5
        if count == 0 or not places[1] or number != thresholds[count - 1]:
            thresholds[count] = number
            count += 1
    return count


@compiled()
def bin_feature(order, values, place, places, thresholds, own, where, bins):
    """Thresholds of one feature among some rows, and the bin of each; how many there are.

    Parameters
    ----------
    order : ndarray of int32, shape (k,)
        Rows of the table that have a number, by their numbers.
    values : ndarray of float64, shape (k,)
        These numbers.
    place : ndarray of int32, shape (n,)
        Where each row of the table stands among those taken, -1 for others.
    places : tuple of ndarray of float64, shape (max_bins - 1,), and bool
        Which of the numbers taken are thresholds where too many are distinct, those between two
        their mean; whether a threshold comes once.
    thresholds : ndarray of float64, shape (max_bins - 1,)
    own, where : ndarray of float64 and of int32, shape (k + 1,)
        Used up.
    bins : ndarray of uint8, shape (n_taken,)
        Rows without a number are left alone.
    """
    taken = 0
    for j in range(order.shape[0]):
        at = place[order[j]]
        own[taken], where[taken] = values[j], at
        taken += at >= 0
    count = _cuts(own[:taken], places, thresholds)
    at = 0
    for j in range(taken):
        while at < count and own[j] > thresholds[at]:
            at += 1
        bins[where[j]] = at
    return count


@compiled()
def sum_bins(bins, rows, gradients, hessians, sums, counts):
    """Sums of gradients and hessians of some rows in each bin (p, n_bins, 2), and their number."""
    count = rows.shape[0]
    steps = np.empty((count, 2), np.float64)
    for i in range(count):
        steps[i, 0], steps[i, 1] = gradients[rows[i]], hessians[rows[i]]
    sums[:] = 0.0
    counts[:] = 0
    for f in range(bins.shape[0]):
        column, total, many = bins[f], sums[f], counts[f]
        for i in range(count):
            b = column[rows[i]]
            total[b, 0] += steps[i, 0]
            total[b, 1] += steps[i, 1]
            many[b] += np.uint32(1)


@compiled(inline="always")
def _value(gradient, hessian, l2):
    return -gradient / (hessian + l2 + _TINY)


@compiled()
def _scan(sums, counts, bins, whole, limits, l2, best):
    """Best split of one feature whose bins come to one side in turn; whether it beats ``best``.

    Parameters
    ----------
    sums, counts : ndarray of shape (n_bins, 2) and (n_bins,)
    bins : tuple of int
        First, step, how many. Bins come to the left side where the step is 1.
    whole : tuple
        Rows of the node, sums of gradients and hessians, its value.
    limits : tuple of int
    l2 : float
    best : ndarray of float64
        Gain, bin, gradients and hessians to the left, rows to the left.
    """
    first, step, length = bins
    n_rows, all_gradients, all_hessians, value = whole
    loss, least = all_gradients * value, limits[2]
    improved, top = False, best[0]
    clearly = (top - loss) * _CLEARLY
    near, gradient, hessian = np.int64(0), 0.0, 0.0
    for j in range(length):
        b = first + step * j
        near += np.int64(counts[b])
        gradient += sums[b, 0]
        hessian += sums[b, 1]
        if near < least:
            continue
        if n_rows - near < least:
            break
        other, rest = all_gradients - gradient, all_hessians - hessian
        if hessian < _LEAST_HESSIAN:
            continue
        if rest < _LEAST_HESSIAN:
            break
        mass, far = hessian + l2 + _TINY, rest + l2 + _TINY
        if gradient * gradient * far + other * other * mass < clearly * (mass * far):
            continue
        here = gradient * _value(gradient, hessian, l2)
        there = other * _value(other, rest, l2)
        gain = (loss - here) - there if step > 0 else (loss - there) - here
        if gain > top:
            improved, top = True, gain
            clearly = (top - loss) * _CLEARLY
            best[0] = gain
            if step > 0:
                best[1], best[2], best[3], best[4] = b, gradient, hessian, near
            else:
                best[1], best[2], best[3], best[4] = b - 1, other, rest, n_rows - near
    return improved


@compiled()
def _search(histograms, n_known, gaps, whole, limits, l2, best):
    """Feature of the best split, -1 where there is none, and whether gaps go to the left."""
    best[0], best_feature, to_left, (sums, counts) = 0.0, -1, False, histograms
    for f in range(n_known.shape[0]):
        here, many = sums[f], counts[f]
        ahead = 0, 1, n_known[f] - 1 + gaps[f]
        if _scan(here, many, ahead, whole, limits, l2, best):
            best_feature, to_left = f, False
        back = n_known[f] - 1, -1, n_known[f] - 1
        if gaps[f] and _scan(here, many, back, whole, limits, l2, best):
            best_feature, to_left = f, True
    return best_feature, to_left


@compiled()
def _push(heap, size, gains, node):
    """As `heapq` does, which decides between equal gains."""
    at = size
    while at > 0 and gains[node] > gains[heap[(at - 1) >> 1]]:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = node


@compiled()
def _pop(heap, size, gains):
    """Node of the largest gain; the heap loses it."""
    top, last, size = heap[0], heap[size - 1], size - 1
    at, child = 0, 1
    while child < size:
        if child + 1 < size and not gains[heap[child]] > gains[heap[child + 1]]:
            child += 1
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    while at > 0 and gains[last] > gains[heap[(at - 1) >> 1]]:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = last
    return top


@compiled()
def _part(column, rows, spare, highest, missing):
    """Bring rows of bins up to ``highest`` (and ``missing``) to the front, in order; how many."""
    left, right = 0, 0
    for row in rows:
        b = column[row]
        goes = b <= highest or b == missing
        rows[left], spare[right] = row, row
        left += goes
        right += not goes
    rows[left:] = spare[:right]
    return left


@compiled()
def _subtract(left, right):
    left, right = left.reshape(-1), right.reshape(-1)
    for i in range(left.shape[0]):
        left[i] -= right[i]


@compiled()
def _leaf(nodes, sums, node, depth, start, size, gradient, hessian, l2):
    facts, numbers = nodes
    facts[0, node], facts[2, node], facts[3, node], facts[4, node] = 0, depth, start, size
    numbers[0, node], numbers[1, node] = -1.0, _value(gradient, hessian, l2)
    sums[node, 0], sums[node, 1] = gradient, hessian


@compiled()
def _split(table, node, rows, spare, nodes, sums, new, l2):
    """Give a node two children, the nodes ``new`` and the next, as its best split says."""
    bins, _, gaps, missing = table
    facts = nodes[0]
    depth, start, size, f = facts[2, node] + 1, facts[3, node], facts[4, node], facts[5, node]
    own, lost = rows[start : start + size], missing if facts[7, node] and gaps[f] else -1
    edge = _part(bins[f], own, spare, facts[6, node], lost)
    facts[0, node], facts[1, node] = new, new + 1
    gradient, hessian = sums[node, 2], sums[node, 3]
    _leaf(nodes, sums, new, depth, start, edge, gradient, hessian, l2)
    gradient, hessian = sums[node, 0] - gradient, sums[node, 1] - hessian
    _leaf(nodes, sums, new + 1, depth, start + edge, size - edge, gradient, hessian, l2)
    if not gaps[f]:  # gaps that come later go where most rows went
        facts[7, node] = edge > size - edge


@compiled()
def grow_tree(table, steps, totals, rows, spare, room, limits, rates, nodes):
    """Grow one tree best first; how many nodes it has.

    Parameters
    ----------
    table : tuple
        Bins (p, n), how many hold numbers (p,), which features have gaps (p,), and the bin of gaps.
    steps : tuple of ndarray of float32, shape (n,)
        Gradients and hessians.
    totals : tuple of float
        Their sums.
    rows, spare : ndarray of uint32, shape (n,)
        All rows; reordered.
    room : tuple of ndarray
        Sums (n_slots, p, n_bins, 2) and counts (n_slots, p, n_bins); the first slot is the root's.
    limits : tuple of int
        Most leaves, largest depth, fewest rows of a leaf.
    rates : tuple of float
        Penalty and learning rate.
    nodes : tuple of ndarray of int64 (8, most_nodes) and of float64 (2, most_nodes)
        Left child, right child, depth, first row, rows, feature, bin, where gaps go; gain, value.
        The left child of a leaf is 0.
    """
    bins, n_known, gaps, _ = table
    most, deepest, least = limits
    facts, (gains, values) = nodes
    n, n_slots, l2 = rows.shape[0], room[0].shape[0], rates[0]
    # Histograms of open nodes: those not in use, and each node's.
    free, n_free = np.arange(n_slots - 1, -1, -1), n_slots - 1
    slot, heap, height = np.zeros(facts.shape[1], np.int64), np.zeros(n_slots, np.int64), 0
    # Of each node gradients and hessians, and those to the left of its best split.
    sums, best = np.zeros((facts.shape[1], 4)), np.zeros(5)
    _leaf(nodes, sums, 0, 0, 0, n, totals[0], totals[1], l2)
    values[0], n_nodes, first = 0.0, 1, 0
    last = 0 if n < 2 * least or totals[1] < _LEAST_HESSIAN else 1
    while True:
        for node in range(first, last):
            whole, here = (facts[4, node], sums[node, 0], sums[node, 1], values[node]), slot[node]
            chosen = -1
            if facts[4, node] >= 2 * least:
                histograms = room[0][here], room[1][here]
                chosen, to_left = _search(histograms, n_known, gaps, whole, limits, l2, best)
            if chosen < 0:
                free[n_free] = here
                n_free += 1
                continue
            facts[5, node], facts[6, node], facts[7, node] = chosen, np.int64(best[1]), to_left
            gains[node], sums[node, 2], sums[node, 3] = best[0], best[2], best[3]
            _push(heap, height, gains, node)
            height += 1
        if height == 0:
            break
        node, height = _pop(heap, height, gains), height - 1
        first, last, n_nodes = n_nodes, n_nodes + 2, n_nodes + 2
        _split(table, node, rows, spare, nodes, sums, first, l2)
        if n_nodes == 2 * most - 1:
            break
        if facts[2, first] == deepest or max(facts[4, first], facts[4, first + 1]) < 2 * least:
            free[n_free] = slot[node]
            n_free += 1
            last = first
            continue
        # The smaller child's rows are summed, the larger has the rest.
        small = first if facts[4, first] < facts[4, first + 1] else first + 1
        large = 2 * first + 1 - small
        n_free -= 1
        here, there = free[n_free], slot[node]
        slot[small], slot[large] = here, there
        part = rows[facts[3, small] : facts[3, small] + facts[4, small]]
        sum_bins(bins, part, steps[0], steps[1], room[0][here], room[1][here])
        _subtract(room[0][there], room[0][here])
        _subtract(room[1][there], room[1][here])
    for node in range(n_nodes):
        if facts[0, node] == 0:
            values[node] *= rates[1]
    return n_nodes


@compiled()
def add_tree(nodes, n_nodes, raw, rows, written):
    """Add to each row's prediction the value of its leaf, and write the nodes in preorder.

    Parameters
    ----------
    nodes : tuple of ndarray
        See :func:`grow_tree`.
    n_nodes : int
    raw : ndarray of float64, shape (n,)
    rows : ndarray of uint32, shape (n,)
        As the tree has left them.
    written : tuple of ndarray
        As ``nodes``.
    """
    facts, numbers = nodes
    left, right, start, size, values = facts[0], facts[1], facts[3], facts[4], numbers[1]
    stack, height, count = np.zeros((n_nodes + 1, 2), np.int64), 1, 0
    stack[0, 1] = -1
    while height:
        height -= 1
        node, parent = stack[height]
        if parent >= 0:
            written[0][1, parent] = count
        written[0][:, count] = facts[:, node]
        written[1][:, count] = numbers[:, node]
        if left[node] == 0:
            written[0][1, count] = 0
            written[0][5:, count] = 0
            for i in range(start[node], start[node] + size[node]):
                raw[rows[i]] += values[node]
        else:
            written[0][0, count] = count + 1
            stack[height, 0], stack[height, 1] = right[node], count
            stack[height + 1, 0], stack[height + 1, 1] = left[node], -1
            height += 2
        count += 1
