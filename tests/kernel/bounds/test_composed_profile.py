"""Many steps, against dp_accounting's own convolution and its Renyi bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.divergence.composed_profile import (
    _convolved,
    _curve,
    _discrete,
    _epsilon,
    _Loss,
    _window,
    composed_epsilon,
)
from pacsklearn.srpp.divergence.discrepancy import discrepancy_log_law
from pacsklearn.srpp.divergence.privacy_profile import CommonBatchProfile, OppositeRowsProfile
from pacsklearn.srpp.divergence.renyi_conversion import epsilon_at_order, gaussian_epsilon

N, DELTA = 10_000, 1e-5


def accountant(rate, sampling, order=8.0, rows=1):
    cap = DiscrepancyCap.differing(N, rows, int(N * rate), sampling)
    return SRPPSGDAccountant(cap, GradientClipping((1.0,), (1,)), order, "secret-batches")


def theirs(event, n_steps, kind, orders=None):
    """dp_accounting, for one row in the place of another."""
    dpa = pytest.importorskip("dp_accounting")
    replaced = dpa.NeighboringRelation.REPLACE_ONE
    if kind == "rdp":
        found = dpa.rdp.RdpAccountant(orders, neighboring_relation=replaced)
    else:
        found = dpa.pld.PLDAccountant(replaced, value_discretization_interval=1e-3)
    found.compose(event, n_steps)
    return found


@pytest.mark.product(only=1)
@pytest.mark.parametrize("n_steps", [1, 100, 10_000])
@pytest.mark.parametrize("sigma", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("rate", [0.001, 0.01, 0.1])
def test_without_replacement_no_dearer_than_the_published_renyi_bounds(rate, sigma, n_steps):
    """Their noise is relative to the sensitivity, which is two clipping norms."""
    dpa = pytest.importorskip("dp_accounting")
    event = dpa.SampledWithoutReplacementDpEvent(N, int(N * rate), dpa.GaussianDpEvent(sigma))
    other = theirs(event, n_steps, "rdp")
    found = accountant(rate, "without-replacement").costs(2 * sigma, n_steps, DELTA)
    assert found.full_epsilon <= 1.05 * other.get_epsilon(DELTA)
    for order in (2, 8, 32):
        price = n_steps * accountant(rate, "without-replacement", float(order)).cost(2 * sigma)
        # What they add to a Renyi cost of one order to convert it.
        more = math.log1p(-1 / order) - math.log(DELTA * order) / (order - 1)
        epsilon = theirs(event, n_steps, "rdp", [order]).get_epsilon(DELTA)
        assert price <= 1.05 * max(epsilon - more, 0.0)


@pytest.mark.product(only=2)
@pytest.mark.parametrize(
    ("rate", "sigma", "n_steps"),
    [
        (0.001, 1.0, 10_000),
        (0.01, 1.0, 100),
        (0.01, 2.0, 10_000),
        (0.1, 2.0, 1),
        (0.1, 8.0, 10_000),
    ],
)
def test_poisson_batches_cost_what_their_convolution_says(rate, sigma, n_steps):
    dpa = pytest.importorskip("dp_accounting")
    event = dpa.PoissonSampledDpEvent(rate, dpa.GaussianDpEvent(sigma))
    expected = theirs(event, n_steps, "pld").get_epsilon(DELTA)
    found = accountant(rate, "poisson").costs(sigma, n_steps, DELTA).full_epsilon
    # Their grid is coarser here than by default, which only raises their figure.
    assert 0.97 * expected <= found <= 1.05 * expected


@pytest.mark.parametrize("n_steps", [1, 30, 3000])
def test_a_gaussian_is_composed_exactly(n_steps):
    reach = 0.3
    for profile in (
        OppositeRowsProfile(np.array([-np.inf, 0.0]), reach / 2),
        CommonBatchProfile(np.array([-np.inf, 0.0]), reach),
    ):
        exact = gaussian_epsilon(n_steps * reach**2 / 2, DELTA)
        assert exact * (1 - 1e-9) <= composed_epsilon(profile, n_steps, DELTA) <= 1.01 * exact


@pytest.mark.product(only=1)
@pytest.mark.parametrize("sampling", ["poisson", "without-replacement", "with-replacement"])
def test_never_above_the_conversion_of_renyi_bounds(sampling):
    kind = OppositeRowsProfile if sampling == "poisson" else CommonBatchProfile
    for rows, reach in ((1, 1.0), (20, 0.05)):
        profile = kind(discrepancy_log_law(N, rows, 40, sampling), reach)
        for n_steps in (1, 1000):
            converted = [
                epsilon_at_order(n_steps * profile.renyi(a), a, DELTA) for a in (1.5, 3, 6, 12, 40)
            ]
            assert composed_epsilon(profile, n_steps, DELTA) <= min(converted)


def test_a_step_alone():
    """Where the curve itself says delta."""
    profile = OppositeRowsProfile(np.log([0.9, 0.1]), 0.8)
    points = profile.at(np.array([1.0, 2.0, 3.0]))
    for level, log_delta in zip(points.epsilon, points.log_delta, strict=True):
        found = composed_epsilon(profile, 1, math.exp(log_delta))
        assert level <= found <= level * 1.01


def test_beyond_double_precision():
    profile = OppositeRowsProfile(np.log([0.9, 0.1]), 0.8)
    assert composed_epsilon(profile, 1000, 1e-12) == math.inf
    # The accountant turns to Renyi bounds.
    found = accountant(0.1, "poisson").costs(2.0, 1000, 1e-12).full_epsilon
    assert accountant(0.1, "poisson").costs(2.0, 1000, 1e-6).full_epsilon < found < math.inf


def loss_of(chances, step=0.25, infinite=0.0):
    return _Loss(step, np.asarray(chances, dtype=float), infinite)


def delta_of(values, chances, level):
    return float(chances @ -np.expm1(np.minimum(level - values, 0.0)))


def test_a_profile_on_a_grid_is_that_of_its_chords():
    """At levels of the grid the losses say what straight lines in exp(level) say."""
    levels = np.array([0.0, 0.3, 0.35, 0.9, 2.0, 3.1])
    deltas = norm.cdf(0.5 - levels) - np.exp(levels) * norm.cdf(-0.5 - levels)
    for step in (0.01, 0.1, 0.4):
        loss = _discrete((levels, deltas), step)
        n = math.ceil(3.1 / step)
        assert loss.values == pytest.approx(step * np.arange(-n, n + 1))
        assert loss.infinite == deltas[-1]
        assert loss.chances.sum() + loss.infinite == pytest.approx(1, rel=1e-12)
        grid = step * np.arange(n + 1)
        chords = np.interp(np.exp(grid), np.exp(levels), deltas)
        found = [loss.infinite + delta_of(loss.values, loss.chances, level) for level in grid]
        assert found == pytest.approx(chords, rel=1e-10)
        # Losses in the other direction are the negatives of these.
        assert loss.chances[:n][::-1] == pytest.approx(
            loss.chances[n + 1 :] * np.exp(-grid[1:]), rel=1e-12
        )


@pytest.mark.parametrize("n_steps", [1, 50])
@pytest.mark.parametrize("power", [-16, -15, -3, 0, 11, 12])
def test_windows_are_chernoffs(n_steps, power):
    """Of Gaussian losses whose best order is a power of two: the mean, and 2 ln(1/p) / order."""
    negligible, order = 1e-7, 2.0**power
    nats = math.log(1 / negligible)
    spread = math.sqrt(2 * nats / n_steps) / order
    z = np.arange(-60, 61) / 5
    chances = np.exp(-(z**2) / 2)
    low, high = _window(loss_of(chances / chances.sum(), spread / 5), n_steps, negligible)
    assert high == pytest.approx(2 * nats / order, rel=1e-6)
    assert low == pytest.approx(-2 * nats / order, rel=1e-6)


def test_a_window_has_room_for_a_value():
    assert _window(loss_of([0.0, 1.0, 0.0], 0.5), 1, 0.1)[1] == 0.5


@pytest.mark.parametrize("n_steps", [1, 2, 7])
def test_sums_of_losses_are_convolutions(n_steps):
    chances = np.random.default_rng(n_steps).dirichlet(np.ones(9))
    expected = np.array([1.0])
    for _ in range(n_steps):
        expected = np.convolve(expected, chances)
    half = expected.size // 2
    values, found = _convolved(loss_of(chances), n_steps, -0.25 * half, 0.25 * half)
    assert values[: expected.size] == pytest.approx(0.25 * np.arange(-half, half + 1))
    assert found[: expected.size] == pytest.approx(expected, rel=1e-9, abs=1e-16)
    assert found[expected.size :] == pytest.approx(0, abs=1e-16)
    # What leaves a window comes in at its other end.
    values, found = _convolved(loss_of(chances), n_steps, -0.6, 0.6)
    assert values[0] == -0.75
    assert values[-1] >= 0.6
    wrapped = np.zeros(values.size)
    for place, chance in zip(range(-half, half + 1), expected, strict=True):
        wrapped[(place + 3) % values.size] += chance
    assert found == pytest.approx(wrapped, rel=1e-9)


def test_the_level_is_that_at_which_delta_is_met():
    values = 0.25 * np.arange(-4, 8)
    chances = np.random.default_rng(0).dirichlet(np.ones(12))
    at_zero = delta_of(values, chances, 0.0)
    for share in (0.999, 0.8, 0.3, 0.01, 1e-6):
        found = _epsilon(values, chances, share * at_zero)
        assert delta_of(values, chances, found) == pytest.approx(share * at_zero, rel=1e-9)
    assert _epsilon(values, chances, at_zero * (1 + 1e-9)) == 0.0
    assert _epsilon(values, chances, 0.0) == math.inf
    assert _epsilon(values, chances, math.nan) == math.inf


@pytest.mark.parametrize("kind", [OppositeRowsProfile, CommonBatchProfile])
@pytest.mark.parametrize("negligible", [1e-3, 1e-11])
def test_a_curve_ends_where_delta_is_negligible(kind, negligible):
    profile = kind(np.log([0.7, 0.2, 0.1]), 0.8)
    levels, deltas = _curve(profile, negligible)
    assert deltas[-1] <= negligible < deltas[-2]
    assert np.all(np.diff(levels) > 0)
    assert np.all(np.diff(deltas) < 0)
    # At level 0 delta is the distance in variation: from above, and within 1e-7.
    near = math.exp(float(profile.at(np.array([profile.start + 1e-12])).log_delta[0]))
    assert levels[0] == 0.0
    assert near <= deltas[0] <= near + 1e-7
    again = profile.at(np.linspace(profile.start, profile.start + 1, 50)[1:])
    kept = again.log_delta > math.log(negligible)
    chords = np.interp(np.exp(again.epsilon), np.exp(levels), deltas)
    assert np.all(chords[kept] >= np.exp(again.log_delta[kept]) * (1 - 1e-12))


@pytest.mark.product(only=1)
@pytest.mark.parametrize("kind", [OppositeRowsProfile, CommonBatchProfile])
def test_no_grid_for_far_shifts(kind):
    """Which overflowed once; up to there a level stands between those of certain and likely."""
    law = np.log([0.5, 0.5])
    for reach in (2001.0, 2e6):
        assert composed_epsilon(kind(law, reach), 1, 1e-5) == math.inf
    found = composed_epsilon(kind(law, 1999.0), 1, 1e-5)
    assert 0.99 < found / (1999.0**2 / 2) < 1.01
    # The accountant turns to Renyi bounds.
    sampling = "poisson" if kind is OppositeRowsProfile else "without-replacement"
    for noise in (1e-2, 1e-4, 1e-7):
        assert 0 < accountant(0.1, sampling).costs(noise, 10, DELTA).full_epsilon < math.inf


@pytest.mark.product(only=1)
@pytest.mark.parametrize("delta", [0.03, 1e-3, 1e-6])
def test_what_one_step_loses_to_the_grids(delta):
    """Three thousandths of delta, and what chords lose."""
    profile = OppositeRowsProfile(np.log([0.9, 0.1]), 0.8)
    points = profile.at(np.linspace(0, 12, 400_001)[1:])
    found = composed_epsilon(profile, 1, delta)
    left = np.exp(np.interp(found, points.epsilon, points.log_delta)) / delta
    assert 1 - 3.1e-3 < left < 1 - 1.9e-3, left


def test_rounding_may_take_a_thousandth_of_delta():
    profile = OppositeRowsProfile(np.log([0.9, 0.1]), 0.8)
    assert composed_epsilon(profile, 99, 1e-10) < math.inf
    assert composed_epsilon(profile, 101, 1e-10) == math.inf


@pytest.mark.product(only=3)
@pytest.mark.parametrize("profile", [(0.9, 0.1, 0.8), (0.5, 0.5, 3.0), (0.999, 0.001, 2.0)])
@pytest.mark.parametrize("n_steps", [1, 300])
def test_how_fine_the_grid_is(monkeypatch, profile, n_steps):
    from pacsklearn.srpp.divergence import composed_profile

    *law, reach = profile
    seen = []

    def discrete(curve, step):
        seen.append((curve[0][-1], step, loss := _discrete(curve, step)))
        return loss

    monkeypatch.setattr(composed_profile, "_discrete", discrete)
    composed_epsilon(OppositeRowsProfile(np.log(law), reach), n_steps, 1e-5)
    (largest, first, loss), (_, second, _) = seen
    assert first == largest / 4096
    low, high = _window(loss, n_steps, 1e-8)
    deviation = math.sqrt(np.sum(loss.chances * loss.values**2))
    wanted = min(deviation / 20, (high - low) / 65_536)
    assert second == pytest.approx(min(first, max(wanted, (high - low) / 2_097_152)), rel=1e-12)
