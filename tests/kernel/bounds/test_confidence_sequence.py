"""Intervals that hold whenever counting stops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from pacsklearn.audit.bounds.confidence_sequence import confidence_sequence


@pytest.mark.parametrize(("right", "trials"), [(0, 7), (3, 7), (7, 7), (41, 90)])
def test_ends_are_where_the_mixture_is_a_thousand_times_likelier(right, trials):
    """Against quadrature over the mixture of coins."""

    def ratio(p):
        # q = sin(t)^2 takes the mixture's singular ends away.
        def weight(t):
            q = np.sin(t) ** 2
            return (q / p) ** right * ((1 - q) / (1 - p)) ** (trials - right)

        return integrate.quad(weight, 0, np.pi / 2, epsabs=0, epsrel=1e-10)[0] * 2 / np.pi

    low, high = confidence_sequence(right, trials, 0.999)
    if right:
        assert ratio(low) == pytest.approx(1000, rel=1e-6)
    else:
        assert low == 0
    if right < trials:
        assert ratio(high) == pytest.approx(1000, rel=1e-5)
    else:
        assert high == 1


@pytest.mark.soak
@pytest.mark.statistical
def test_looking_after_every_trial_stays_valid_where_the_exact_interval_does_not():
    """2,000 coins of 400 tosses; the level is 95 %, four standard errors are 2 %."""
    tosses = np.random.default_rng(0).random((2000, 400)) < 0.3
    counts = tosses.cumsum(axis=1)
    trials = np.arange(1, 401)
    ends = np.array([confidence_sequence(k, 400, 0.95) for k in range(401)])
    assert np.all(np.diff(ends[:, 0]) > 0)
    mixture = stats.betabinom.logpmf(counts, trials, 0.5, 0.5) - stats.binom.logpmf(
        counts, trials, 0.3
    )
    missed = np.mean((mixture >= np.log(20)).any(axis=1))
    assert missed <= 0.05
    last = ends[counts[:, -1]]
    outside = (last[:, 0] > 0.3) | (last[:, 1] < 0.3)
    np.testing.assert_array_equal(outside, mixture[:, -1] >= np.log(20))
    exact = stats.beta.ppf(0.025, counts, trials - counts + 1)
    assert np.mean((np.nan_to_num(exact) > 0.3).any(axis=1)) > 0.1


def test_it_is_wider_than_the_exact_interval():
    low, high = confidence_sequence(570, 1000, 0.999)
    exact = stats.binomtest(570, 1000).proportion_ci(0.999)
    assert low < exact.low < exact.high < high


def test_bad_counts_are_named():
    with pytest.raises(ValueError, match="n_successes"):
        confidence_sequence(4, 3, 0.9)
    with pytest.raises(ValueError, match="level"):
        confidence_sequence(1, 3, 1.0)
