"""One-sided bounds for bounded means: exact small cases; coverage is in tests/statistical."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, special, stats
from scipy.stats import beta

from pacsklearn.kernel.bounds.mean_bound import chernoff_bounds, upper_mean_bounds
from pacsklearn.trials import mean_bound
from pacsklearn.trials.mean_bound import _bernstein, upper_mean_bound


def test_nothing_seen_is_nearly_clopper_pearson():
    exact = beta.ppf(1 - 1e-6, 1, 5000)
    bound = upper_mean_bound(np.zeros(5000), 0.0, 1.0, 1e-6)
    assert exact <= bound <= 1.25 * exact


@pytest.mark.product(only=4)
@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.7])
@pytest.mark.parametrize("gamma", [0.05, 0.3])
def test_exact_failure_probability_on_coins(p, gamma):
    # Every outcome of 60 coins by its number of heads: no sampling in this test.
    n = 60
    failure = sum(
        math.comb(n, k) * p**k * (1 - p) ** (n - k)
        for k in range(n + 1)
        if upper_mean_bound(np.repeat([1.0, 0.0], [k, n - k]), 0.0, 1.0, gamma) < p
    )
    assert failure <= gamma


def test_exact_failure_probability_with_three_values():
    values, weights = np.array([0.0, 0.4, 1.0]), np.array([0.55, 0.35, 0.1])
    n, gamma, failure = 25, 0.2, 0.0
    for i, j in itertools.product(range(n + 1), repeat=2):
        if i + j <= n:
            counts = [i, j, n - i - j]
            ways = math.factorial(n) // math.prod(math.factorial(c) for c in counts)
            if upper_mean_bound(np.repeat(values, counts), 0.0, 1.0, gamma) < weights @ values:
                failure += ways * math.prod(weights**counts)
    assert 0 < failure <= gamma


def test_better_than_bernstein_alone_and_not_below_the_mean():
    rng = np.random.default_rng(0)
    for draws in (rng.random(2000), rng.beta(0.2, 5, 2000), (rng.random(2000) < 0.01) * 1.0):
        bound = upper_mean_bound(draws, 0.0, 1.0, 1e-6)
        alone = upper_mean_bounds([draws.sum()], [draws @ draws], 2000, 0.0, 1.0, 1e-6)[0]
        assert draws.mean() < bound < alone


def test_both_bounds_share_the_failure_probability(monkeypatch):
    """What either may fail with adds up to gamma: taking the smaller bound is not free."""
    shares = []

    def spied(name):
        ordinary = getattr(mean_bound, name)

        def spy(*arguments):
            shares.append(arguments[-1])
            return ordinary(*arguments)

        monkeypatch.setattr(mean_bound, name, spy)

    spied("_betting")
    spied("_bernstein")
    for gamma in (0.5, 1e-3, 1e-12):
        shares.clear()
        upper_mean_bound(np.linspace(0.2, 0.4, 50), 0.0, 1.0, gamma)
        assert len(shares) == 2
        assert min(shares) > 0
        assert math.fsum(shares) <= gamma


def test_scale_and_shift():
    draws = np.random.default_rng(1).random(500)
    bound = upper_mean_bound(draws, 0.0, 1.0, 0.01)
    assert upper_mean_bound(3 * draws - 7, -7.0, -4.0, 0.01) == pytest.approx(3 * bound - 7)


def test_order_does_not_matter_and_confidence_costs():
    draws = np.random.default_rng(2).random(300)
    bounds = [upper_mean_bound(draws, 0.0, 1.0, gamma) for gamma in (0.5, 0.1, 1e-3, 1e-9)]
    assert bounds == sorted(bounds)
    assert upper_mean_bound(draws[::-1], 0.0, 1.0, 0.1) == bounds[1]


def test_never_above_the_range():
    assert upper_mean_bound(np.ones(10), 0.0, 1.0, 1e-9) == 1.0
    assert 0.75 < upper_mean_bound([0.5, 1.0], 0.5, 1.0, 0.01) <= 1.0
    assert upper_mean_bounds([10.0], [10.0], 10, 0.0, 1.0, 0.1).tolist() == [1.0]


def test_columns_follow_the_theorem():
    """The root of each bet's quadratic, found by search; and no lower than the bet's own bound."""
    rng = np.random.default_rng(3)
    draws, gamma, n = rng.uniform(0.5, 0.8, (400, 5)), 0.02, 400
    bounds = upper_mean_bounds(draws.sum(0), (draws**2).sum(0), n, 0.5, 1.0, gamma)
    bets = [0.95 / 2**j for j in range(8)]
    for x, bound in zip((draws.T - 0.5) / 0.5, (bounds - 0.5) / 0.5, strict=True):
        found, direct = [], []
        for bet in bets:
            cost = -math.log(1 - bet) - bet

            def lower(mean, x=x, bet=bet, cost=cost):
                return np.sum(bet * (mean - x) - cost * (mean - x) ** 2) - math.log(8 / gamma)

            def product(mean, x=x, bet=bet):
                return np.sum(np.log1p(bet * (mean - x))) - math.log(8 / gamma)

            peak = min(x.mean() + bet / (2 * cost), 1.0)
            if lower(peak) >= 0:
                found.append(optimize.brentq(lower, x.mean(), peak, xtol=1e-14))
                direct.append(optimize.brentq(product, x.mean(), 2.0, xtol=1e-14))
        assert bound == pytest.approx(min(found), rel=1e-9)
        assert min(direct) <= bound


@pytest.mark.parametrize("n", [2, 9, 400])
@pytest.mark.parametrize("gamma", [0.3, 1e-6])
@pytest.mark.parametrize("kind", ["even", "rare", "equal"])
def test_the_smaller_of_two_bounds_by_search(n, gamma, kind):
    """Betting by the averaged products themselves, Maurer and Pontil's theorem by its formula."""
    generator = np.random.default_rng(n)
    x = {
        "even": generator.random(n),
        "rare": np.r_[1.0, np.zeros(n - 1)],
        "equal": np.full(n, 0.25),
    }[kind]
    least = min(math.sqrt(2 * math.log(8 / (7 * gamma)) / n) / 8, 0.5)
    bets = 0.5 ** np.arange(math.ceil(math.log2(1 / least)) + 1)

    def excess(mean):
        with np.errstate(divide="ignore"):
            logs = np.log1p(bets[:, None] * ((1 - x) / (1 - mean) - 1)).sum(axis=1)
        return special.logsumexp(logs) - math.log(bets.size * 8 / (7 * gamma))

    low = x.mean()
    high = 1 - 1e-12
    betting = optimize.brentq(excess, low, high, xtol=1e-13) if excess(high) > 0 else 1.0
    log_term = math.log(2 * 8 / gamma)
    bernstein = low + math.sqrt(2 * x.var(ddof=1) * log_term / n) + 7 * log_term / (3 * (n - 1))
    expected = min(betting, bernstein, 1.0)
    bound = upper_mean_bound(x, 0.0, 1.0, gamma)
    assert expected <= bound <= expected + 3e-6
    assert upper_mean_bound(5 * x - 3, -3.0, 2.0, gamma) == pytest.approx(5 * bound - 3, rel=1e-9)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_empirical_bernstein_is_the_published_theorem(n):
    """Maurer and Pontil, Theorem 4, also for so few draws that betting is always better."""
    log_term = math.log(2 / 0.3)
    for variance in (0.0, 0.01, 0.25):
        expected = 0.2 + math.sqrt(2 * variance * log_term / n) + 7 * log_term / (3 * (n - 1))
        assert float(_bernstein(0.2, variance, n, 0.3)) == pytest.approx(expected, rel=1e-14)


