"""The group rule and DP-SGD's divergence, against numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from benchmarks.baselines.group_divergence import group_divergence, sampled_gaussian_divergence


def log_normal(x):
    return -(x**2) / 2 - np.log(2 * np.pi) / 2


@pytest.mark.parametrize(
    ("order", "rate", "noise"), [(2, 0.1, 1.0), (5, 0.05, 2.0), (16, 0.3, 3.0)]
)
def test_dp_sgd_step(order, rate, noise):
    """The divergence of the mixture from the Gaussian, integrated."""

    def mixture(x):
        z, shift = x / noise, (2 * x - 1) / (2 * noise**2)
        return log_normal(z) + np.log(1 - rate + rate * np.exp(shift))

    value, _ = integrate.quad(
        lambda x: np.exp(order * mixture(x) + (1 - order) * log_normal(x / noise)) / noise,
        -100,
        100,
        limit=500,
    )
    exact = np.log(value) / (order - 1)
    assert sampled_gaussian_divergence(order, rate, noise) == pytest.approx(exact, rel=1e-6)


def test_groups():
    asked = []

    def divergence(order):
        asked.append(order)
        return order / 10

    assert group_divergence(divergence, 16, 1) == pytest.approx(1.6)
    assert group_divergence(divergence, 16, 20) == pytest.approx(3**5 * 51.2)
    assert asked == [16, 512]
    # A Gaussian's own group costs less: the conversion is for any mechanism.
    assert group_divergence(divergence, 16, 20) > 20**2 * 1.6
