"""Counts of differing rows in a batch, against simulation, enumeration and the paper's numbers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from pacsklearn.srpp.divergence import discrepancy as counts
from pacsklearn.srpp.divergence.discrepancy import SAMPLINGS

PAPER = (50_000, 20, 512, "without-replacement")


def test_the_papers_numbers():
    assert counts.largest_discrepancy(*PAPER) == 20
    # Independently: sums over the law, in exact arithmetic.
    n, d, b, _ = PAPER
    total = math.comb(n, b)
    law = [math.comb(d, k) * math.comb(n - d, b - k) / total for k in range(d + 1)]
    assert sum(k * p for k, p in enumerate(law)) == pytest.approx(0.2048, rel=1e-12)
    square = sum(k * k * p for k, p in enumerate(law))
    assert square <= counts.second_moment(*PAPER) <= square * (1 + 1e-10)
    np.testing.assert_allclose(np.exp(counts.discrepancy_log_law(*PAPER)), law, rtol=1e-9)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(("n", "d", "b"), [(7, 3, 4), (5, 5, 2), (6, 0, 3), (4, 2, 4), (1, 1, 1)])
def test_every_batch_of_a_small_table(n, d, b, sampling):
    if sampling == "without-replacement":
        batches = [(set(batch), 1.0) for batch in itertools.combinations(range(n), b)]
    elif sampling == "with-replacement":
        batches = [(batch, 1.0) for batch in itertools.product(range(n), repeat=b)]
    else:
        q = b / n
        batches = [
            (np.flatnonzero(bits), q ** sum(bits) * (1 - q) ** (n - sum(bits)))
            for bits in itertools.product([0, 1], repeat=n)
        ]
    weights = np.array([weight for _, weight in batches])
    found = np.array([sum(row < d for row in batch) for batch, _ in batches])
    weights = weights / weights.sum()
    assert found[weights > 0].max() == counts.largest_discrepancy(n, d, b, sampling)
    assert weights @ found == pytest.approx(b * d / n)
    assert weights @ found**2 == pytest.approx(counts.second_moment(n, d, b, sampling))
    law = np.bincount(found, weights, minlength=found.max() + 1)
    np.testing.assert_allclose(
        np.exp(counts.discrepancy_log_law(n, d, b, sampling))[: law.size], law, atol=1e-12
    )


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(("n", "b"), [(50, 12), (1000, 10), (7, 7)])
def test_squares_of_independent_rows_in_exact_arithmetic(n, b, sampling):
    """Variance and square of the mean of a binomial count; drawn twice, a row counts twice."""
    for variation in (0.0, 1e-9, 0.2, 0.7, 1.0):
        tau, trials = Fraction(variation), b
        if sampling == "poisson":
            tau, trials = tau * b / n, n
        exact = trials * tau * (1 - tau) + (trials * tau) ** 2
        if sampling == "with-replacement":
            exact += Fraction(b * (b - 1), n) * tau * (1 - tau)
        found = Fraction(counts.variation_second_moment(variation, n, b, sampling))
        assert exact * (1 + Fraction(5, 10**12)) <= found <= exact * (1 + Fraction(2, 10**11))


@pytest.mark.product(only=1)
@pytest.mark.statistical
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_independent_rows(sampling):
    """Five standard errors of 60,000 draws: fails once in a million by chance."""
    n, b, tau = 30, 12, 0.2
    generator = np.random.default_rng(0)
    found = np.empty(60_000)
    for i in range(found.size):
        mismatch = generator.random(n) < tau
        if sampling == "without-replacement":
            rows = generator.permutation(n)[:b]
        elif sampling == "with-replacement":
            rows = generator.integers(0, n, b)
        else:
            rows = np.flatnonzero(generator.random(n) < b / n)
        found[i] = mismatch[rows].sum()
    moment = counts.variation_second_moment(tau, n, b, sampling)
    error = (found**2).std() / math.sqrt(found.size)
    assert abs((found**2).mean() - moment) < 5 * error
    # The published formula is off with replacement, where rows repeat.
    published = b * tau * (1 - tau) + (b * tau) ** 2
    assert (abs((found**2).mean() - published) > 5 * error) == (sampling != "without-replacement")
    tail = counts.variation_tail(tau, n, b, sampling, 0.01)
    assert (found > tail).mean() < 0.01 + 5 * math.sqrt(0.01 / found.size)


def test_tails_are_not_above_hoeffdings():
    b, tau, delta = 512, 0.01, 1e-6
    published = b * tau + math.sqrt(b / 2 * math.log(1 / delta))
    found = counts.variation_tail(tau, 50_000, b, "without-replacement", delta)
    assert stats.binom.sf(found, b, tau) <= delta < stats.binom.sf(found - 1, b, tau)
    assert found < published


def test_sampled_bounds():
    generator = np.random.default_rng(1)
    draws = generator.hypergeometric(20, 980, 100, 20_000)
    true = counts.second_moment(1000, 20, 100, "without-replacement")
    tight = counts.sampled_second_moment(draws, 100, 1e-3)
    # The published bound, by Hoeffding's inequality (srpp, Lemma D.1).
    slack = 100**2 * math.sqrt(math.log(2 / 1e-3) / (2 * draws.size))
    assert true < tight < np.mean(draws**2.0) + slack
    tail = counts.sampled_tail(draws, 100, 0.05, 1e-3)
    assert stats.hypergeom.sf(tail, 1000, 20, 100) <= 0.05
    assert tail < 100
    assert counts.sampled_tail(draws[:100], 100, 0.05, 1e-3) == 100  # too few draws


@pytest.mark.parametrize("n", [100, 1000, 7919])
@pytest.mark.parametrize(("delta", "gamma"), [(0.5, 0.3), (0.2, 0.05), (0.137, 0.01)])
def test_a_sampled_tail_is_an_order_statistic(n, delta, gamma):
    """The least whose empirical excess is below delta by the inequality's slack (srpp, D.2)."""
    draws = np.random.default_rng(n).permutation(n)
    slack = math.sqrt(math.log(2 / gamma) / (2 * n))
    enough = [value for value in range(n) if n - 1 - value <= (delta - slack) * n]
    expected = enough[0] if delta > slack else 2 * n
    assert counts.sampled_tail(draws, 2 * n, delta, gamma) == expected


