"""Profiles of steps, against the best tests there are and against dp_accounting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import binom, norm

from pacsklearn.srpp.divergence.discrepancy import discrepancy_log_law
from pacsklearn.srpp.divergence.privacy_profile import (
    CommonBatchProfile,
    OppositeRowsProfile,
    _components,
)
from pacsklearn.srpp.divergence.step_divergence import (
    mean_divergence,
    secret_batch_divergence,
    shift_divergence,
)


def logs(law):
    with np.errstate(divide="ignore"):
        return np.log(law)


def law_of(sampling, rows=3, n=40, batch=8):
    return np.exp(discrepancy_log_law(n, rows, batch, sampling))


def hockey_stick(ours, theirs, level, step):
    """Largest difference over events, of densities on a grid."""
    return float(np.maximum(ours - np.exp(level) * theirs, 0.0).sum() * step)


def levels_of(profile, n=40, most=6.0):
    points = profile.at(np.linspace(profile.start, profile.start + profile.reach + most, n)[1:])
    return np.column_stack([points.epsilon, np.exp(points.log_delta)])


@pytest.mark.product(only=2)
@pytest.mark.parametrize("reach", [0.1, 0.8, 3.0])
def test_opposite_rows_attain_the_profile(reach):
    law = law_of("poisson")
    k, x = np.arange(law.size), np.linspace(-60, 60, 240_001)
    sides = [
        np.exp(logsumexp(norm.logpdf(x[:, None] - sign * k * reach), b=law, axis=1))
        for sign in (1, -1)
    ]
    for level, delta in levels_of(OppositeRowsProfile(logs(law), reach), n=12):
        exact = hockey_stick(*sides, level, x[1] - x[0])
        assert delta == pytest.approx(exact, rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_no_rows_beat_the_profile_for_poisson_batches(seed):
    """Rows that pull anywhere in the plane, by at most one unit each."""
    generator = np.random.default_rng(seed)
    law = np.array([0.5, 0.3, 0.2])
    axis = np.linspace(-9, 9, 361)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1)
    sides = []
    for _ in range(2):
        pulls = generator.standard_normal((2, 2))
        pulls /= np.maximum(np.linalg.norm(pulls, axis=1, keepdims=True), 1)
        means = np.vstack([np.zeros(2), np.cumsum(pulls, axis=0)])
        squares = [((plane - mean) ** 2).sum(axis=-1) for mean in means]
        sides.append(sum(p * np.exp(-s / 2) for p, s in zip(law, squares, strict=True)))
    sides = [side / (2 * math.pi) for side in sides]
    for level, delta in levels_of(OppositeRowsProfile(logs(law), 1.0), n=10, most=2.0):
        assert hockey_stick(*sides, level, (axis[1] - axis[0]) ** 2) <= delta + 1e-9


@pytest.mark.parametrize("sampling", ["without-replacement", "with-replacement"])
@pytest.mark.parametrize("seed", range(3))
def test_no_rows_beat_the_profile_for_batches_of_one_size(sampling, seed):
    """Every batch of a small table, enumerated: common rows are in the way of differing ones."""
    from itertools import combinations, product

    generator = np.random.default_rng(seed)
    n, batch, differing = 6, 3, 2
    pulls = [generator.choice([-1.0, 1.0], n) for _ in range(2)]
    pulls[1][differing:] = pulls[0][differing:]
    draw = combinations(range(n), batch)
    batches = list(draw if sampling == "without-replacement" else product(range(n), repeat=batch))
    sigma = 1.3
    x = np.linspace(-20, 20, 8001)
    sides = [
        np.mean([norm.pdf(x, sum(pull[i] for i in each) / sigma) for each in batches], axis=0)
        for pull in pulls
    ]
    profile = CommonBatchProfile(
        logs(np.exp(discrepancy_log_law(n, differing, batch, sampling))), 2 / sigma
    )
    for level, delta in levels_of(profile, n=20):
        assert hockey_stick(*sides, level, x[1] - x[0]) <= delta + 1e-9


def test_one_row_in_the_place_of_another():
    """For one row the curve is that of a mixture against a Gaussian (its larger side)."""
    rate, reach = 0.2, 1.4
    profile = CommonBatchProfile(np.log([1 - rate, rate]), reach)
    x = np.linspace(-30, 30, 120_001)
    plain = norm.pdf(x)
    mixed = (1 - rate) * plain + rate * norm.pdf(x - reach)
    for level, delta in levels_of(profile, n=15):
        assert delta == pytest.approx(hockey_stick(mixed, plain, level, x[1] - x[0]), rel=1e-6)


@pytest.mark.product(only=2)
@pytest.mark.parametrize("kind", [OppositeRowsProfile, CommonBatchProfile])
@pytest.mark.parametrize("reach", [0.05, 0.7, 2.5])
def test_renyi_between_the_bounds(kind, reach):
    law = law_of("poisson" if kind is OppositeRowsProfile else "without-replacement", rows=6)
    shift = 2 * reach if kind is OppositeRowsProfile else reach
    profile = kind(logs(law), reach)
    previous = 0.0
    for order in (1.0, 1.01, 2.0, 7.5, 30.0):
        found = profile.renyi(order)
        assert previous < found <= secret_batch_divergence(order, logs(law), shift) * (1 + 1e-9)
        assert found <= shift_divergence(order, law.size - 1, shift)
        previous = found
    assert profile.renyi(1.0) <= mean_divergence(1.0, law, shift)
    # Chords of the curve lie above it: an independent integral, from above.
    points = profile.at(profile.start + np.linspace(0, 60, 200_001)[1:])
    kept = points.log_delta > -600
    levels, deltas = points.epsilon[kept], points.log_delta[kept]
    for order in (1.5, 3.0):
        terms = np.exp((order - 1) * levels + deltas) + np.exp(-order * levels + deltas)
        moment = 1 + order * (order - 1) * np.trapezoid(terms, levels)
        assert profile.renyi(order) == pytest.approx(math.log(moment) / (order - 1), rel=2e-3)


def test_batches_of_all_rows_are_gaussian():
    law = np.array([0.0, 0.0, 1.0])
    for profile in (OppositeRowsProfile(logs(law), 0.4), CommonBatchProfile(logs(law), 0.8)):
        assert profile.renyi(3.0) == pytest.approx(1.5 * 1.6**2)
        assert profile.renyi(1.0) == pytest.approx(0.5 * 1.6**2)


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("rows", "n", "batch", "reach", "order"),
    [(400, 4000, 800, 0.02, 3), (500, 2000, 1000, 0.01, 4), (300, 600, 300, 0.03, 2)],
)
def test_many_counts_are_merged_not_dropped(rows, n, batch, reach, order):
    """Merged upward they bound the profile of all of them, merged downward some rows attain it."""
    law = law_of("poisson", rows=rows, n=n, batch=batch)
    above = OppositeRowsProfile(logs(law), reach).renyi(order)
    attained = OppositeRowsProfile(logs(law), reach, below=True).renyi(order)
    k = np.arange(law.size)
    x = np.linspace(-20, 30, 4001)
    ours, theirs = (
        logsumexp(norm.logpdf(x[:, None] - sign * k * reach), b=law, axis=1) for sign in (1, -1)
    )
    total = np.exp(order * ours - (order - 1) * theirs).sum() * (x[1] - x[0])
    exact = float(np.log(total) / (order - 1))
    assert exact / 1.05 <= attained < exact <= above <= 1.05 * exact


def test_few_counts_are_merged_nowhere():
    law = binom.logpmf(np.arange(61), 60, 0.3)
    attained = OppositeRowsProfile(law, 0.2, below=True)
    assert attained.renyi(8.0) == OppositeRowsProfile(law, 0.2).renyi(8.0)


def test_too_large_to_compute():
    assert OppositeRowsProfile(np.log([0.9, 0.1]), 1e6).renyi(4.0) == math.inf
    profile = CommonBatchProfile(np.log([0.9, 0.1]), 1e-3)
    assert 0 < profile.renyi(1e5) < shift_divergence(1e5, 1, 1e-3)


def log_delta_of_shares(law, reach, level):
    """The best shares of the batches without differing rows, their threshold found by bisection."""
    shifts = np.arange(law.size) * reach
    free = math.expm1(level) * law[0]

    def wanted(threshold):
        ratios = np.exp(shifts * threshold - shifts**2 / 2)
        return float(law[1:] @ np.maximum(ratios[1:] - math.exp(level), 0.0)) - free

    high = 1.0
    while wanted(high) < 0:
        high *= 2
    threshold = brentq(wanted, -1.0, high, xtol=1e-15, rtol=1e-15)
    own = np.maximum(level, shifts * threshold - shifts**2 / 2)[1:]
    t = own / shifts[1:] + shifts[1:] / 2
    parts = norm.sf(t - shifts[1:]) - np.exp(own) * norm.sf(t)
    return threshold, math.log(law[1:] @ parts)


@pytest.mark.parametrize("law", [[0.4, 0.6], [0.5, 0.2, 0.3], [0.3, 0.4, 0.2, 0.1]])
@pytest.mark.parametrize("reach", [0.3, 1.1])
def test_shares_of_common_batches_are_the_best(law, reach):
    law = np.array(law)
    profile = CommonBatchProfile(logs(law), reach)
    for level in (1e-3, 0.05, 0.4, 1.5):
        threshold, log_delta = log_delta_of_shares(law, reach, level)
        points = profile.at(np.array([threshold]))
        assert points.epsilon[0] == pytest.approx(level, rel=1e-9)
        assert points.log_delta[0] == pytest.approx(log_delta, rel=1e-9)


PROFILES = {
    "opposite": OppositeRowsProfile(np.log([0.5, 0.3, 0.15, 0.05]), 0.7),
    "opposite, far": OppositeRowsProfile(np.log([0.9, 0.1]), 6.0),
    "slack": OppositeRowsProfile(np.log([0.5, 0.3, 0.2]), 0.4, 0.1),
    "common": CommonBatchProfile(np.log([0.5, 0.3, 0.15, 0.05]), 0.7),
    "common, slack": CommonBatchProfile(np.log([0.5, 0.3, 0.2]), 0.4, 0.1),
    "common, far": CommonBatchProfile(np.log([0.6, 0.1, 0.3]), 3.0),
    "always some rows": CommonBatchProfile(np.array([-np.inf, *np.log([0.3, 0.7])]), 0.9),
}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_slopes_are_derivatives(profile):
    t = profile.start + np.array([0.1, 0.37, 1.3, 2.9])
    rise = profile.at(t + 1e-6).epsilon - profile.at(t - 1e-6).epsilon
    assert profile.at(t).slope == pytest.approx(rise / 2e-6, rel=1e-6, abs=1e-8)


@pytest.mark.product(only=10)
@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize("order", [1.0, 1.5, 4.0, 40.0])
def test_renyi_is_the_integral_of_the_profile(profile, order):
    """Summed over a fine grid from the first threshold on, to nine digits."""
    end = profile.start + order * profile.reach + 12.0
    # Slopes jump at corners, which have a test of their own.
    edges = np.union1d(np.linspace(profile.start, end, 8_001), profile.corners(profile.start, end))
    halves = np.diff(edges)[:, None] / 2
    nodes = (edges[:-1, None] + halves * (1 + np.array([-1, 1]) / math.sqrt(3))).ravel()
    points = profile.at(nodes)
    tilt = np.logaddexp((order - 1) * points.epsilon, -order * points.epsilon)
    total = float(logsumexp(tilt + points.log_delta, b=points.slope * np.repeat(halves, 2)))
    if order == 1:
        expected = math.exp(total)
    else:
        expected = np.logaddexp(0.0, math.log(order * (order - 1)) + total) / (order - 1)
    assert profile.renyi(order) == pytest.approx(expected, rel=1e-9)


def test_corners_are_where_batches_begin_or_end_to_get_a_share():
    """The nearer batches alone at first, both, and the farther ones alone in the end."""
    law, reach = np.array([0.6, 0.1, 0.3]), 3.0

    def ratio(k, t):
        return reach * k * t - (reach * k) ** 2 / 2

    def alone(k, t):
        return math.log((law[0] + law[k] * math.exp(ratio(k, t))) / (law[0] + law[k]))

    corners = [
        brentq(lambda t: ratio(2, t) - alone(1, t), 2.0, 4.5, xtol=1e-12),
        brentq(lambda t: ratio(1, t) - alone(2, t), 3.5, 9.0, xtol=1e-12),
    ]
    found = np.sort(PROFILES["common, far"].corners(1.6, 30.0))
    assert found == pytest.approx(corners, abs=1e-8)
    assert PROFILES["always some rows"].corners(0.0, 9.0).size == 0


def merged(law, most, below):
    """Probabilities of the counts that are kept, one count after the other."""
    counts = [k for k, chance in enumerate(law) if chance > 0]
    if len(counts) > most:
        likely = [i for i, k in enumerate(counts) if law[k] > max(law) * math.exp(-20)]
        ends = np.linspace(0, len(counts) - 1, most // 4)
        middle = np.linspace(likely[0], likely[-1], 3 * most // 4)
        kept = {0, 1, *(round(x) for x in ends), *(round(x) for x in middle)}
    else:
        kept = set(range(len(counts)))
    sums = dict.fromkeys(sorted(kept), 0.0)
    for i, k in enumerate(counts):
        sums[max(j for j in kept if j <= i) if below else min(j for j in kept if j >= i)] += law[k]
    return {counts[i]: chance for i, chance in sums.items()}


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize(("n", "most"), [(40, 16), (40, 41), (40, 40), (300, 256), (300, 48)])
def test_counts_are_merged_as_is_said(n, most, below):
    law = binom.pmf(np.arange(n + 1), n, 0.3)
    law[3] = 0.0
    log_chances, shifts = _components(logs(law), 0.5, 0.25, most, below=below)
    expected = merged(law, most, below)
    assert shifts == pytest.approx([0.5 * k + 0.25 * (k > 0) for k in expected], abs=1e-12)
    assert np.exp(log_chances) == pytest.approx(list(expected.values()), rel=1e-12)


def test_how_many_counts_are_kept_apart():
    for kind, most in ((OppositeRowsProfile, 256), (CommonBatchProfile, 48)):
        for n in (most, most + 1):
            law = np.full(n, 1 / n)
            kept = kind(np.log(law), 0.01).shifts.size + (kind is CommonBatchProfile)
            assert (kept == n) == (n <= most)
    allowances = [CommonBatchProfile(np.log(np.full(n, 1 / n)), 0.1).allowance for n in (25, 26)]
    assert allowances == [0.0, 1e-3]


def test_what_is_too_large_to_integrate():
    profile = OppositeRowsProfile(np.log([0.5, 0.5]), 2.0)
    assert profile.renyi(1999.0) == pytest.approx(1999.0 / 2 * 2**2, rel=1e-6)
    assert profile.renyi(2000.0) == math.inf
