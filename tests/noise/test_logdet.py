"""The log-determinant allocation: Lagrange conditions, and nothing cheaper exists."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from pacsklearn.information.logdet_allocation import logdet_allocation

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
