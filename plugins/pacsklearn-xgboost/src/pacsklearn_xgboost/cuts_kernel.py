"""Bins of some rows at XGBoost's own cut points: its quantile sketch on numbers sorted before.

A summary holds, for each distinct number, how many are below, how many are at most it, how often
it comes, and the number itself: four rows of single precision. Importing this module imports numba.
"""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled

__all__ = ["bin_feature", "sketch_limit"]

# Numbers a sketch keeps for each bin.
_FACTOR = 8


def sketch_limit(n: int, max_bin: int) -> int:
    """How many numbers a summary of ``n`` may keep."""
    level = 1
    while True:
        limit = min(n, int(np.ceil(level * max_bin * _FACTOR)) + 1)
        if (limit << level) >= n:
            return limit
        level += 1


@compiled()
def _summarised(numbers, summary):
    """Summary of sorted numbers; its size."""
    count, i, below = 0, 0, np.float32(0)
    while i < numbers.shape[0]:
        j = i + 1
        while j < numbers.shape[0] and numbers[j] == numbers[i]:
            j += 1
        weight = np.float32(j - i)
        summary[0, count], summary[1, count] = below, below + weight
        summary[2, count], summary[3, count] = weight, numbers[i]
        below, count, i = below + weight, count + 1, j
    return count


@compiled()
def _pruned(source, size, most, kept):
    """At most so many numbers of a summary, evenly by rank; how many."""
    if size <= most:
        kept[:, :size] = source[:, :size]
        return size
    low, high, weight = source[0], source[1], source[2]
    begin, span, parts = high[0], low[size - 1] - high[0], np.float32(most - 1)
    kept[:, 0] = source[:, 0]
    count, i, last = 1, 1, 0
    for k in range(1, most - 1):
        twice = np.float32(2) * (np.float32(k) * span / parts + begin)
        while i < size - 1 and twice >= high[i + 1] + low[i + 1]:
            i += 1
        if i == size - 1:
            break
        between = (low[i] + weight[i]) + (high[i + 1] - weight[i + 1])
        j = i if twice < between else i + 1
        if j != last:
            kept[:, count] = source[:, j]
            count, last = count + 1, j
    if last != size - 1:
        kept[:, count] = source[:, size - 1]
        count += 1
    return count


@compiled()
def _combined(one, n_one, two, n_two, union):
    """Summary of the numbers of two; its size. Ranks grow by what the other has below."""
    i, j, count = 0, 0, 0
    # What each has below the number that is next.
    low_one = low_two = np.float32(0)
    while i < n_one or j < n_two:
        ours = i < n_one and (j == n_two or one[3, i] <= two[3, j])
        theirs = j < n_two and (i == n_one or two[3, j] <= one[3, i])
        low = high = weight = np.float32(0)
        if ours:
            low, high, weight = one[0, i], one[1, i], one[2, i]
            union[3, count], low_one = one[3, i], one[0, i] + one[2, i]
            if not theirs:
                low += low_two
                high += two[1, j] - two[2, j] if j < n_two else two[1, n_two - 1]
            i += 1
        if theirs:
            weight += two[2, j]
            union[3, count] = two[3, j]
            if ours:
                low, high = low + two[0, j], high + two[1, j]
            else:
                low = two[0, j] + low_one
                high = two[1, j] + (one[1, i] - one[2, i] if i < n_one else one[1, n_one - 1])
            low_two = two[0, j] + two[2, j]
            j += 1
        union[0, count], union[1, count], union[2, count] = low, high, weight
        count += 1
    return count


@compiled()
def _sketched(numbers, ends, limit, max_bin, last):
    """Summary of at most ``max_bin + 1`` numbers, in ``last``; its size.

    Chunks of numbers end at ``ends``, each sorted. All but the last go to levels: one that is
    taken already is combined with what comes, and passed on where that is too much.
    """
    levels = np.zeros((2 + int(np.log2(len(ends))), 4, 2 * limit), np.float32)
    sizes, size = np.zeros(len(levels), np.int64), 0
    coming, kept = np.empty((2, 4, max(2 * limit, len(numbers))), np.float32)
    for c in range(len(ends)):
        size = _summarised(numbers[ends[c - 1] if c else 0 : ends[c]], coming)
        if c == len(ends) - 1:
            break
        for level in range(len(levels)):
            if sizes[level] == 0:
                sizes[level] = _pruned(coming, size, limit, levels[level])
                break
            some = _pruned(coming, size, limit, kept)
            size = _combined(kept, some, levels[level], sizes[level], coming)
            sizes[level] = 0
            if size <= limit:
                levels[level][:, :size] = coming[:, :size]
                sizes[level] = size
                break
    size = _pruned(coming, size, limit, kept)
    for level in range(len(levels)):
        if sizes[level]:
            size = _combined(kept, size, levels[level], sizes[level], coming)
            size = _pruned(coming, size, limit, kept)
    size = _pruned(kept, size, max_bin * _FACTOR, coming)
    return _pruned(coming, size, max_bin + 1, last)


@compiled()
def _chunk_ends(column, most, chunk):
    """Where so many numbers unlike the one before them have come; and each number's chunk."""
    ends, n_chunks, runs = np.empty(column.shape[0], np.int64), 0, 0
    for i in range(column.shape[0]):
        if runs == 0 or column[i] != column[i - 1]:
            if runs == most:
                ends[n_chunks] = i
                n_chunks, runs = n_chunks + 1, 0
            runs += 1
        chunk[i] = n_chunks
    ends[n_chunks] = column.shape[0]
    return ends[: n_chunks + 1]


@compiled()
def bin_feature(order, values, place, column, limit, cuts, bins):
    """Bin of each row of one feature, and the cut points; how many there are.

    Parameters
    ----------
    order : ndarray of int32, shape (n,)
        Rows of the table by their numbers.
    values : ndarray of float32, shape (n,)
        The numbers in that order.
    place : ndarray of int32, shape (n,)
        Where each row of the table stands among those taken, -1 for others.
    column : ndarray of float32, shape (n_taken,)
        Numbers of the rows taken, as they come.
    limit : int
    cuts : ndarray of float32, shape (max_bin,)
    bins : ndarray of uint8, shape (n_taken,)
    """
    taken, max_bin = column.shape[0], cuts.shape[0]
    chunk, numbers = np.empty(taken, np.int32), np.empty(taken, np.float32)
    ends = _chunk_ends(column, 2 * limit, chunk)
    at = np.zeros(len(ends), np.int64)
    at[1:] = ends[:-1]
    for j in range(order.shape[0]):
        i = place[order[j]]
        if i >= 0:
            numbers[at[chunk[i]]] = values[j]
            at[chunk[i]] += 1
    summary = np.empty((4, max_bin + 1), np.float32)
    size = _sketched(numbers, ends, limit, max_bin, summary)
    count, points = 0, summary[3]
    for i in range(1, min(size, max_bin)):
        if i == 1 or points[i] > cuts[count - 1]:
            cuts[count] = points[i]
            count += 1
    top = np.float64(points[size - 1])
    cuts[count] = top + (abs(top) + 1e-5)
    b, count = 0, count + 1
    for j in range(order.shape[0]):
        i = place[order[j]]
        if i >= 0:
            while b < count - 1 and values[j] >= cuts[b]:
                b += 1
            bins[i] = b
    return count
