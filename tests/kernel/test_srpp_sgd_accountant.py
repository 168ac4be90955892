"""Prices of steps and the noise of runs, by hand."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate
from scipy.special import logsumexp
from scipy.stats import binom, norm

from benchmarks.baselines.group_divergence import sampled_gaussian_divergence
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from pacsklearn.srpp import Batches, SRPPSGDClassifier
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import ACCOUNTINGS, SRPPSGDAccountant
from pacsklearn.srpp.divergence.discrepancy import SAMPLINGS
from pacsklearn.srpp.divergence.renyi_conversion import gaussian_epsilon
from pacsklearn.srpp.divergence.step_divergence import secret_batch_divergence
from tests.kernel.recorded_cap import recorded_cap

CAP = DiscrepancyCap.differing(50_000, 20, 512)
CLIPPING = GradientClipping((4.0,), (100,))
EPSILONS = [80, 70, 65, 60, 55, 50, 45, 40, 35, 30, 25, 20, 18, 14, 12, 10, 8, 4, 2, 1, 0.5]


def accountant(accounting="worst-case", cap=CAP, clipping=CLIPPING, order=16.0, **options):
    return SRPPSGDAccountant(cap, clipping, order, accounting, **options)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_noise_scales_of_the_paper_without_the_step_size(epsilon):
    """sigma^2 = alpha / (2 eps) T (2 K C / B)^2 on the mean gradient, up to the lattice."""
    n_steps, clip, b = 3880, 4.0, 512
    mean = b * 20 / 50_000
    square = mean * (1 - 20 / 50_000) * (50_000 - b) / 49_999 + mean**2
    for accounting, squares in (("worst-case", 20**2), ("subsampling-aware", square)):
        sigma = math.sqrt(16 / (2 * epsilon) * n_steps * squares * (2 * clip / b) ** 2)
        found = accountant(accounting).noise_multiplier(epsilon, n_steps) * clip / b
        # Rounding 100 numbers adds 1e-5 of the noise a step.
        assert sigma <= found * (1 + 1e-9)
        assert found == pytest.approx(sigma, rel=0.02)


@pytest.mark.product(only=4)
@pytest.mark.parametrize("accounting", ACCOUNTINGS)
@pytest.mark.parametrize("epsilon", [0.1, 8.0, 1e4])
def test_a_run_costs_what_it_may_and_hardly_less(accounting, epsilon):
    found = accountant(accounting)
    noise = found.noise_multiplier(epsilon, 300)
    assert math.fsum([found.cost(noise)] * 300) <= epsilon
    assert 300 * found.cost(noise) >= epsilon * (1 - 1e-9)


def test_order_of_the_accountings():
    price = {each: accountant(each).cost(300.0) for each in ACCOUNTINGS}
    assert price["secret-batches"] < price["subsampling-aware"] < price["worst-case"]
    known = secret_batch_divergence(16.0, CAP.log_law, CLIPPING.reach(300.0, 512))
    assert price["subsampling-aware"] < known
    # One batch in which everything differs: nothing is random.
    everything = DiscrepancyCap.differing(32, 32, 32)
    prices = [accountant(each, everything).cost(300.0) for each in ACCOUNTINGS]
    np.testing.assert_allclose(prices, prices[0], rtol=1e-9)


def test_by_hand():
    cap = DiscrepancyCap.differing(100, 1, 10)
    reach, slack = 2 / 5.0, math.sqrt(100) / LATTICE_SCALE
    square = (reach + slack) ** 2
    assert accountant(cap=cap).cost(5.0) == pytest.approx(8 * square)
    assert accountant("subsampling-aware", cap).cost(5.0) == pytest.approx(0.1 * 8 * square)
    # One row in the place of another: a Gaussian against its mixture with one shifted by `reach`,
    # on either side of where they are equally likely.
    shift = reach + slack

    def ratio(x):
        return 0.9 + 0.1 * math.exp(shift * x - shift**2 / 2)

    def moment(x):
        normal = math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
        return normal * (ratio(x) ** 16 + ratio(x) ** -15 - ratio(x) - 1)

    value, _ = integrate.quad(moment, shift / 2, 30, limit=400)
    price = accountant("secret-batches", cap).cost(5.0)
    assert price == pytest.approx(math.log1p(value) / 15, rel=1e-6)


@pytest.mark.parametrize("noise", [5, 40, 3000])
def test_prices_are_rounded_outward(noise):
    """One row in the place of another in every batch, in exact arithmetic."""
    cap = DiscrepancyCap.differing(100, 1, 10)
    step = 8 * (Fraction(2, noise) + Fraction(10, LATTICE_SCALE)) ** 2
    for accounting, exact in (("worst-case", step), ("subsampling-aware", step / 10)):
        found = accountant(accounting, cap)
        for cost, true in (
            (found.cost(float(noise)), exact),
            (found.information(float(noise), 7), exact / 16 * 7),
            (found.costs(float(noise), 7, 1e-5).full, exact * 7),
        ):
            assert true < Fraction(cost) < true * (1 + Fraction(1, 10**6))
    worst = accountant("worst-case", cap)
    assert worst.release_cost(float(noise)) == worst.cost(float(noise))
    epsilon = worst.costs(float(noise), 7, 1e-5).full_epsilon
    rate = float(step / 16 * 7)
    assert gaussian_epsilon(rate, 1e-5) * (1 + 5e-10) < epsilon


@pytest.mark.parametrize(
    ("order", "rate", "noise", "rows"), [(4.0, 0.1, 3.0, 1), (2.5, 0.3, 2.0, 1), (4.0, 0.1, 3.0, 5)]
)
def test_poisson_batches_are_amplified_exactly(order, rate, noise, rows):
    """Rows that pull one way against rows that pull the other, integrated: attained."""
    cap = DiscrepancyCap.differing(100, rows, int(100 * rate), "poisson")
    found = accountant("secret-batches", cap, order=order).cost(noise)
    k = np.arange(rows + 1)

    def mixture(x, sign):
        return logsumexp(-((x - sign * k / noise) ** 2) / 2, b=cap.law) - np.log(2 * np.pi) / 2

    value, _ = integrate.quad(
        lambda x: np.exp(order * mixture(x, 1) + (1 - order) * mixture(x, -1)), -40, 40, limit=400
    )
    exact = np.log(value) / (order - 1)
    # The lattice adds the rest: rounding of 100 numbers.
    assert exact <= found <= exact * (1 + 1e-3)
    assert found < secret_batch_divergence(order, cap.log_law, 2 / noise)
    everything = DiscrepancyCap.differing(100, rows, 100, "poisson")
    certain = accountant("secret-batches", everything, order=order).cost(noise)
    assert certain == pytest.approx(accountant(cap=everything, order=order).cost(noise), rel=1e-4)


def test_unlikely_batches_that_underflow_are_counted():
    """A batch that draws differing rows only has a chance of 1e-1740, and order 16 sees it."""
    cap = DiscrepancyCap.differing(50_000, 20, 512, "with-replacement")
    assert cap.law[-1] == 0.0
    alone = 16 * 512 * math.log(20 / 50_000) + 16 * 15 / 2 * (512 * 2 / 35.0) ** 2
    assert accountant("secret-batches", cap).cost(35.0) > alone / 15 > 0


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement"])
def test_groups_cost_far_less_than_the_rule_for_every_mechanism(sampling):
    cap = DiscrepancyCap.differing(50_000, 20, 512, sampling)
    found = accountant("secret-batches", cap)
    for noise in (35.0, 200.0):
        published = 3**6 * sampled_gaussian_divergence(64 * 16, 512 / 50_000, noise)
        assert found.cost(noise) < published / 25
        assert found.cost(noise) < secret_batch_divergence(16.0, cap.log_law, 2 / noise)


def test_moments_alone():
    cap = DiscrepancyCap.of_variation(0.01, 1000, 50)
    assert cap.law is None
    found = accountant("subsampling-aware", cap)
    square = 50 * 0.01 * 0.99 + 0.25
    assert found.cost(5.0) == pytest.approx(8 * square * 0.16, rel=1e-4)
    with pytest.raises(ValueError, match="needs"):
        accountant("secret-batches", cap)


def test_views_and_conversions():
    found = accountant("secret-batches")
    costs = found.costs(300.0, 100, 1e-5)
    assert costs.full == costs.average == costs.joint == pytest.approx(100 * found.cost(300.0))
    assert costs.full_epsilon <= costs.full + math.log(1e5) / 15
    grid = [1.5, 2, 4, 8, 16, 32, 64, 128]
    best = min(
        100 * accountant("secret-batches", order=order).cost(300.0) + math.log(1e5) / (order - 1)
        for order in grid
    )
    assert costs.full_epsilon <= best
    assert found.information(300.0, 100) <= costs.full / 16
    aware = accountant("subsampling-aware")
    assert aware.costs(300.0, 100, 1e-5).full_epsilon == pytest.approx(costs.full_epsilon)
    assert aware.release_cost(300.0) == pytest.approx(found.cost(300.0))
    assert accountant().release_cost(300.0) == accountant().cost(300.0)


def test_layers_move_by_two_clipping_norms_each():
    clipping = GradientClipping((1.0, 3.0), (4, 2))
    found = accountant(clipping=clipping).cost(50.0)
    assert found == pytest.approx(8 * 2 * (2 * 20 / 50.0) ** 2, rel=1e-4)


def test_units_keep_means_apart():
    units = [
        SRPPSGDClassifier(batches=Batches(accounting=each), secret_name="rows").ledger_unit
        for each in ("worst-case", "secret-batches", "subsampling-aware")
    ]
    assert units[0] == units[1] != units[2]
    assert "full in the mean over batches" in units[2]


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_caps(sampling):
    cap = DiscrepancyCap.differing(1000, 5, 50, sampling)
    assert cap.law.sum() == pytest.approx(1)
    assert cap.second_moment == pytest.approx(cap.law @ np.arange(cap.law.size) ** 2)
    assert pickle.loads(pickle.dumps(cap)) == cap != DiscrepancyCap.differing(1000, 6, 50, sampling)
    assert accountant(cap=cap).failure(100) == 0
    generator = np.random.default_rng(0)
    draws = generator.binomial(50, 0.005, (3, 20_000))
    sampled = DiscrepancyCap.sampled(draws, 1000, 50, sampling, delta=0.02, gamma=1e-3)
    assert sampled.second_moment > np.mean(draws**2, axis=1).max()
    assert accountant(cap=sampled).failure(10) == pytest.approx(0.201)
    assert accountant("subsampling-aware", cap=sampled).failure(10) == pytest.approx(1e-3)
    assert accountant(cap=sampled).failure(100) == 1.0


def test_families_share_the_failure_probability_of_sampled_caps():
    """The worst of each family alone, at its share; and a tail is exceeded with delta at most."""
    draws = np.random.default_rng(1).binomial(50, [[0.004], [0.02], [0.01]], (3, 20_000))
    together = DiscrepancyCap.sampled(draws, 1000, 50, delta=0.05, gamma=3e-4)
    alone = [DiscrepancyCap.sampled(one, 1000, 50, delta=0.05, gamma=1e-4) for one in draws]
    assert together.second_moment == max(one.second_moment for one in alone)
    assert together.largest == max(one.largest for one in alone)
    assert binom.sf(together.largest, 50, 0.02) < 0.05 < binom.sf(together.largest - 3, 50, 0.02)


def test_families_share_it_also_where_the_data_sets_are_known():
    """All data sets alike, so that what is known of them says more than batches that are drawn."""
    differing = np.repeat([[3], [9], [5]], 20_000, axis=1)
    together = DiscrepancyCap.coupled(differing, 60, 6, gamma=3e-4)
    alone = DiscrepancyCap.coupled(differing[1], 60, 6, gamma=1e-4)
    assert together.second_moment == alone.second_moment


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_caps_from_coupled_data_sets(sampling):
    """Algorithms 3 and 4: the counts of batches of data sets that differ in 0 to 6 rows."""
    counts = np.random.default_rng(0).integers(0, 7, (2, 20_000))
    cap = DiscrepancyCap.coupled(counts, 1000, 50, sampling, delta=0.05)
    each = [DiscrepancyCap.differing(1000, d, 50, sampling).second_moment for d in range(7)]
    # What is left to sample are the data sets: the range of the mean squares over the draws.
    assert np.mean(each) <= cap.second_moment <= np.mean(each) + 20 * 2600 / 20_000
    assert 1 <= cap.largest <= 6
    assert (cap.tail, cap.failure, cap.mean_over_data) == (0.05, 1e-6, True)


def measured_delta(law, noise, epsilon, n_steps=1):
    """Of the release and its batches: every differing row moves a step by two clipping norms."""
    squares = {0: 1.0}
    for _ in range(n_steps):
        counted = {}
        for square, share in squares.items():
            for count, chance in law.items():
                k = square + count**2
                counted[k] = counted.get(k, 0.0) + share * chance
        squares = counted
    total = 0.0
    for square, share in squares.items():
        shift = 2 * math.sqrt(square) / noise
        if shift > 0:
            total += share * (
                norm.cdf(shift / 2 - epsilon / shift)
                - math.exp(epsilon) * norm.cdf(-shift / 2 - epsilon / shift)
            )
    return total


@pytest.mark.parametrize("accounting", ["subsampling-aware", "worst-case"])
def test_epsilon_and_delta_hold_for_what_a_sampled_cap_leaves_to_its_tail(accounting):
    """One batch of twenty holds 50 differing rows: (.28, 1e-5) was stated, with a delta of .052."""
    law = {1: 0.95, 50: 0.05}
    draws = np.random.default_rng(0).choice(list(law), p=list(law.values()), size=200_000)
    cap = DiscrepancyCap.sampled(draws, 1000, 100, delta=0.06)
    assert (cap.largest, cap.tail) == (1, 0.06)
    found = accountant(accounting, cap, GradientClipping((1.0,), (3,)))
    for n_steps in (1, 3):
        for delta in (1e-5, 0.19):
            costs = found.costs(20.0, n_steps, delta)
            for epsilon in (costs.average_epsilon, costs.joint_epsilon, costs.full_epsilon):
                assert measured_delta(law, 20.0, epsilon, n_steps) <= delta
    # What is left of delta pays for the release in which one row differs: here all is needed.
    assert found.costs(20.0, 3, 0.19).full_epsilon < 1 < found.costs(20.0, 3, 0.17).full_epsilon
    shift = divergence_of(16.0, 100, 20.0)
    assert found.release_cost(20.0) >= shift


def divergence_of(order, rows, noise):
    return order / 2 * (2 * rows / noise) ** 2


def test_a_thousand_steps_carry_the_tail_of_each():
    """Failure 0 was reported where each step's bound is exceeded with 1e-6."""
    cap = DiscrepancyCap.of_variation(0.001, 10_000, 100, delta=1e-6)
    worst, mean = (
        accountant(each, cap, GradientClipping((1.0,), (3,)))
        for each in ("worst-case", "subsampling-aware")
    )
    assert worst.failure(1000) == pytest.approx(1e-3)
    # The price of a mean uses no tail; its epsilon does, out of delta.
    assert mean.failure(1000) == 0.0
    square = (cap.largest * 2 / 500.0) ** 2
    within = mean.costs(500.0, 1000, 0.01).full_epsilon
    assert within == pytest.approx(gaussian_epsilon(1000 * square / 2, 0.009), rel=1e-3)
    # No delta is left: every row of a batch may differ in every step.
    square = (100 * 2 / 500.0) ** 2
    beyond = mean.costs(500.0, 1000, 1e-3).full_epsilon
    assert beyond == pytest.approx(gaussian_epsilon(1000 * square / 2, 1e-3), rel=1e-3)


