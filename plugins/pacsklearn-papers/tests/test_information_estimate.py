"""The true mutual information of a mixture, against quadrature and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pacsklearn_papers.information_estimate import (
    certified_information,
    leakage,
    mixture_information,
)
from scipy import integrate, stats

from pacsklearn.kernel.bounds.lattice_bound import logdet_bound
from pacsklearn.kernel.bounds.mixture import GaussianMixture, MixtureDraws, posteriors


def by_quadrature(signals: list[float], weights: list[float]) -> float:
    """``h(Y) - h(noise)`` of a one-dimensional mixture."""

    def density(y: float) -> float:
        return float(sum(p * stats.norm.pdf(y - c) for c, p in zip(signals, weights, strict=True)))

    entropy, _ = integrate.quad(
        lambda y: -density(y) * math.log(density(y)), -15, 15, limit=400, epsabs=1e-10
    )
    return float(entropy - 0.5 * math.log(2 * math.pi * math.e))


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("signals", "weights"),
    [
        ([-0.1, 0.1], [0.5, 0.5]),
        ([-1.0, 1.0], [0.5, 0.5]),
        ([0.0, 3.0, 4.0], [0.7, 0.2, 0.1]),
        ([-4.0, 0.0, 4.0], [0.25, 0.5, 0.25]),
    ],
)
def test_estimate_and_certificate_against_quadrature(
    signals: list[float], weights: list[float]
) -> None:
    exact = by_quadrature(signals, weights)
    mixture = GaussianMixture(np.array(signals)[:, None], np.array(weights))
    found = mixture_information(mixture, 200_000, np.random.default_rng(0))
    assert abs(found.nats - exact) <= 4 * found.standard_error + 1e-9
    bound = certified_information(mixture, 200_000, 1e-6, np.random.default_rng(1))
    assert exact <= bound <= exact + 0.02


def test_information_does_not_depend_on_rotation_or_dimension_it_lies_in() -> None:
    generator = np.random.default_rng(0)
    flat = generator.standard_normal((6, 2))
    turn = np.linalg.qr(generator.standard_normal((5, 5)))[0]
    weights = np.full(6, 1 / 6)
    low = mixture_information(GaussianMixture(flat, weights), 40_000, np.random.default_rng(1))
    high = mixture_information(
        GaussianMixture(np.hstack([flat, np.zeros((6, 3))]) @ turn, weights),
        40_000,
        np.random.default_rng(2),
    )
    assert abs(low.nats - high.nats) <= 4 * (low.standard_error + high.standard_error)


def test_posterior_is_bayes() -> None:
    generator = np.random.default_rng(0)
    signals, weights = generator.standard_normal((5, 3)), np.array([0.1, 0.2, 0.3, 0.4, 0.0])
    noise = generator.standard_normal((4, 3))
    secrets = np.array([0, 1, 2, 3])
    found = posteriors(GaussianMixture(signals, weights), MixtureDraws(secrets, noise))
    for row in range(4):
        released = signals[secrets[row]] + noise[row]
        joint = weights * stats.multivariate_normal(np.zeros(3)).pdf(signals - released)
        np.testing.assert_allclose(found[row], joint / joint.sum())
    assert (found[:, 4] == 0).all()


def test_leakage_stays_in_its_range() -> None:
    mixture = GaussianMixture(np.array([[0.0], [200.0], [400.0]]), np.array([0.2, 0.8, 0.0]))
    told = leakage(mixture, next(mixture.draws(100, np.random.default_rng(0))))
    np.testing.assert_allclose(told, math.log(2))
    # Certain beliefs have nothing to leak.
    certain = GaussianMixture(np.array([[0.0], [1.0]]), np.array([1.0, 0.0]))
    assert certified_information(certain, 100, 1e-6, np.random.default_rng(0)) == 0.0
    assert mixture_information(certain, 100, np.random.default_rng(0)).nats == 0.0


def test_entropy_bounds_the_certificate() -> None:
    mixture = GaussianMixture(np.array([[-9.0], [9.0]]), np.array([0.5, 0.5]))
    bound = certified_information(mixture, 100, 1e-6, np.random.default_rng(0))
    assert bound == pytest.approx(math.log(2))


def test_the_gaussian_bound_is_never_below() -> None:
    generator = np.random.default_rng(3)
    for _ in range(10):
        signals = generator.standard_normal((8, 3)) * generator.uniform(0.1, 3)
        weights = generator.dirichlet(np.ones(8))
        # The bound for independent coordinates; a bound for correlated ones all the same.
        gaussian = logdet_bound(np.rint(signals * 2**20).astype(np.int64), weights, 2**20)
        found = mixture_information(GaussianMixture(signals, weights), 20_000, generator)
        assert found.nats - 4 * found.standard_error <= gaussian


def test_blocks_cover_all_draws() -> None:
    mixture = GaussianMixture(np.zeros((2**12, 1)), np.full(2**12, 2.0**-12))
    blocks = list(mixture.draws(1500, np.random.default_rng(0)))
    assert sum(block.secrets.size for block in blocks) == 1500
    assert len(blocks) > 1
