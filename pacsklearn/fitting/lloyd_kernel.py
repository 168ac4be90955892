"""Lloyd's iterations of one subset, without the distances that cannot matter; compiled.

Importing this module imports numba.
"""

from __future__ import annotations

import math

import numpy as np

from pacsklearn.information.compiled import compiled

__all__ = ["lloyd"]

# A bound computed in floating point decides only where it is clear.
_CLEAR = 1.0 + 1e-9
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
def _halve(centres, half, closest):
    """Half the distance of each pair of centres, and of each from its nearest."""
    closest[:] = math.inf
    for a in range(centres.shape[0]):
        for b in range(centres.shape[0]):
            if a != b:
                half[a, b] = 0.5 * math.sqrt(_square(centres[a], centres[b]))
                closest[a] = min(closest[a], half[a, b])


# One function: views of rows handed to others cost as much as the distances they save.
@compiled(fastmath=_FAST)
def _assign(rows, centres, labels, near, far, half, sums, counts):  # noqa: C901
    """Give each row its nearest centre, and its sum the row; return how many rows changed."""
    k, changed, closest = centres.shape[0], 0, np.empty(centres.shape[0])
    _halve(centres, half, closest)
    for i in range(rows.shape[0]):
        own = labels[i]
        best, exact = max(own, 0), False
        if own >= 0 and near[i] * _CLEAR < closest[own]:
            continue
        for a in range(k):
            if own >= 0 and (a == best or near[i] * _CLEAR < max(far[i, a], half[best, a])):
                continue
            if not exact:
                near[i] = math.sqrt(_square(rows[i], centres[best]))
                far[i, best], exact = near[i], True
                if a == best or (own >= 0 and near[i] * _CLEAR < max(far[i, a], half[best, a])):
                    continue
            far[i, a] = math.sqrt(_square(rows[i], centres[a]))
            # The first of several nearest centres, as ever.
            if far[i, a] < near[i] or (far[i, a] == near[i] and a < best):
                best, near[i] = a, far[i, a]
        if best != own:
            labels[i] = best
            changed += 1
            counts[best] += 1
            for j in range(rows.shape[1]):
                sums[best, j] += rows[i, j]
            if own >= 0:
                counts[own] -= 1
                for j in range(rows.shape[1]):
                    sums[own, j] -= rows[i, j]
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
def _move(rows, centres, labels, near, far, sums, counts, shifts):
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
    for i in range(rows.shape[0]):
        near[i] += shifts[labels[i]]
        for a in range(k):
            far[i, a] -= shifts[a]
    return True


@compiled(fastmath=_FAST)
def lloyd(rows, centres, tolerance, most_iterations, labels):
    """Run until no label changes or centres move by less than the tolerance, all squared.

    ``centres`` and ``labels`` are filled. Returns the inertia and the iterations, none of these
    where a cluster lost all its rows: the ordinary fit knows what to do then.

    Notes
    -----
    Each row keeps an upper bound on the distance of its centre and a lower one on that of every
    other (Elkan, Using the triangle inequality to accelerate k-means, 2003): the labels are those
    of full distances.
    """
    n, p = rows.shape
    k = centres.shape[0]
    near, far, half = np.zeros(n), np.zeros((n, k)), np.zeros((k, k))
    sums, counts, shifts = np.zeros((k, p)), np.zeros(k, np.int64), np.empty(k)
    labels[:] = -1
    strict, iterations = False, 0
    for _ in range(most_iterations):
        iterations += 1
        changed = _assign(rows, centres, labels, near, far, half, sums, counts)
        if changed == 0 or iterations % _AGAIN == 0:
            _sum_again(rows, labels, sums)
        if not _move(rows, centres, labels, near, far, sums, counts, shifts):
            return 0.0, 0
        if changed == 0:
            strict = True
            break
        moved = 0.0
        for a in range(k):
            moved += shifts[a] * shifts[a]
        if moved <= tolerance:
            break
    if not strict:
        _assign(rows, centres, labels, near, far, half, sums, counts)
    inertia = 0.0
    for i in range(n):
        inertia += _square(rows[i], centres[labels[i]])
    return inertia, iterations