def test_bernstein_counts_where_many_draws_hardly_vary():
    x = np.repeat([0.5, 0.5001], 50_000)
    log_term = math.log(16 / 0.5)
    expected = x.mean() + math.sqrt(2 * x.var(ddof=1) * log_term / x.size)
    expected += 7 * log_term / (3 * (x.size - 1))
    bound = upper_mean_bound(x, 0.0, 1.0, 0.5)
    assert bound <= expected * (1 + 3e-12)


@pytest.mark.parametrize("p", [0.001, 0.02, 0.3, 0.9])
@pytest.mark.parametrize("gamma", [0.3, 0.01])
def test_columns_fail_no_more_often_than_they_say(p, gamma):
    """All sums that coins can have, and the probability of those whose bound is too low."""
    n = 300
    counts = np.arange(n + 1.0)
    bounds = upper_mean_bounds(counts, counts, n, 0.0, 1.0, gamma)
    assert stats.binom.pmf(counts, n, p)[bounds < p].sum() <= gamma
    assert np.all(np.diff(bounds) >= 0)


def test_columns_of_a_small_variance_need_few_draws():
    """Less than half of Maurer and Pontil's distance, where the range is what counts."""
    n, gamma, mean, square = 1000, 1e-10, 0.03, 0.0015
    bound = upper_mean_bounds([n * mean], [n * square], n, 0.0, 1.0, gamma)[0]
    log_term = math.log(2 / gamma)
    variance = square - mean**2
    other = math.sqrt(2 * variance * log_term / n) + 7 * log_term / (3 * (n - 1))
    assert bound - mean < 0.5 * other


