"""Least noise under the mixture's own mutual information."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_papers.information_estimate import mixture_information
from pacsklearn_papers.residual import residual_covariance
from scipy import optimize

from pacsklearn.kernel.bounds.lattice_bound import logdet_allocation, span_coordinates
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.noise_shape import NoiseShape


def centred(outputs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return span_coordinates(outputs - weights @ outputs, weights).coordinates


def information(shape: NoiseShape, outputs: np.ndarray, weights: np.ndarray) -> float:
    mixture: GaussianMixture = shape.mixture(outputs, weights)
    return mixture_information(mixture, 200_000, np.random.default_rng(99)).nats


@pytest.mark.product(only=1)
@pytest.mark.parametrize("budget", [0.1, 0.6, 1.5])
def test_one_dimension_is_a_scale(budget: float) -> None:
    """Against a root of the mutual information itself."""
    weights = np.full(8, 1 / 8)
    outputs = centred(np.arange(8.0)[:, None] ** 2, weights)
    found = residual_covariance(
        outputs, weights, budget, n_draws=60_000, generator=np.random.default_rng(0)
    )

    def excess(log_variance: float) -> float:
        shape = NoiseShape(np.eye(1), np.array([np.exp(log_variance)]))
        return information(shape, outputs, weights) - budget

    exact = np.exp(optimize.brentq(excess, -5, 15, xtol=1e-4))
    assert found.power == pytest.approx(exact, rel=0.02)


@pytest.mark.soak
def test_two_dimensions_against_a_search_over_all_covariances() -> None:
    weights = np.array([0.3, 0.3, 0.2, 0.2])
    outputs = centred(np.array([[0.0, 0.0], [4.0, 0.3], [4.2, 2.0], [0.2, 1.0]]), weights)
    budget = 0.9
    found = residual_covariance(
        outputs, weights, budget, n_draws=40_000, generator=np.random.default_rng(0)
    )
    powers = []
    for angle in np.linspace(0, np.pi / 2, 7):
        axes = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        for ratio in np.exp(np.linspace(-3, 3, 13)):
            shape = NoiseShape(axes, np.array([1.0, ratio]))

            def excess(log_factor: float, shape: NoiseShape = shape, draws: int = 4000) -> float:
                mixture = shape.scaled(np.exp(log_factor)).mixture(outputs, weights)
                return mixture_information(mixture, draws, np.random.default_rng(1)).nats - budget

            powers.append(shape.scaled(np.exp(optimize.brentq(excess, -8, 8, xtol=1e-3))).power)
    assert found.power <= min(powers) * 1.02
    assert found.power >= min(powers) * 0.9


@pytest.mark.soak
def test_gaussian_outputs_have_the_log_determinant_allocation() -> None:
    """Many points of a Gaussian at a small budget: the Gaussian bound is attained."""
    weights = np.full(512, 1 / 512)
    outputs = centred(np.random.default_rng(0).standard_normal((512, 3)) * [3.0, 1.0, 0.3], weights)
    found = residual_covariance(
        outputs, weights, 0.1, n_draws=8192, generator=np.random.default_rng(0)
    )
    gaussian = logdet_allocation(weights @ outputs**2, 0.1)
    assert found.power == pytest.approx(gaussian.sum(), rel=0.03)
    np.testing.assert_allclose(np.sort(found.variances), np.sort(gaussian), rtol=0.15)


@pytest.mark.soak
def test_what_the_optimum_must_satisfy() -> None:
    """No small change of the shape at the same information has less power (first order)."""
    generator = np.random.default_rng(5)
    weights = np.full(16, 1 / 16)
    outputs = centred(generator.standard_normal((16, 3)) * [2.0, 1.0, 0.5], weights)
    budget = 1.8
    best = residual_covariance(
        outputs, weights, budget, n_draws=30_000, generator=np.random.default_rng(0)
    )
    matrix = (best.axes * best.variances) @ best.axes.T
    for _ in range(6):
        change = generator.standard_normal((3, 3))
        root = np.linalg.cholesky(matrix)
        changed = root @ (np.eye(3) + 0.2 * (change + change.T)) @ root.T
        values, vectors = np.linalg.eigh(changed)
        if values.min() <= 0:
            continue

        def excess(log_factor: float, values=values, vectors=vectors) -> float:
            shape = NoiseShape(vectors, values * np.exp(log_factor))
            mixture = shape.mixture(outputs, weights)
            return mixture_information(mixture, 30_000, np.random.default_rng(2)).nats - budget

        power = values.sum() * np.exp(optimize.brentq(excess, -6, 6, xtol=1e-3))
        assert power >= best.power * 0.99


@pytest.mark.parametrize(("far", "gains"), [(1.0, False), (30.0, True)])
def test_one_step_is_towards_the_root_of_what_stays_unknown(far: float, gains: bool) -> None:
    """``S = c E^(1/2)``; scaled to the budget on the same draws, the smaller shape is kept."""
    weights = np.random.default_rng(1).dirichlet(np.full(12, 3.0))
    outputs = np.random.default_rng(2).standard_t(2, (12, 2)) * [3.0, 1.0]
    outputs[0] *= [far, 1.0]
    outputs = centred(outputs, weights)
    n, budget, generator = 3000, 1.2, np.random.default_rng(3)
    found = residual_covariance(
        outputs, weights, budget, n_draws=n, generator=np.random.default_rng(3), max_iterations=1
    )
    # Secrets at even places of the belief, from one start; then the noise.
    places = (np.arange(n) + generator.random()) / n
    secrets = np.searchsorted(np.cumsum(weights), places, side="right")
    noise = generator.standard_normal((n, 2))
    entropy = -np.sum(weights * np.log(weights))

    def posterior(axes: np.ndarray, variances: np.ndarray) -> np.ndarray:
        signals = outputs @ axes / np.sqrt(variances)
        away = (signals[secrets] + noise)[:, None] - signals[None]
        joint = weights * np.exp(-np.sum(away**2, axis=2) / 2)
        return joint / joint.sum(axis=1, keepdims=True)

    def at_budget(axes: np.ndarray, variances: np.ndarray) -> np.ndarray:
        def excess(log_factor: float) -> float:
            share = posterior(axes, variances * np.exp(log_factor))
            logs = np.log(np.where(share > 0, share, 1.0))
            return entropy + np.mean(np.sum(share * logs, axis=1)) - budget

        return variances * np.exp(optimize.brentq(excess, -12, 12, xtol=1e-10))

    first = at_budget(np.eye(2), logdet_allocation(weights @ outputs**2, budget))
    share = posterior(np.eye(2), first)
    means = share @ outputs
    unknown = np.einsum("nj,ja,jb->ab", share, outputs, outputs) - means.T @ means
    values, vectors = np.linalg.eigh(unknown / n)
    second = at_budget(vectors, np.sqrt(values))
    assert bool(second.sum() < 0.999 * first.sum()) is gains
    expected = (vectors * second) @ vectors.T if gains else np.diag(first)
    covariance = (found.axes * found.variances) @ found.axes.T
    np.testing.assert_allclose(covariance, expected, rtol=1e-3, atol=1e-3 * np.diag(expected).min())


def test_outputs_scaled_noise_scaled() -> None:
    weights = np.full(8, 1 / 8)
    outputs = centred(np.random.default_rng(0).standard_normal((8, 2)), weights)
    small, large = (
        residual_covariance(
            factor * outputs, weights, 1.0, n_draws=2048, generator=np.random.default_rng(0)
        ).power
        for factor in (1.0, 1e6)
    )
    assert large == pytest.approx(small * 1e12, rel=1e-3)
