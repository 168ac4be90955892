"""Private labels: Algorithm 1 over distinct labels.

Whoever changes ``first_alive``, ``masses_of``, ``entropy_of`` or ``others`` removes numba's cache
of the value engine, which calls them.
"""

from __future__ import annotations

import math
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.answers.engine import Answered, Engine
from pacsklearn.kernel.bounds.compiled import compiled, exponentials, summed
from pacsklearn.kernel.bounds.rounding import OUTWARD

# A loop keeps a table with a place for each.
_MOST_CODES: Final = 2**24

LARGEST_CENTRE: Final = 2**26
"""Cap on a label's centre, in grid steps: 64 noise scales tell it from zero but for one release in
exp(500). A cap only ever means more noise than the budget asks for. It matters only for labels of
vanishing mass among three or more, and with it the likelihoods are exact integers."""


@compiled(worth=2**20)
def answer_rows(codes, secret, belief, budget, noise, scale, answers, _, charges, margins):
    """Fill the outputs, update ``belief``; return rows answered and noise used."""
    n, m = codes.shape
    # One entry for every code that occurs, or is below one: where its place is noted.
    table = np.zeros(int(codes.max()) + 1 if n else 1, np.int64)
    slots, labels, terms = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    centres, observed = np.empty(m, np.int64), np.empty(m, np.int64)
    logs, units, work = np.empty(m), np.empty(m), np.empty(m)
    first = first_alive(belief)
    used = 0
    for row in range(n):
        # Given what is out, the answer is the same whichever candidate is true: I(S; Y) = 0.
        if _agree(codes[row], belief, first):
            answers[row] = codes[row, first]
            charges[row] = 0.0
            margins[row] = math.inf
            continue
        # The law is a function of the posterior masses of the labels, which everybody can compute
        # who has seen the answers before: the secret has no part in it.
        count = _collect(codes[row], belief, table, labels, slots)
        best, log_total = masses_of(belief, slots, count, logs, work)
        width, charge = _calibrate(logs[:count], best, budget, scale, centres, units, work)
        # Before the belief moves: the caller asks for this row again, as a whole.
        if used + width > noise.shape[0]:
            return row, used
        # From here on the secret is used: its own label, plus noise that nobody has seen.
        answer, margin = slots[secret], math.inf
        if not width:
            # An exact answer tells the entropy of the masses, which is what was charged.
            work[:count] = -math.inf
            work[answer] = -logs[answer] - log_total
        else:
            observed[:width] = noise[used : used + width]
            used += width
            answer, margin = _observe(answer, centres, units, width, scale, observed)
            _gains(observed, centres, width, logs[:count], log_total, scale, terms, work)
        # Bayes' rule: candidates with the same label have the same likelihood (Theorem 3.3).
        belief += work[slots]
        first = first_alive(belief)
        answers[row] = labels[answer]
        charges[row] = charge
        margins[row] = margin
    return n, used


@compiled()
def first_alive(belief):
    """Return the index of the first candidate that is still possible."""
    first = 0
    while not math.isfinite(belief[first]):
        first += 1
    return first


@compiled()
def _agree(row, belief, first):
    for i in range(row.shape[0]):  # noqa: SIM110 - numba compiles no generator
        if row[i] != row[first] and math.isfinite(belief[i]):
            return False
    return True


@_agree.in_numpy
def _agree_in_numpy(row, belief, first):
    return not np.any((row != row[first]) & np.isfinite(belief))


@compiled()
def _collect(row, belief, table, labels, slots):
    """Return the distinct codes in increasing order, and each candidate's place among them.

    An impossible candidate has some place, and no weight there. The table is all zeros again.
    """
    for i in range(row.shape[0]):
        if math.isfinite(belief[i]):
            table[row[i]] = 1
    count = 0
    for code in range(table.shape[0]):
        if table[code]:
            labels[count] = code
            table[code] = count
            count += 1
    for i in range(row.shape[0]):
        slots[i] = table[row[i]]
    table[:] = 0
    return count


@_collect.in_numpy
def _collect_in_numpy(row, belief, _table, labels, slots):
    distinct = np.unique(row[np.isfinite(belief)])
    labels[: distinct.size] = distinct
    slots[:] = np.minimum(np.searchsorted(distinct, row), distinct.size - 1)
    return distinct.size


@compiled()
def masses_of(belief, slots, count, logs, work):
    """Return normalised log-masses; the index of the largest and the log of the belief's total."""
    _peaks_and_sums(belief, slots, count, logs, work)
    for k in range(count):
        logs[k] += math.log(work[k])
    best = np.argmax(logs[:count])
    top, shift = logs[best], math.log1p(others(logs[:count], best))
    for k in range(count):
        logs[k] = (logs[k] - top) - shift
    return best, top + shift


