"""Closed forms against their sources: Lagrange conditions, and nothing cheaper exists."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.information.lattice_bound import logdet_allocation

Floats = NDArray[np.float64]

CASES = [
    np.array([1.0]),
    np.array([4.0, 1.0]),
    np.array([1e3, 1.0, 1e-3]),
    np.array([5.0, 5.0, 5.0, 1e-8]),
    np.array([3.0, 2.0, 1.0]),
]


@pytest.mark.parametrize("variances", CASES)
@pytest.mark.parametrize("budget", [1e-9, 1e-3, 1 / 64, 1.0, 5.0, 50.0])
def test_lagrange_conditions(variances: Floats, budget: float) -> None:
    noise = logdet_allocation(variances, budget)
    assert np.all(noise > 0)
    assert 0.5 * np.log1p(variances / noise).sum() == pytest.approx(budget, rel=1e-9)
    # d(cost)/de = 1 = multiplier * v / (2 e (e + v)): one multiplier for all.
    multipliers = noise * (noise + variances) / variances
    assert multipliers == pytest.approx(np.full(variances.size, multipliers[0]), rel=1e-6)


@pytest.mark.parametrize("variances", CASES[1:])
@pytest.mark.parametrize("budget", [1 / 64, 0.5, 3.0])
def test_no_other_noise_is_cheaper(variances: Floats, budget: float) -> None:
    ours = logdet_allocation(variances, budget)
    total = ours.sum()
    found = minimize(
        lambda log_noise: np.exp(log_noise).sum() / total,
        np.log(ours.mean()) * np.ones(variances.size),
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda log_noise: budget - 0.5 * np.log1p(variances * np.exp(-log_noise)).sum(),
        },
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.fun >= 1 - 1e-6


@pytest.mark.parametrize("factor", [1e-200, 1e-12, 7.0, 1e12, 1e200])
def test_scale(factor: float) -> None:
    variances = np.array([4.0, 1.0, 0.3])
    assert logdet_allocation(variances * factor, 0.1) == pytest.approx(
        logdet_allocation(variances, 0.1) * factor, rel=1e-12
    )


def test_many_coordinates_of_very_different_size() -> None:
    variances = np.logspace(0, -14, 127)
    noise = logdet_allocation(variances, 1 / 64)
    assert 0.5 * np.log1p(variances / noise).sum() == pytest.approx(1 / 64, rel=1e-12)
    assert np.all(np.diff(noise) < 0)


Calibrate = Callable[..., NoiseLaw]

BACKENDS = ["isotropic", "diagonal", "eigen", "logdet"]
# The lattice moves a power by at most this share at the budgets used here.
LATTICE = 1e-4


def expected_noise(backend: str, outputs: Floats, budget: float) -> Floats:
    """Noise covariance (d, d) by the formulas, d x d matrices and all."""
    covariance = np.atleast_2d(np.cov(outputs.T, bias=True))
    if backend == "isotropic":
        return np.eye(len(covariance)) * np.trace(covariance) / (2 * budget)
    if backend == "diagonal":
        deviation = np.sqrt(np.diag(covariance))
        return np.diag(deviation * deviation.sum() / (2 * budget))
    values, vectors = np.linalg.eigh(covariance)
    if backend == "eigen":
        noise = np.sqrt(values) * np.sqrt(values).sum() / (2 * budget)
        return (vectors * noise) @ vectors.T
    return (vectors * logdet_by_bisection(values, budget)) @ vectors.T


def logdet_by_bisection(values: Floats, budget: float) -> Floats:
    low, high = 1e-30, 1e30
    for _ in range(400):
        t = np.sqrt(low * high)
        noise = (np.sqrt(values**2 + 2 * t * values) - values) / 2
        if 0.5 * np.log1p(values / noise).sum() > budget:
            low = t
        else:
            high = t
    return noise


def noise_of(law: NoiseLaw) -> Floats:
    scaled = law.axes * (law.step * law.scale)[:, None]
    return scaled.T @ scaled


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("budget", [1e-4, 1 / 64, 0.3])
def test_one_coordinate_of_two_candidates(
    calibrate: Calibrate, backend: str, budget: float
) -> None:
    # Outputs 1 and 5: variance 4.
    law = calibrate(backend, [[1.0], [5.0]], budget)
    expected = 4 / np.expm1(2 * budget) if backend == "logdet" else 4 / (2 * budget)
    assert law.noise_power == pytest.approx(expected, rel=LATTICE)
    assert law.released_power == pytest.approx(expected, rel=LATTICE)
    assert law.origin.tolist() == [3.0]


def test_two_uncorrelated_coordinates(calibrate: Calibrate) -> None:
    # Variances 9 and 1, budget 1/2: 10 each; sqrt(v) (3 + 1) for the shaped ones.
    outputs = np.array([[3, 1], [3, -1], [-3, 1], [-3, -1]])
    assert noise_of(calibrate("isotropic", outputs, 0.5)) == pytest.approx(
        np.diag([10.0, 10.0]), rel=LATTICE, abs=1e-3
    )
    for backend in ("diagonal", "eigen"):
        assert noise_of(calibrate(backend, outputs, 0.5)) == pytest.approx(
            np.diag([12.0, 4.0]), rel=LATTICE, abs=1e-3
        )


def test_two_correlated_coordinates_gain_from_their_own_axes(calibrate: Calibrate) -> None:
    # Outputs on a line of slope one: variance 2 along it, none across.
    outputs = np.array([[1.0, 1.0], [-1.0, -1.0]])
    powers = {backend: calibrate(backend, outputs, 0.25).noise_power for backend in BACKENDS}
    assert powers["isotropic"] == pytest.approx(8, rel=LATTICE)
    assert powers["diagonal"] == pytest.approx(8, rel=LATTICE)
    assert powers["eigen"] == pytest.approx(4, rel=LATTICE)
    assert powers["logdet"] == pytest.approx(2 / np.expm1(0.5), rel=LATTICE)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("budget", [1 / 256, 1.0])
def test_full_covariance_of_the_noise(
    calibrate: Calibrate, generator: np.random.Generator, backend: str, budget: float
) -> None:
    outputs = generator.normal(size=(24, 4)) @ generator.normal(size=(4, 4))
    expected = expected_noise(backend, outputs, budget)
    law = calibrate(backend, outputs, budget)
    assert noise_of(law) == pytest.approx(expected, rel=1e-3, abs=1e-3 * np.trace(expected))
    assert law.noise_power == pytest.approx(np.trace(expected), rel=LATTICE)


@pytest.mark.parametrize("backend", BACKENDS)
def test_leaving_out_noise_outside_the_span_gives_nothing_away(
    calibrate: Calibrate, generator: np.random.Generator, backend: str
) -> None:
    # What an adversary can tell is the distance of two candidates in units of the noise. It must
    # be that under the full formula, although only three of the six directions get noise.
    outputs = generator.normal(size=(4, 6)) * [1, 2, 3, 4, 5, 6]
    shaped = backend in ("eigen", "logdet")
    noise = (expected_on_span if shaped else expected_noise)(backend, outputs, 0.1)
    difference = outputs - outputs[0]
    squared = np.einsum("ij,jk,ik->i", difference, np.linalg.pinv(noise), difference)
    law = calibrate(backend, outputs, 0.1)
    assert law.dimension == 3
    steps = (law.centres - law.centres[0]) / law.scale
    assert np.sum(steps**2, axis=1) == pytest.approx(squared, rel=1e-3)
    assert law.released_power <= law.noise_power * (1 + 1e-12)


def expected_on_span(backend: str, outputs: Floats, budget: float) -> Floats:
    """As :func:`expected_noise`, zero outside the span."""
    centred = outputs - outputs.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][: len(outputs) - 1]
    return axes.T @ expected_noise(backend, centred @ axes.T, budget) @ axes


@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_are_the_adversarys_belief(calibrate: Calibrate, backend: str) -> None:
    # Weight 3 on one candidate is the same as three copies of it.
    outputs = np.array([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]])
    weighted = calibrate(backend, outputs, 0.1, weights=[3, 1, 2])
    copied = calibrate(backend, np.repeat(outputs, [3, 1, 2], axis=0), 0.1)
    assert weighted.noise_power == pytest.approx(copied.noise_power, rel=LATTICE)
    assert weighted.origin == pytest.approx(copied.origin)


@pytest.mark.parametrize("backend", BACKENDS)
def test_released_power_is_that_of_the_noise_in_the_metric(
    calibrate: Calibrate, generator: np.random.Generator, backend: str
) -> None:
    outputs = generator.normal(size=(6, 9))
    root = generator.normal(size=(9, 9))
    metric = root.T @ root
    law = calibrate(backend, outputs, 0.1, metric)
    assert law.released_power == pytest.approx(np.trace(metric @ noise_of(law)), rel=1e-9)
    assert law.released_power <= law.noise_power * (1 + 1e-12)
