"""Lloyd's iterations of one subset, without the distances that cannot matter; compiled.

Importing this module imports numba.
"""

from __future__ import annotations

import math

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled

# Largest relative error of a number in single precision, twice; one clear in double
# precision; and a number that is not zero.
_SINGLE, _CLEAR, _LEAST = 2.0**-23, 1e-9, 1e-300
# Iterations after which rounding errors of sums that rows came to and left are swept out.
_AGAIN = 32
# Sums of squares may be taken in any order; nothing relies on infinities' absence.
_FAST = {"reassoc", "contract"}


@compiled(fastmath=_FAST)
def _square(left, right):
    total = 0.0
    for j in range(left.shape[0]):
        gap = left[j] - right[j]
        total += gap * gap
    return total


@compiled(fastmath=_FAST)
def _open_rows(labels, gaps, shifts, unsettled):
    """Rows whose nearest centre may be another one now that centres moved; return how many."""
    k, count = shifts.shape[0], 0
    closing = np.empty(k)
    for a in range(k):
        others = 0.0
        for b in range(k):
            if b != a:
                others = max(others, shifts[b])
        closing[a] = shifts[a] + others
    for i in range(labels.shape[0]):
        gaps[i] -= closing[max(labels[i], 0)]
        unsettled[count] = i
        count += not gaps[i] > 0.0
    return count


@compiled(fastmath=_FAST)
def _multiply(rows, four, centres, products):
    """Products of four rows with each centre: a number of a centre is read once for all four."""
    one, two, three, last = rows[four[0]], rows[four[1]], rows[four[2]], rows[four[3]]
    for a in range(centres.shape[0]):
        centre = centres[a]
        of_one = of_two = of_three = of_last = np.float32(0.0)
        for j in range(centres.shape[1]):
            of_one += centre[j] * one[j]
            of_two += centre[j] * two[j]
            of_three += centre[j] * three[j]
            of_last += centre[j] * last[j]
        products[0, a], products[1, a], products[2, a] = of_one, of_two, of_three
        products[3, a] = of_last


@compiled(fastmath=_FAST)
def _nearest(squares, own):
    """The first of several nearest centres, as ever, and the square of the next one's distance."""
    best, far = max(own, 0), math.inf
    for a in range(squares.shape[0]):
        if squares[a] < squares[best] or (squares[a] == squares[best] and a < best):
            far, best = squares[best], a
        elif a != best:
            far = min(far, squares[a])
    return best, far


@compiled(fastmath=_FAST)
def _add(row, sign, sums, counts, a):
    """Let a row come to a centre's sum, or go."""
    counts[a] += sign
    for j in range(row.shape[0]):
        sums[a, j] += sign * row[j]


@compiled(fastmath=_FAST)
def _assign(rows, single, norms, longest, centres, labels, gaps, shifts, sums, counts, unsettled):
    """Give each row its nearest centre, and its sum the row; return how many rows changed."""
    (k, p), changed = centres.shape, 0
    lengths, squares = np.empty(k), np.empty(k)
    for a in range(k):
        lengths[a] = np.sum(centres[a] * centres[a])
    slack = 4.0 * (p + 4) * _SINGLE * math.sqrt(longest * np.max(lengths))
    fewer, products = centres.astype(np.float32), np.empty((4, k), np.float32)
    count = _open_rows(labels, gaps, shifts, unsettled)
    unsettled[count : count + 3] = unsettled[max(count - 1, 0)]
    for start in range(0, count, 4):
        _multiply(single, unsettled[start : start + 4], fewer, products)
        for t in range(min(4, count - start)):
            i = unsettled[start + t]
            own = labels[i]
            for a in range(k):
                squares[a] = norms[i] + lengths[a] - 2.0 * products[t, a]
            best, far = _nearest(squares, own)
            clear = far - squares[best] - slack
            if not clear > 0.0:  # single precision does not tell
                for a in range(k):
                    squares[a] = _square(rows[i], centres[a])
                best, far = _nearest(squares, own)
                clear = (1.0 - _CLEAR) * far - squares[best]
            # Both distances are at most the farther one.
            gaps[i] = clear / (2.0 * math.sqrt(far + slack) + _LEAST)
            if best != own:
                labels[i] = best
                changed += 1
                _add(rows[i], 1, sums, counts, best)
                if own >= 0:
                    _add(rows[i], -1, sums, counts, own)
    return changed


@compiled(fastmath=_FAST)
def _sum_again(rows, labels, sums):
    """Sums of each centre's rows, without what rounding left of rows that went."""
    sums[:] = 0.0
    for i in range(rows.shape[0]):
        a = labels[i]
        for j in range(rows.shape[1]):
            sums[a, j] += rows[i, j]


@compiled(fastmath=_FAST)
def _move(centres, sums, counts, shifts):
    """Put centres into the middle of their rows; False where some centre has none."""
    k, p = centres.shape
    for a in range(k):
        if counts[a] == 0:
            return False
        total = 0.0
        for j in range(p):
            middle = sums[a, j] / counts[a]
            gap = middle - centres[a, j]
            total += gap * gap
            centres[a, j] = middle
        shifts[a] = math.sqrt(total)
    return True


@compiled(fastmath=_FAST)
def lloyd(rows, norms, centres, tolerance, most_iterations, labels):
    """Run until no label changes or centres move by less than the tolerance, all squared.

    ``norms`` are the rows' squares; ``centres`` and ``labels`` are filled. Returns the inertia and
    the iterations, none of these where a cluster lost all its rows: the ordinary fit knows what to
    do then.

    Notes
    -----
    Each row keeps a lower bound on how much farther every other centre is than its own (Hamerly,
    Making k-means even faster, 2010), and distances are taken in single precision where its largest
    error leaves no doubt: the labels are those of full distances.
    """
    n, p = rows.shape
    k, longest = centres.shape[0], np.max(norms)
    single, gaps, unsettled = rows.astype(np.float32), np.zeros(n), np.empty(n + 3, np.int64)
    sums, counts, shifts = np.zeros((k, p)), np.zeros(k, np.int64), np.zeros(k)
    labels[:] = -1
    strict, iterations = False, 0
    for _ in range(most_iterations):
        iterations += 1
        changed = _assign(
            rows, single, norms, longest, centres, labels, gaps, shifts, sums, counts, unsettled
        )
        if changed == 0 or iterations % _AGAIN == 0:
            _sum_again(rows, labels, sums)
        if not _move(centres, sums, counts, shifts):
            return 0.0, 0
        if changed == 0:
            strict = True
            break
        if np.sum(shifts * shifts) <= tolerance:
            break
    if not strict:
        _assign(
            rows, single, norms, longest, centres, labels, gaps, shifts, sums, counts, unsettled
        )
    inertia = 0.0
    for i in range(n):
        inertia += _square(rows[i], centres[labels[i]])
    return inertia, iterations
