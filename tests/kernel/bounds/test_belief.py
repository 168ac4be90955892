"""Beliefs, updated by Bayes' rule and never floored."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pacsklearn.kernel.bounds.belief import belief_entropy, uniform_belief, update_belief


def test_uniform() -> None:
    belief = uniform_belief(128)
    assert belief.shape == (128,)
    assert np.exp(belief).sum() == pytest.approx(1.0, rel=1e-14)
    assert belief_entropy(belief) == pytest.approx(math.log(128), rel=1e-14)


def test_agrees_with_exact_fractions() -> None:
    exact = [Fraction(1, 3)] * 3
    belief = uniform_belief(3)
    answers = [(7, 1, 2), (1, 9, 9), (3, 3, 1), (1, 100, 5)]
    for likelihood in answers * 5:
        exact = [p * value for p, value in zip(exact, likelihood, strict=True)]
        total = sum(exact)
        exact = [p / total for p in exact]
        belief = update_belief(belief, np.log(np.array(likelihood) / 1000))
    np.testing.assert_allclose(np.exp(belief), [float(p) for p in exact], rtol=1e-12)


def test_weights_below_the_smallest_double_are_kept_and_can_recover() -> None:
    start = uniform_belief(3)
    gone = update_belief(start, [0.0, -5000.0, -9000.0])
    np.testing.assert_allclose(gone, [0.0, -5000.0, -9000.0], rtol=1e-15)
    assert belief_entropy(gone) == 0.0
    back = update_belief(gone, [0.0, 5000.0, 9000.0])
    np.testing.assert_allclose(back, start, atol=1e-11)


def test_many_updates_equal_one() -> None:
    generator = np.random.default_rng(3)
    steps = generator.normal(scale=30.0, size=(200, 16))
    belief = uniform_belief(16)
    for step in steps:
        belief = update_belief(belief, step)
    at_once = update_belief(uniform_belief(16), steps.sum(axis=0))
    np.testing.assert_allclose(belief, at_once, atol=1e-9)
    assert belief.min() < -745  # below the logarithm of the smallest double


def test_near_certainty_keeps_the_digits_of_the_doubt() -> None:
    belief = update_belief(uniform_belief(2), [0.0, -60.0])
    with localcontext() as context:
        context.prec = 60
        odds = Decimal(-60).exp()
        exact = -(1 + odds).ln()
    assert belief[0] == pytest.approx(float(exact), rel=1e-14)


def test_impossible_candidates_stay_impossible() -> None:
    belief = update_belief([math.log(0.5), -np.inf, math.log(0.5)], [-1.0, 50.0, -1.0])
    assert belief[1] == -np.inf
    assert belief_entropy(belief) == pytest.approx(math.log(2))
    ruled_out = update_belief(uniform_belief(2), [-np.inf, -3.0])
    np.testing.assert_array_equal(ruled_out, [-np.inf, 0.0])


@given(
    values=hnp.arrays(
        np.float64, st.integers(1, 20), elements=st.floats(-1e6, 1e6, allow_nan=False)
    ),
    shift=st.floats(-1e6, 1e6),
)
def test_normalised_and_blind_to_a_common_constant(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], shift: float
) -> None:
    prior = uniform_belief(len(values))
    belief = update_belief(prior, values)
    assert np.exp(belief).sum() == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(update_belief(prior, values + shift), belief, atol=1e-8)
    assert 0.0 <= belief_entropy(belief) <= math.log(len(values)) + 1e-9


def test_inputs_are_left_alone() -> None:
    prior, likelihood = uniform_belief(4), np.array([0.0, -1.0, -2.0, -3.0])
    kept = prior.copy(), likelihood.copy()
    update_belief(prior, likelihood)
    np.testing.assert_array_equal(prior, kept[0])
    np.testing.assert_array_equal(likelihood, kept[1])


def test_entropy_falls_as_one_candidate_wins() -> None:
    entropies = [
        belief_entropy(update_belief(uniform_belief(4), [gain, 0.0, 0.0, 0.0]))
        for gain in (0.0, 1.0, 4.0, 16.0, 64.0)
    ]
    assert all(before > after for before, after in pairwise(entropies))
    assert belief_entropy([math.log(0.25), math.log(0.75)]) == pytest.approx(
        0.25 * math.log(4) + 0.75 * math.log(4 / 3)
    )
    assert belief_entropy([5.0, 5.0]) == pytest.approx(math.log(2))


def test_errors() -> None:
    with pytest.raises(ValueError, match="Every"):
        update_belief(uniform_belief(2), [-np.inf, -np.inf])
    with pytest.raises(ValueError, match="shapes"):
        update_belief(uniform_belief(2), [0.0])
    with pytest.raises(ValueError, match="shapes"):
        update_belief([], [])
    with pytest.raises(ValueError, match="log_likelihood"):
        update_belief(uniform_belief(2), [0.0, np.nan])
    with pytest.raises(ValueError, match="log_weights"):
        update_belief([0.0, np.inf], [0.0, 0.0])
    with pytest.raises(ValueError, match="log_weights"):
        belief_entropy([0.0, np.nan])
    with pytest.raises(ValueError, match="shape"):
        belief_entropy(0.0)
    with pytest.raises(ValueError, match="m"):
        uniform_belief(0)
