"""Private numbers: Algorithm 1 with independent noise in each of them."""

from __future__ import annotations

import math
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.answers.engine import Answered, Engine
from pacsklearn.kernel.answers.label_engine import entropy_of, first_alive, masses_of, others
from pacsklearn.kernel.bounds.binary_scale import exponents_of, scaled_by
from pacsklearn.kernel.bounds.compiled import compiled, exponentials, summed
from pacsklearn.kernel.bounds.rounding import OUTWARD

# Differences of what lies below, and their sums, stay finite.
_LARGEST_VALUE: Final = 2.0**1010

LARGEST_OFFSET: Final = 2.0**40
"""Cap on the distance of a centre from the mean, in grid steps: beyond it integers would soon not
be exact doubles. A cap only ever means more noise than the budget asks for."""

TINIEST_STEP: Final = 2.0**-1022


@compiled(worth=2**20)
def answer_rows(values, secret, belief, budget, noise, scale, answers, deviations, charges, _):
    """Fill the outputs, update ``belief``; return rows answered and noise used."""
    n, m, width = values.shape
    slots, heads, noisy = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(width, np.int64)
    logs, work, weights = np.empty(m), np.empty(m), np.empty(m)
    means, steps, centres = np.empty(width), np.empty(width), np.empty((m, width))
    used = 0
    for row in range(n):
        rows = values[row]
        # Law and charge are functions of the posterior and of all candidates' answers; the secret
        # has no part in them (pac-private-responses, Algorithm 1).
        groups = _group(rows, belief, slots, heads)
        count, charge = 0, 0.0
        if groups > 1:
            masses_of(belief, slots, groups, logs, work)
            # I(S; Y) <= H(Y): where the entropy fits, the answer is exact.
            charge = entropy_of(logs[:groups])
        # Written so that NaN takes the noise.
        if not charge <= budget:
            count = _differing(rows, belief, first_alive(belief), noisy)
            _fill_weights(belief, weights)
            charge = _calibrate(
                rows, belief, weights, budget, scale, noisy[:count], means, steps, centres
            )
        # Before the belief moves: the caller asks for this row again, as a whole.
        if used + count > noise.shape[0]:
            return row, used
        charges[row] = charge
        # 0.0 and -0.0 count as equal; without the sum the sign would tell candidates apart.
        answers[row] = rows[heads[slots[secret]]] + 0.0
        if count:
            # The first use of the secret: what leaves are these integers, and functions of them.
            observed = centres[secret, :count] + noise[used : used + count]
            used += count
            for k in range(count):
                answers[row, noisy[k]] = means[k] + observed[k] * steps[k]
                deviations[row, noisy[k]] = scale * steps[k]
            # Bayes' rule on the integers, for the next row's law (Theorem 3.3).
            _learn(belief, observed, centres, scale)
        elif groups > 1:
            belief[slots != slots[secret]] = -math.inf
            _normalise(belief)
    return n, used


@compiled()
def _fill_weights(belief, weights):
    """Fill in the weights of the candidates, which add up to one."""
    # The largest is one before they are divided: none is lost that a double can hold.
    top, total = belief.max(), 0.0
    for i in range(belief.shape[0]):
        weights[i] = math.exp(belief[i] - top)
        total += weights[i]
    for i in range(belief.shape[0]):
        weights[i] /= total


@_fill_weights.in_numpy
def _fill_weights_in_numpy(belief, weights):
    weights[:] = exponentials(belief - belief.max())
    weights /= summed(weights)


@compiled()
def _learn(belief, observed, centres, scale):
    for i in range(belief.shape[0]):
        total = 0.0
        for k in range(observed.shape[0]):
            distance = (observed[k] - centres[i, k]) / scale
            total += distance * distance
        belief[i] += -0.5 * total
    _normalise(belief)


@_learn.in_numpy
def _learn_in_numpy(belief, observed, centres, scale):
    distances = (observed - centres[:, : observed.size]) / scale
    belief += -0.5 * summed(distances * distances)
    _normalise(belief)


@compiled()
def _equal(one, other):
    for j in range(one.shape[0]):  # noqa: SIM110 - numba compiles no generator
        if one[j] != other[j]:
            return False
    return True


@compiled()
def _group(rows, belief, slots, heads):
    """Number the distinct answers; ``heads`` holds the first candidate with each.

    An impossible candidate has some number, and no weight there.
    """
    count = 0
    for i in range(rows.shape[0]):
        slots[i] = 0
        if math.isfinite(belief[i]):
            own, same = rows[i], count
            for k in range(count):
                if _equal(own, rows[heads[k]]):
                    same = k
            slots[i], heads[count] = same, i
            count = max(count, same + 1)
    return count


@_group.in_numpy
def _group_in_numpy(rows, belief, slots, heads):
    numbers: dict[tuple[float, ...], int] = {}
    slots[:] = 0
    for i in np.flatnonzero(np.isfinite(belief)):
        own = tuple(rows[i].tolist())  # 0.0 and -0.0 are one key, as they are equal
        if own not in numbers:
            heads[len(numbers)] = i
        slots[i] = numbers.setdefault(own, len(numbers))
    return len(numbers)


@compiled()
def _differing(rows, belief, first, noisy):
    count = 0
    for j in range(rows.shape[1]):
        for i in range(rows.shape[0]):
            if math.isfinite(belief[i]) and rows[i, j] != rows[first, j]:
                noisy[count] = j
                count += 1
                break
    return count


@_differing.in_numpy
def _differing_in_numpy(rows, belief, first, noisy):
    differing = np.flatnonzero((rows[np.isfinite(belief)] != rows[first]).any(axis=0))
    noisy[: differing.size] = differing
    return differing.size