@compiled()
def _peaks_and_sums(belief, slots, count, logs, sums):
    """Compute each label's largest log-weight, and the sum of its weights in its units."""
    logs[:count] = -math.inf
    sums[:count] = 0.0
    for i in range(belief.shape[0]):
        logs[slots[i]] = max(logs[slots[i]], belief[i])
    for i in range(belief.shape[0]):
        sums[slots[i]] += math.exp(belief[i] - logs[slots[i]])


@_peaks_and_sums.in_numpy
def _peaks_and_sums_in_numpy(belief, slots, count, logs, sums):
    logs[:count] = -math.inf
    np.maximum.at(logs, slots, belief)
    # Adds one after the other, as the loop does.
    sums[:count] = np.bincount(slots, exponentials(belief - logs[slots]), count)


@compiled()
def others(logs, best):
    """Return the sum of the weights but the largest, in units of that one.

    The largest is 1 / (1 + the sum): its log, near zero, keeps all digits only in this way.
    """
    rest = 0.0
    for k in range(logs.shape[0]):
        if k != best:
            rest += math.exp(logs[k] - logs[best])
    return rest


@others.in_numpy
def _others_in_numpy(logs, best):
    weights = exponentials(logs - logs[best])
    weights[best] = 0.0
    return summed(weights)


@compiled()
def entropy_of(logs):
    """Return the entropy in nats, rounded down.

    An answer that reveals more than the budget could be exact.
    """
    entropy = 0.0
    for k in range(logs.shape[0]):
        entropy -= math.exp(logs[k]) * logs[k]
    return entropy * OUTWARD


@compiled()
def _calibrate(logs, best, budget, scale, centres, units, roots):
    """Return the number of coordinates (0: exact) and charge."""
    # I(S; Y) <= H(Y): where the entropy fits, no noise is needed.
    entropy = entropy_of(logs)
    if entropy <= budget:
        return 0, entropy
    if logs.shape[0] == 2:
        return 1, _calibrate_two(logs, budget, scale, centres)
    return logs.shape[0], _calibrate_many(logs, best, budget, scale, centres, units, roots)


@compiled()
def _calibrate_two(logs, budget, scale, centres):
    # I <= Var(centre) / (2 scale^2), Var = q (1 - q) a^2: the largest a within the budget
    # (pac-private-algorithms, Theorem 1, for one coordinate).
    log_variance = logs[0] + logs[1]
    variance, minor = math.exp(log_variance), math.exp(min(logs[0], logs[1]))
    root = math.exp(0.5 * (math.log(2.0 * budget) - log_variance))
    # From one above the estimate down: the bound decides, not the rounding of the root.
    centre, charge = math.floor(scale * root) + 1, math.inf
    while charge > budget:
        centre -= 1
        charge = _bound(variance, minor, centre) / (2.0 * scale * scale) * OUTWARD
    centres[0] = centre
    return charge


@compiled()
def _calibrate_many(logs, best, budget, scale, centres, units, roots):
    # One coordinate a label, noise shaped as sqrt of its variance: the least total noise for the
    # budget (pac-private-algorithms, Theorem 1, Efficient-PAC).
    count = logs.shape[0]
    rest = _deviations(logs, best, budget, roots, units)
    highest = math.log(LARGEST_CENTRE / scale)
    for k in range(count):
        centres[k] = LARGEST_CENTRE
        if -units[k] < highest:
            centres[k] = math.floor(scale * math.exp(-units[k]))
    # The bound is that of the integers that leave: rounding to them may raise it, so centres
    # shrink until it fits.
    while True:
        bound = 0.0
        for k in range(count):
            # p or 1 - p, from a sum of its own: subtracting would cancel.
            minor = rest if k == best else math.exp(logs[k])
            bound += _bound(math.exp(2.0 * roots[k]), minor, centres[k])
        charge = bound / (2.0 * scale * scale) * OUTWARD
        if charge <= budget:
            break
        # Strictly below 1, or a charge one bit above the budget would never fall.
        shrink = math.sqrt(budget / charge) * (1.0 - 1e-12)
        for k in range(count):
            centres[k] = math.floor(centres[k] * shrink)
    for k in range(count):
        units[k] = 1.0 / centres[k] if centres[k] else math.exp(units[k]) / scale
    return charge


