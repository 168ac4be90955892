"""Posteriors of mixtures whose candidates are as far apart as they like."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pacsklearn_papers.mixture_information import certified_information, leakage

from pacsklearn.estimators.individual_information import individual_information
from pacsklearn.kernel.bounds.criterion_success import certified_success
from pacsklearn.kernel.bounds.mixture import (
    GaussianMixture,
    MixtureDraws,
    belief_entropy,
    posteriors,
    uniform_belief,
    update_belief,
)
from pacsklearn.kernel.budget.guess_criterion import identification
from pacsklearn.secrets import balanced_space

SPACE = balanced_space(40, n_subsets=8)


def by_mpmath(mixture: GaussianMixture, draws: MixtureDraws, row: int) -> list[mpmath.mpf]:
    """Posterior of one draw, at 50 digits, from its definition."""
    secret = int(draws.secrets[row])
    joint = []
    for signal, weight in zip(mixture.signals.tolist(), mixture.weights.tolist(), strict=True):
        distance = mpmath.fsum(
            ((mpmath.mpf(own) - other) / mpmath.mpf(mixture.scale) + mpmath.mpf(noise)) ** 2
            for own, other, noise in zip(
                mixture.signals[secret].tolist(), signal, draws.noise[row].tolist(), strict=True
            )
        )
        joint.append(mpmath.mpf(weight) * mpmath.exp(-distance / 2))
    total = mpmath.fsum(joint)
    return [part / total for part in joint]


def hostile(seed: int) -> GaussianMixture:
    """Clusters, chains and outliers with spreads from 1 to 1e12, in any order."""
    generator = np.random.default_rng([20, seed])
    m, k = int(generator.integers(2, 8)), int(generator.integers(1, 4))
    signals = generator.standard_normal((m, k))
    for _ in range(int(generator.integers(1, 4))):
        far = generator.random(m) < 0.4
        signals[far] += 10 ** generator.uniform(0, 12) * generator.standard_normal(k)
    weights = generator.dirichlet(np.full(m, generator.choice([0.1, 1.0, 50.0])))
    if seed % 2:
        return GaussianMixture(np.rint(signals * 2**20).astype(np.int64), weights, 2.0**20)
    return GaussianMixture(signals, weights)


def test_posteriors_of_600_mixtures_against_50_digits() -> None:
    worst = 0.0
    with mpmath.workdps(50):
        for seed in range(600):
            mixture = hostile(seed)
            draws = next(mixture.draws(1, np.random.default_rng(seed)))
            exact = by_mpmath(mixture, draws, 0)
            plain = posteriors(mixture, draws)[0]
            told = math.log(mixture.n_possible)
            for value, probability in zip(exact, plain, strict=True):
                assert abs(float(value) - probability) < 1e-9
                if value > 1e-300:
                    worst = max(worst, abs(float(mpmath.log(value)) - math.log(probability)))
                    told += float(value * mpmath.log(value))
                else:
                    assert probability < 1e-299
            assert leakage(mixture, draws)[0] == pytest.approx(told, abs=1e-8)
    assert worst < 1e-8


def test_a_chain_longer_than_a_neighbourhood() -> None:
    """Neighbours at distance 1 all along a line: no cut between balls may show."""
    signals = np.arange(3000.0)[:, None]
    mixture = GaussianMixture(signals, np.full(3000, 1 / 3000))
    assert len(mixture.neighbourhoods[0]) > 3
    draws = next(mixture.draws(200, np.random.default_rng(0)))
    released = signals[draws.secrets] + draws.noise
    logs = -((released - signals.T) ** 2) / 2
    expected = np.exp(logs - logs.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posteriors(mixture, draws), expected, atol=1e-9)


class TestOneRowFarAway:
    """A mean of 40 rows, one of them at 9.65e8: the maximum of the likelihood names the secret.

    Every candidate is told from every other, so the truth is ln 8; 1.95 nats were certified here,
    and less in other units, before posteriors were computed from differences.
    """

    @staticmethod
    def mixture(order: np.ndarray) -> GaussianMixture:
        rows = np.random.default_rng(0).standard_normal((40, 1))
        rows[7] = 9.65e8
        means = SPACE.membership().T @ rows / 20
        return GaussianMixture(means[order], np.full(8, 1 / 8), 1e-3)

    @pytest.mark.parametrize("order", [np.arange(8), np.arange(8)[::-1], np.roll(np.arange(8), 3)])
    def test_the_certificate_is_not_below_what_the_attack_learns(self, order: np.ndarray) -> None:
        mixture = self.mixture(order)
        generator = np.random.default_rng(1)
        secrets = generator.integers(8, size=60)
        released = mixture.signals[secrets] + 1e-3 * generator.standard_normal((60, 1))
        guesses = np.argmin(np.abs(released - mixture.signals.T), axis=1)
        assert np.array_equal(guesses, secrets)
        bound = certified_information(mixture, 2**12, 1e-6, np.random.default_rng(2))
        assert bound == pytest.approx(math.log(8), abs=1e-9)

    def test_success_and_units(self) -> None:
        mixture = self.mixture(np.arange(8))
        gamma, generator = 1e-6, np.random.default_rng(2)
        success = certified_success(mixture, identification(SPACE), 2**10, gamma, generator)
        assert success == pytest.approx(1.0)
        told = individual_information(
            mixture, SPACE.membership(), n_draws=2**10, gamma=gamma, generator=generator
        )
        np.testing.assert_allclose(told.values, math.log(2))


def test_signals_that_are_no_numbers_are_refused() -> None:
    half = np.array([0.5, 0.5])
    with pytest.raises(ValueError, match="signals"):
        GaussianMixture(np.array([[0.0], [np.inf]]), half)
    with pytest.raises(ValueError, match="scale"):
        GaussianMixture(np.zeros((2, 1)), half, 0.0)
    # What nobody believes in may overflow.
    certain = GaussianMixture(np.array([[0.0], [np.inf]]), np.array([1.0, 0.0]))
    assert certified_information(certain, 100, 1e-6, np.random.default_rng(0)) == 0.0


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
    with pytest.raises(ValueError, match="log_likelihood"):
        update_belief(uniform_belief(2), [0.0, np.nan])
    with pytest.raises(ValueError, match="log_weights"):
        update_belief([0.0, np.inf], [0.0, 0.0])
    with pytest.raises(ValueError, match="log_weights"):
        belief_entropy([0.0, np.nan])
    with pytest.raises(ValueError, match="m"):
        uniform_belief(0)