@compiled()
def _moments(rows, j, weights, belief):
    """Return the mean, standard deviation and largest distance from the mean."""
    m = rows.shape[0]
    # Differences from one of the values: sums of large ones would swallow their spread.
    anchor, shift = rows[np.argmax(weights), j], 0.0
    for i in range(m):
        shift += weights[i] * (rows[i, j] - anchor)
    mean, reach, square = anchor + shift, 0.0, 0.0
    for i in range(m):
        if math.isfinite(belief[i]):
            reach = max(reach, abs(rows[i, j] - mean))
    for i in range(m):
        if math.isfinite(belief[i]):
            share = (rows[i, j] - mean) / reach
            square += weights[i] * share * share
    # Of a spread that is lost below the doubles no noise would ever be wide enough.
    return mean, max(reach * math.sqrt(square), TINIEST_STEP), reach


@_moments.in_numpy
def _moments_in_numpy(rows, j, weights, belief):
    column, alive = rows[:, j], np.isfinite(belief)
    anchor = column[np.argmax(weights)]
    mean = anchor + summed(weights * (column - anchor))
    gaps = column[alive] - mean
    reach = np.max(np.abs(gaps))
    share = gaps / reach
    spread = reach * math.sqrt(summed(weights[alive] * share * share))
    return mean, max(spread, TINIEST_STEP), reach


@compiled()
def _calibrate(rows, belief, weights, budget, scale, noisy, means, steps, centres):
    """Fill means, grid steps and integer centres; return the charge."""
    count = noisy.shape[0]
    spreads, reaches = np.empty(count), np.empty(count)
    total = 0.0
    for k in range(count):
        means[k], spreads[k], reaches[k] = _moments(rows, noisy[k], weights, belief)
        total += spreads[k]
    # e_k = sqrt(v_k) sum_j sqrt(v_j) / (2 b) makes sum_k v_k / (2 e_k) = b, which bounds the
    # information of independent Gaussian noise (pac-private-algorithms, Theorem 1).
    enlarged, least_growth = 1.0, 1e-12
    while True:
        common = math.sqrt(total / (2.0 * budget) * enlarged) / scale
        bound = 0.0
        for k in range(count):
            step = max(math.sqrt(spreads[k]) * common, reaches[k] / LARGEST_OFFSET, TINIEST_STEP)
            steps[k] = step
            bound += _round(rows, noisy[k], belief, weights, means[k], step, centres[:, k])
        # Of the rounded centres, and so of what is released: lattice steps are no approximation.
        charge = bound / (2.0 * scale * scale) * OUTWARD
        if charge <= budget:
            return charge
        # Rounded centres can keep the charge where it is: the growth grows until it falls.
        enlarged *= charge / budget * (1.0 + least_growth)
        least_growth *= 10.0


@compiled()
def _round(rows, j, belief, weights, mean, step, centres):
    """Fill one coordinate's centres; return their mean squared distance from an integer."""
    middle, bound = 0.0, 0.0
    for i in range(belief.shape[0]):
        centres[i] = 0.0
        if math.isfinite(belief[i]):
            centres[i] = np.rint((rows[i, j] - mean) / step)
        middle += weights[i] * centres[i]
    nearest = np.rint(middle)
    for i in range(belief.shape[0]):
        distance = centres[i] - nearest
        bound += weights[i] * distance * distance
    return bound


@_round.in_numpy
def _round_in_numpy(rows, j, belief, weights, mean, step, centres):
    alive = np.isfinite(belief)
    centres[:] = 0.0
    centres[alive] = np.rint((rows[alive, j] - mean) / step)
    distances = centres - np.rint(summed(weights * centres))
    return summed(weights * distances * distances)


@compiled()
def _normalise(belief):
    best = np.argmax(belief)
    top, shift = belief[best], math.log1p(others(belief, best))
    belief[:] = (belief - top) - shift


@final
class ValueEngine(Engine):
    """Numbers, with one discrete Gaussian for each on which candidates differ.

    Notes
    -----
    Noise variances ``e_i = sqrt(v_i) sum_j sqrt(v_j) / (2 b)`` as ``diagonal``
    (pac-private-algorithms, Theorem 1) under the current belief, enlarged until the bound for the
    integers that are released is within the budget. Numbers on which all possible candidates agree
    are exact and free.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import uniform_belief
    >>> from pacsklearn.kernel.answers.value_engine import ValueEngine
    >>> values = np.array([[[1.0, 0.25], [1.0, 0.75]]])
    >>> step = ValueEngine().answer(values, 1, uniform_belief(2), 1 / 8, np.array([0]))
    >>> step.answers.round(4), step.charges.round(4)
    (array([[1.  , 0.75]]), array([0.125]))
    """

    def table(self, predictions: ArrayLike) -> NDArray[Any]:
        table = np.ascontiguousarray(predictions, dtype=np.float64)
        if table.ndim != 3 or table.shape[1] == 0:
            raise ValueError(f"values must have shape (n, m, d) with m >= 1, got {table.shape}.")
        if not np.all(np.abs(table) <= _LARGEST_VALUE):
            raise ValueError(
                "values must hold finite numbers, clipped to a public range. A model that has no "
                "answer to rows beyond its own, and says nan, must be told another: for instance "
                "IsotonicRegression(out_of_bounds='clip')."
            )
        return table

    def fill(self, table: NDArray[Any], step: tuple[Any, ...], answered: Answered) -> Any:
        # A row's unit comes from all candidates' answers to it alone: steps neither vanish nor
        # overflow, and nothing depends on the other rows.
        units = exponents_of(np.max(np.abs(table), axis=(1, 2), initial=0.0))[:, None]
        counts = answer_rows(scaled_by(table, -units[:, :, None]), *step, *answered)
        for numbers in answered[:2]:
            np.ldexp(numbers, units, out=numbers)
        return counts
