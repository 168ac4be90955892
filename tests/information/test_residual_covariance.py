"""Least noise under the mixture's own mutual information."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from pacsklearn.information import (
    GaussianMixture,
    NoiseShape,
    logdet_allocation,
    mixture_information,
    residual_covariance,
    span_coordinates,
)


def centred(outputs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return span_coordinates(outputs - weights @ outputs, weights).coordinates


def information(shape: NoiseShape, outputs: np.ndarray, weights: np.ndarray) -> float:
    mixture: GaussianMixture = shape.mixture(outputs, weights)
    return mixture_information(mixture, 200_000, np.random.default_rng(99)).nats


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