def test_columns_that_never_vary_survive_cancellation():
    n, value = 100_000, 0.9999999
    bounds = upper_mean_bounds([n * value], [n * value**2], n, 0.5, 1.0, 1e-6)
    assert bounds[0] >= value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], 0.0, 1.0, 0.1), "samples"),
        (([0.5, 1.5], 0.0, 1.0, 0.1), "samples"),
        (([0.5, np.nan], 0.0, 1.0, 0.1), "samples"),
        (([0.5, 0.5], 1.0, 1.0, 0.1), "low"),
        (([0.5, 0.5], 0.0, np.inf, 0.1), "low"),
        (([0.5, 0.5], 0.0, 1.0, 0.0), "gamma"),
        (([0.5, 0.5], 0.0, 1.0, 1.0), "gamma"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        upper_mean_bound(*arguments)


def test_sums_may_be_off_by_their_rounding_and_no_more():
    """A spread below zero by rounding counts as none; twice the stated error is what may be."""
    exact = upper_mean_bounds([500.0], [250.0], 1000, -1.0, 1.0, 0.05)
    rounded = upper_mean_bounds([500.0], [250.0 - 1.9e-9], 1000, -1.0, 1.0, 0.05)
    np.testing.assert_array_equal(rounded, exact)
    with pytest.raises(ValueError, match="those"):
        upper_mean_bounds([500.0], [250.0 - 2.1e-9], 1000, -1.0, 1.0, 0.05)


def test_sums_that_no_draws_have():
    with pytest.raises(ValueError, match="those"):
        upper_mean_bounds([11.0], [11.0], 10, 0.0, 1.0, 0.1)
    with pytest.raises(ValueError, match="those"):
        upper_mean_bounds([5.0], [1.0], 10, 0.0, 1.0, 0.1)
    with pytest.raises(ValueError, match="entry"):
        upper_mean_bounds([5.0, 5.0], [5.0], 10, 0.0, 1.0, 0.1)


@pytest.mark.parametrize("gamma", [0.3, 1e-2, 1e-6])
@pytest.mark.parametrize("mean", [0.01, 0.2, 0.7, 0.99])
def test_chernoff_bounds_cover_coins_exactly(mean: float, gamma: float) -> None:
    """The probability of every sum whose bound is too low, added up."""
    n = 60
    bounds = chernoff_bounds(np.arange(n + 1) / n, n, gamma)
    missed = stats.binom.pmf(np.arange(n + 1), n, mean)[bounds < mean].sum()
    assert missed <= gamma
    # No looser than the divergence it is made of.
    known = np.arange(1, n)[:, None] / n
    at = bounds[1:-1][:, None]
    divergence = known * np.log(known / at) + (1 - known) * np.log((1 - known) / (1 - at))
    np.testing.assert_allclose(divergence, math.log(1 / gamma) / n, rtol=1e-4)


def test_chernoff_bounds_refuse_what_is_no_mean() -> None:
    with pytest.raises(ValueError, match="means"):
        chernoff_bounds([1.5], 10, 0.1)
    np.testing.assert_array_equal(chernoff_bounds([1.0], 10, 0.1), 1.0)
    # A mean that rounding has put above one by a billionth is one, and no more than that.
    np.testing.assert_array_equal(chernoff_bounds([1.0 + 1e-9], 10, 0.1), 1.0)
    with pytest.raises(ValueError, match="vector"):
        chernoff_bounds([np.nextafter(1.0 + 1e-9, 2.0)], 10, 0.1)