def test_what_may_differ_rarely_is_something_to_hide():
    """A tail of .01 hid rows that differ in every 200th batch: no noise at all was needed."""
    draws = (np.random.default_rng(0).random(300_000) < 0.002) * 30
    cap = DiscrepancyCap.sampled(draws, 1000, 100, delta=0.01)
    assert cap.largest == 1
    assert accountant("subsampling-aware", cap).noise_multiplier(1.0, 10) > 1


def test_which_caps_cover_which():
    def cap(rows, sampling="poisson"):
        return DiscrepancyCap.differing(500, rows, 50, sampling)

    assert cap(5).covers(cap(5))
    assert cap(9).covers(cap(5))
    assert not cap(1).covers(cap(500))
    assert not cap(4).covers(cap(5))
    few = DiscrepancyCap.of_variation(1e-5, 500, 50, "poisson")
    assert not few.covers(cap(5))
    many = DiscrepancyCap.of_variation(0.05, 500, 50, "poisson")
    assert many.covers(cap(5))
    assert not few.covers(many)
    # Of an unknown law, neither a smaller count nor a smaller tail follows.
    assert recorded_cap(many, largest=many.largest + 1, tail=0.01).covers(many)
    assert not recorded_cap(many, largest=many.largest - 1, tail=0.01).covers(many)
    assert not recorded_cap(many, largest=many.largest + 1, tail=1e-9).covers(many)


