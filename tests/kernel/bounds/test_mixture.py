"""Posteriors of mixtures whose candidates are as far apart as they like."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from pacsklearn_papers.information_estimate import certified_information, leakage

from pacsklearn.estimators.individual_information import individual_information
from pacsklearn.kernel.bounds.criterion_success import Looks, certified_success
from pacsklearn.kernel.bounds.mixture import (
    GaussianMixture,
    MixtureDraws,
    posteriors,
    single_posteriors,
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


def test_logarithms_in_single_precision_cost_a_tenth_of_what_draws_cost() -> None:
    """128 candidates in all directions, as those of a model with many coefficients are.

    At the usual cap of 60 % they have to do. Wherever they are taken, from 55 % on, what is added
    for them stays below a tenth of what a certificate adds for its draws: about
    ``sqrt(2 v ln(1/g) / n)`` for a success of variance ``v``, with ``g`` and ``n`` as by default.
    """
    m, rows, gamma, unit = 128, 100, 1e-6, 2.0**-24
    looks = Looks.of(rows, m, 2**13)
    inside = balanced_space(rows, n_subsets=m).membership()
    most_by_doubles = (2 * math.log(m) + 20 + m) * unit
    quick = []
    for size in np.linspace(1.2, 4.0, 15):
        mixture = GaussianMixture(size * np.eye(m), np.full(m, 1 / m))
        draws = next(mixture.draws(1000, np.random.default_rng(0)))
        most = single_posteriors(mixture, draws)[1]
        if most != most_by_doubles:
            success = 0.5 + np.abs(posteriors(mixture, draws) @ inside.T - 0.5)
            parts = math.log(3 * looks.narrow / gamma)
            assert most < success.std() * math.sqrt(2 * parts / looks.third) / 10
            quick.append(success.mean())
    assert max(quick, default=0.0) > 0.6


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
