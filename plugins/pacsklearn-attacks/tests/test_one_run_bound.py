"""Auditing by one run: the chance of so many right guesses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pacsklearn_attacks.one_run import one_run_epsilon, one_run_p_value
from scipy import stats


def test_without_delta_it_is_a_binomial_tail():
    """Against the sum, term by term."""
    share = math.e / (1 + math.e)
    expected = sum(math.comb(20, k) * share**k * (1 - share) ** (20 - k) for k in range(17, 21))
    assert one_run_p_value(1.0, 0.0, 50, 20, 17) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon", [math.nan, -1.0])
def test_what_is_no_epsilon_is_refused(epsilon):
    """The chance was NaN."""
    with pytest.raises(ValueError, match="epsilon must be"):
        one_run_p_value(epsilon, 0.0, 50, 20, 17)


def test_delta_adds_the_largest_step():
    share = math.e / (1 + math.e)
    tail = [stats.binom.sf(17 - i - 1, 20, share) for i in range(18)]
    steps = max((tail[i] - tail[0]) / i for i in range(1, 18))
    found = one_run_p_value(1.0, 1e-3, 50, 20, 17)
    assert found == pytest.approx(tail[0] + 2 * 50 * 1e-3 * steps, rel=1e-12)
    assert one_run_p_value(1.0, 1.0, 50, 20, 17) == 1.0


@pytest.mark.statistical
def test_randomised_response_is_hardly_ever_refuted_and_its_epsilon_is_found():
    """4,000 audits of coins told right with e / (1 + e): at most 5 % are refuted."""
    generator = np.random.default_rng(0)
    right = generator.binomial(200, math.e / (1 + math.e), size=4000)
    found = np.array([one_run_epsilon(0.95, 0.0, 200, 200, int(k)) for k in np.unique(right)])
    bounds = dict(zip(np.unique(right).tolist(), found, strict=True))
    refuted = np.mean([bounds[int(k)] > 1.0 for k in right])
    assert refuted <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 4000)
    assert 0.6 < np.median([bounds[int(k)] for k in right]) < 1.0


def test_epsilon_is_where_the_chance_meets_the_level():
    found = one_run_epsilon(0.99, 1e-5, 1000, 100, 95)
    assert one_run_p_value(found, 1e-5, 1000, 100, 95) <= 0.01
    assert one_run_p_value(found + 1e-3, 1e-5, 1000, 100, 95) > 0.01
    assert one_run_epsilon(0.99, 0.0, 100, 10, 5) == 0.0


@pytest.mark.parametrize("n_guesses", [1, 40, 10_000])
def test_guesses_that_are_all_right_refute_what_a_binomial_does(n_guesses):
    """``share ** n_guesses = 0.05``, by its inverse; no guess, or no right one, says nothing."""
    share = 0.05 ** (1 / n_guesses)
    epsilon = max(math.log(share / (1 - share)), 0.0)
    found = one_run_epsilon(0.95, 0.0, n_guesses, n_guesses, n_guesses)
    assert epsilon * (1 - 2e-6) <= found <= epsilon
    for delta in (0.0, 0.5):
        assert one_run_p_value(1.0, delta, n_guesses, n_guesses, 0) == 1.0
        assert one_run_p_value(1.0, delta, n_guesses, 0, 0) == 1.0


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, math.nan])
def test_levels_are_probabilities(level):
    with pytest.raises(ValueError, match="level"):
        one_run_epsilon(level, 0.0, 10, 5, 5)


def test_bad_counts_are_named():
    with pytest.raises(ValueError, match="n_right"):
        one_run_p_value(1.0, 0.0, 10, 11, 6)
    with pytest.raises(ValueError, match="n_right"):
        one_run_p_value(1.0, 0.0, 10, 5, 6)