@compiled()
def _deviations(logs, best, budget, roots, deviations):
    """Return the logs of sqrt(v_i) and of sqrt(e_i), e_i = sqrt(v_i) sum_j sqrt(v_j) / (2 b)."""
    count = logs.shape[0]
    rest, spread = others(logs, best) * math.exp(logs[best]), 0.0
    for k in range(count):
        other = math.log(rest) if k == best else math.log1p(-math.exp(logs[k]))
        roots[k] = 0.5 * (logs[k] + other)
        spread += math.exp(roots[k])
    for k in range(count):
        deviations[k] = 0.5 * (roots[k] + math.log(spread) - math.log(2.0 * budget))
    return rest


@compiled()
def _bound(variance, minor, centre):
    # Shifts by integers alone have the exact divergence; the mean's distance from one is paid.
    offset = minor * centre - np.rint(minor * centre)
    return variance * centre * centre + offset * offset


@compiled()
def _observe(answer, centres, units, width, scale, observed):
    """Turn noise into what is released, and decode it."""
    # Integers alone leave; label and margin are public functions of them (post-processing).
    if width > 1:
        observed[answer] += centres[answer]
        return _decode_many(observed, centres, units, width, scale)
    observed[0] += answer * centres[0]
    return _decode_two(observed[0], centres[0], scale)


@compiled()
def _decode_two(w, a, scale):
    upper = 1 if 2 * w > a else 0
    # Distance of the integer from the other label's centre, in noise scales (Proposition 5.1).
    margin = -math.inf
    if a:
        margin = (w if upper == 1 else a - w) / scale
    return upper, margin


@compiled()
def _decode_many(observed, centres, units, count, scale):
    y = 0
    for k in range(count):
        if observed[k] * units[k] > observed[y] * units[y]:
            y = k
    margin = math.inf
    a_y = centres[y]
    for j in range(count):
        if j != y:
            a_j = centres[j]
            statistic = -math.inf
            if a_y + a_j:
                length = math.sqrt(float(a_y * a_y + a_j * a_j))
                inner = a_y * observed[y] + a_j * (a_j - observed[j])
                statistic = float(inner) / (scale * length)
            margin = min(margin, statistic)
    return y, margin


@compiled()
def _gains(observed, centres, width, logs, log_total, scale, terms, gains):
    """Fill in what to add to the log-weight of a candidate with each label."""
    count = logs.shape[0]
    skip = count - width  # with two labels the first one is at zero and has no coordinate
    # In integers, exactly (LARGEST_CENTRE): differences of doubles would lose close candidates.
    terms[0] = 0
    for k in range(width):
        terms[k + skip] = centres[k] * (2 * observed[k] - centres[k])
    variance = 2.0 * scale * scale
    for k in range(count):
        gains[k] = logs[k] + terms[k] / variance
    best = np.argmax(gains[:count])
    common = logs[best] + math.log1p(others(gains[:count], best)) + log_total
    for k in range(count):
        gains[k] = (terms[k] - terms[best]) / variance - common


@final
class LabelEngine(Engine):
    """Labels, with a calibration in the number of distinct ones.

    Notes
    -----
    For one row with posterior label masses q, where the entropy of q is above the budget:

    * Two labels: noise along their difference only; the released integer is the noise plus a for
      one label, plus 0 for the other, with the largest a whose bound is within the budget.
    * More labels: one coordinate each, noise variances as ``diagonal`` (Efficient-PAC).

    The charge is :func:`~pacsklearn.bounds.linear_bound` of the integer centres, so it holds
    exactly for the integers that are released; labels and margins are public functions of those.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import uniform_belief
    >>> from pacsklearn.kernel.answers.label_engine import LabelEngine
    >>> codes = np.array([[2, 2, 2, 2], [0, 0, 1, 1]], dtype=np.uint8)
    >>> LabelEngine().contested(codes, uniform_belief(4))
    array([False,  True])
    >>> step = LabelEngine().answer(codes, 3, uniform_belief(4), 1 / 16, np.array([0]))
    >>> step.answers, step.charges.round(4)
    (array([2, 1], dtype=uint8), array([0.    , 0.0625]))
    """

    def table(self, predictions: ArrayLike) -> NDArray[Any]:
        table = np.ascontiguousarray(predictions)
        if table.dtype not in {np.dtype(np.uint8), np.dtype(np.int16), np.dtype(np.int32)}:
            raise TypeError(f"codes must be uint8, int16 or int32, got {table.dtype}.")
        if table.ndim != 2 or table.shape[1] == 0:
            raise ValueError(f"codes must have shape (n, m) with m >= 1, got {table.shape}.")
        signed = table.dtype != np.uint8
        if signed and table.size and not 0 <= table.min() <= table.max() < _MOST_CODES:
            raise ValueError(f"codes must lie between 0 and {_MOST_CODES - 1}.")
        return table

    def fill(self, table: NDArray[Any], step: tuple[Any, ...], answered: Answered) -> Any:
        return answer_rows(table, *step, *answered)