@pytest.mark.statistical
def test_sampled_bounds_fail_as_rarely_as_stated():
    """200 estimates at gamma = 0.2; more than 70 failures have a probability below 1e-6."""
    generator = np.random.default_rng(2)
    law = np.exp(counts.discrepancy_log_law(100, 10, 20, "without-replacement"))
    true = law @ np.arange(law.size) ** 2.0
    draws = generator.hypergeometric(10, 90, 20, (200, 200))
    moments = [counts.sampled_second_moment(each, 20, 0.2) for each in draws]
    assert np.sum(np.array(moments) < true) <= 70
    tails = np.array([counts.sampled_tail(each, 20, 0.2, 0.2) for each in draws])
    assert np.sum(stats.hypergeom.sf(tails, 100, 10, 20) > 0.2) <= 70


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: counts.second_moment(10, 11, 2, "poisson"), "n_differing"),
        (lambda: counts.second_moment(10, 1, 11, "poisson"), "batch_size"),
        (lambda: counts.second_moment(10, 1, 2, "cyclic"), "sampling"),
        (lambda: counts.sampled_tail([1, 2, 30], 20, 0.1, 0.1), "draws"),
        (lambda: counts.sampled_tail([1], 20, 0.1, 0.1), "draws"),
        (lambda: counts.variation_tail(0.1, 10, 2, "poisson", 0.0), "delta"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(("batch", "most"), [(1, 81), (100, 540), (10_000, 14_040)])
def test_poisson_batches_are_cut_off_where_hardly_any_is_larger(batch, most):
    n = 1_000_000
    assert counts.largest_batch(n, batch, "poisson") == most
    assert stats.binom.logsf(most, n, batch / n) < math.log(1e-100)
    assert counts.largest_batch(most - 1, batch, "poisson") == most - 1