def test_a_law_covers_another_where_every_number_of_rows_is_as_likely_to_be_reached():
    def cap(*law):
        counts = np.arange(len(law))
        with np.errstate(divide="ignore"):
            return recorded_cap(
                n_rows=500, batch_size=50, sampling="poisson", largest=len(law) - 1,
                second_moment=float(counts**2 @ law), log_law=np.log(law),
            )  # fmt: skip

    rarely_many = cap(0.9, 0, 0, 0.1)
    assert not rarely_many.covers(cap(0.5, 0.5))
    assert rarely_many.covers(cap(0.9, 0.1))
    assert cap(0.5, 0.4, 0.1).covers(cap(0.6, 0.4 - 1e-11, 1e-11))


def test_bad_arguments():
    with pytest.raises(ValueError, match="accounting"):
        accountant("moments")
    with pytest.raises(ValueError, match="order"):
        accountant(order=1.0)
    with pytest.raises(ValueError, match="clipping"):
        GradientClipping((0.0,), (3,))
    with pytest.raises(ValueError, match="noise_multiplier"):
        CLIPPING.grid(1e-9, 512)
    with pytest.raises(ValueError, match="small"):
        accountant().noise_multiplier(1e-9, 10**6)
    with pytest.raises(ValueError, match="hide"):
        accountant(cap=DiscrepancyCap.differing(10, 0, 5)).noise_multiplier(1.0, 10)


def test_how_far_the_price_of_many_rows_is_above_an_attained_one():
    """Counts of more than 256 rows are merged; what that costs at most is stated."""
    clipping = GradientClipping((1.0,), (50,))

    def looseness(rows, **options):
        cap = DiscrepancyCap.differing(20_000, rows, 256, sampling="poisson")
        settings = {"order": 8.0, "accounting": "secret-batches", **options}
        return SRPPSGDAccountant(cap, clipping, **settings).looseness(8.0)

    assert looseness(20) == pytest.approx(1, abs=1e-3)
    assert 1 <= looseness(400) < 1.05
    assert looseness(400, accounting="worst-case") is None
