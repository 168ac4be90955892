"""The estimate by Donsker and Varadhan lies between 0 and the exact gap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from pacsklearn_papers import donsker_varadhan
from pacsklearn_papers.gaussianity_gap import SurrogateGap
from pacsklearn_papers.information_estimate import mixture_information
from scipy.stats import binomtest
from surrogate_gaps import GAPS, exact

from pacsklearn.kernel.bounds.mean_bound import upper_mean_bounds
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.trials.mean_bound import upper_mean_bound


@pytest.mark.product(only=2)
@pytest.mark.parametrize("name", GAPS)
def test_donsker_varadhan_lies_between_zero_and_the_gap(name):
    found = donsker_varadhan(GAPS[name])
    assert 0.0 <= found.value <= exact(name)
    assert 0.6 * exact(name) - 0.01 <= found.estimate <= exact(name) + 0.03
    if exact(name) > 0.1:
        assert found.value > 0.6 * exact(name)


@pytest.mark.parametrize(("n", "seed", "gamma"), [(400, 3, 1e-3), (3000, 0, 0.1)])
def test_the_critic_is_chosen_and_priced_as_the_notes_say(n, seed, gamma):
    """Every slope and range tried in turn on the training draws, the best one on fresh ones."""
    gap = SurrogateGap([[-1.0], [1.0], [4.0]], [0.5, 0.3, 0.2], [0.2])
    streams = [np.random.default_rng([seed, split]) for split in range(4)]
    ratios = [
        gap.log_ratio((gap.draw, gap.draw_gaussian)[split % 2](streams[split], n))
        for split in range(4)
    ]

    def moved(values, slope, low, high):
        return np.minimum(np.maximum(slope * values, low), high) - high

    def bounded(values, low, high):
        sums = [values.sum()], [(values**2).sum()]
        return upper_mean_bounds(*sums, n, low, high, gamma / 2)[0]

    best = (0.0,)
    for slope, left, right in itertools.product(
        (0.25, 0.5, 0.75, 1.0), (0.9, 0.99, 0.999, 1.0), (0.9, 0.99, 0.999, 1.0)
    ):
        low, high = slope * np.quantile(ratios[0], 1 - left), slope * np.quantile(ratios[0], right)
        mean = -bounded(-moved(ratios[0], slope, low, high), 0.0, high - low)
        tilted = np.exp(moved(ratios[1], slope, low, high))
        value = mean - np.log(bounded(tilted, np.exp(low - high), 1.0))
        best = max(best, (value, slope, low, high))
    _, *critic = best
    low, high = critic[1:]
    ours, theirs = (moved(ratios[split], *critic) for split in (2, 3))
    mean = -upper_mean_bound(-ours, 0.0, high - low, gamma / 2)
    tilted = np.clip(np.exp(theirs), np.exp(low - high), 1.0)
    total = upper_mean_bound(tilted, np.exp(low - high), 1.0, gamma / 2)
    found = donsker_varadhan(gap, n_draws=n, gamma=gamma, seed=seed)
    assert found.value == pytest.approx(max(mean - np.log(total), 0.0), rel=1e-9)
    assert found.estimate == pytest.approx(ours.mean() - np.log(tilted.mean()), rel=1e-9)
    assert found.confidence == 1 - gamma
    assert 0 < found.value < found.estimate


def test_a_gaussian_has_no_gap():
    gap = SurrogateGap([[3.0, 1.0]], [1.0], [1.0, 2.0])
    assert donsker_varadhan(gap, n_draws=1000).value == 0.0


def test_scale_does_not_matter():
    gap = GAPS["plane"]
    scaled = SurrogateGap(gap.points * 1e6, gap.weights, gap.noise * 1e12)
    assert donsker_varadhan(scaled).value == pytest.approx(donsker_varadhan(gap).value)


@pytest.mark.soak
@pytest.mark.statistical
@pytest.mark.parametrize(
    "name",
    [
        "one rare far point",
        *(pytest.param(f"two {how} points", marks=pytest.mark.soak) for how in ("far", "near")),
    ],
)
def test_the_estimate_exceeds_the_gap_no_more_often_than_gamma(name):
    # A true rate of gamma passes with probability 1 - 1e-4.
    failures = sum(
        donsker_varadhan(GAPS[name], n_draws=300, gamma=0.2, seed=seed).value > exact(name)
        for seed in range(100)
    )
    assert binomtest(failures, 100, 0.2, alternative="greater").pvalue > 1e-4


@pytest.mark.soak
def test_corrections_stay_below_the_mutual_information_s_room():
    # logdet - correction is still a bound: above the exact mutual information.
    for name, gap in GAPS.items():
        information = gap.logdet - exact(name)
        assert information > 0
        assert gap.logdet - donsker_varadhan(gap).value >= information


def test_beside_the_mixture_s_own_information_in_many_dimensions():
    # Two implementations of one mixture: the exact value and the correction.
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(32, 8)), np.full(32, 1 / 32)
    gap = SurrogateGap(points, weights, np.full(8, 0.4))
    mixture = GaussianMixture(points / np.sqrt(0.4), weights)
    found = mixture_information(mixture, 40_000, np.random.default_rng(5))
    exact_gap = gap.logdet - found.nats
    assert exact_gap > 0.2
    slack = 5 * found.standard_error
    assert 0 < donsker_varadhan(gap).value <= exact_gap + slack


class TestFarApart:
    """Corrections lower a bound that is promised: beyond what doubles hold they are zero."""

    @pytest.mark.soak
    def test_log_ratios_beyond_the_largest_exponential(self) -> None:
        """1,800 coordinates: exponentials of log-ratios more than 709 apart."""
        points = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]]).repeat(900, axis=1)
        gap = SurrogateGap(points, np.full(4, 0.25), np.full(1800, 0.2))
        ratios = gap.log_ratio(gap.draw(np.random.default_rng(0), 50))
        on_gaussian = gap.log_ratio(gap.draw_gaussian(np.random.default_rng(0), 50))
        assert ratios.max() - on_gaussian.min() > 709
        with np.errstate(over="raise", invalid="raise"):
            found = donsker_varadhan(gap, n_draws=400)
        # The mixture's own information is at most ln 4.
        assert 0 <= found.value <= gap.logdet
        assert np.isfinite(found.estimate)

    def test_critics_of_large_values_do_not_overflow(self) -> None:
        rare = SurrogateGap([[0.0], [2000.0]], [1 - 1e-4, 1e-4], [1.0])
        assert rare.log_ratio([[2000.0]]).max() < 5e3
        with np.errstate(over="raise", invalid="raise"):
            found = donsker_varadhan(rare, n_draws=2000)
        assert 0 <= found.value <= rare.logdet

    @pytest.mark.parametrize("distance", [1e5, 1e9])
    def test_a_covariance_that_doubles_do_not_hold(self, distance: float) -> None:
        points = np.array([[0.0, 0.0], [distance, 1.0], [distance, -1.0]])
        gap = SurrogateGap(points, [0.5, 0.25, 0.25], [1.0, 1.0])
        assert donsker_varadhan(gap, n_draws=100).value == 0.0
