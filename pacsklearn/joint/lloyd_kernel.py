"""Lloyd's iterations of one subset, without the distances that cannot matter."""

from __future__ import annotations

import math

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled, summed

# Largest relative error of a number in single and in double precision, twice; one clear in double
# precision; and a number that is not zero.
_SINGLE, _DOUBLE, _CLEAR, _LEAST = 2.0**-23, 2.0**-52, 1e-9, 1e-300
# Iterations after which rounding errors of sums that rows came to and left are swept out.
_AGAIN = 32
# What only tells whether a distance can matter may be summed in any order, its slack allows for
# it; what centres, labels or the inertia are made of is summed in one order.
_FAST = {"reassoc", "contract"}


@compiled()
def _square(left, right):
    total = 0.0
    for j in range(left.shape[0]):
        gap = left[j] - right[j]
        total += gap * gap
    return total


@compiled()
def _inner(numbers):
    total = 0.0
    for a in range(numbers.shape[0]):
        total += numbers[a] * numbers[a]
    return total


@compiled(fastmath=_FAST)
def _open_rows(labels, gaps, shifts, unsettled):
    """List the rows whose nearest centre may be another one now that centres moved.

    Return how many.
    """
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
    """Multiply four rows with each centre: a number of a centre is read once for all four."""
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


@compiled()
def _nearest(squares, own):
    """Return the first of the nearest centres, and the square of the next one's distance."""
    best, far = max(own, 0), math.inf
    for a in range(squares.shape[0]):
        if squares[a] < squares[best] or (squares[a] == squares[best] and a < best):
            far, best = squares[best], a
        elif a != best:
            far = min(far, squares[a])
    return best, far


@compiled()
def _add(row, sign, sums, counts, a):
    """Let a row come to a centre's sum, or go."""
    counts[a] += sign
    for j in range(row.shape[0]):
        sums[a, j] += sign * row[j]


@compiled()
def _assign(rows, single, norms, longest, centres, labels, gaps, shifts, sums, counts, unsettled):
    """Give each row its nearest centre, and its sum the row; return how many rows changed."""
    (k, p), changed = centres.shape, 0
    lengths, squares = np.empty(k), np.empty(k)
    for a in range(k):
        lengths[a] = _inner(centres[a])
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


@_assign.in_numpy
def _assign_in_numpy(
    rows, _single, norms, longest, centres, labels, _gaps, _shifts, sums, counts, _unsettled
):
    n = len(rows)
    lengths = np.einsum("ij,ij->i", centres, centres)
    squares = norms[:, None] + lengths - 2.0 * (rows @ centres.T)
    slack = 4.0 * (rows.shape[1] + 4) * _DOUBLE * (longest + np.max(lengths))
    best = np.argmin(squares, axis=1)
    # Rows that have another centre as near as theirs, for all that this product tells.
    near = squares <= squares[np.arange(n), best][:, None] + 2.0 * slack
    for i in np.flatnonzero(np.count_nonzero(near, axis=1) > 1):
        best[i] = np.argmin(summed(np.square(rows[i] - centres)))
    moved = np.flatnonzero(best != labels)
    left = moved[labels[moved] >= 0]
    # In the order of rows, of which a centre has each once: it comes or goes.
    order = np.argsort(np.concatenate([moved, left]), kind="stable")
    own = np.concatenate([best[moved], labels[left]])[order]
    sign = np.repeat([1, -1], [moved.size, left.size])[order]
    np.add.at(sums, own, sign[:, None] * rows[np.concatenate([moved, left])[order]])
    np.add.at(counts, own, sign)
    labels[moved] = best[moved]
    return moved.size


@compiled()
def _sum_again(rows, labels, sums):
    """Sum each centre's rows again, without what rounding left of rows that went."""
    sums[:] = 0.0
    for i in range(rows.shape[0]):
        a = labels[i]
        for j in range(rows.shape[1]):
            sums[a, j] += rows[i, j]


@_sum_again.in_numpy
def _sum_again_in_numpy(rows, labels, sums):
    sums[:] = 0.0
    np.add.at(sums, labels, rows)


@compiled()
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


@compiled(worth=2**22)
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
        if _inner(shifts) <= tolerance:
            break
    if not strict:
        _assign(
            rows, single, norms, longest, centres, labels, gaps, shifts, sums, counts, unsettled
        )
    return _inertia(rows, centres, labels), iterations


@compiled()
def _inertia(rows, centres, labels):
    inertia = 0.0
    for i in range(rows.shape[0]):
        inertia += _square(rows[i], centres[labels[i]])
    return inertia


@_inertia.in_numpy
def _inertia_in_numpy(rows, centres, labels):
    return summed(summed(np.square(rows - centres[labels])))
