"""The bound from a mean distance against quadrature and the Gaussian formulas."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.integrate import quad

from pacsklearn.sampled.mean_distance import mean_distance_bound


def test_logdet_and_linear_bounds_are_special_cases():
    noise, signal = np.array([1.0, 0.5, 2.0]), np.array([0.3, 4.0, 1e-6])
    logdet = 0.5 * np.sum(np.log1p(signal / noise))
    half = 0.5 * np.sum(signal / (noise + signal))
    assert mean_distance_bound(noise, noise + signal, half) == pytest.approx(logdet)
    linear = 0.5 * np.sum(signal / noise)
    assert mean_distance_bound(noise, noise, linear) == pytest.approx(linear)


def test_no_cancellation_for_little_signal():
    for ratio in (1e-3, 1e-6, 1e-9):
        fixed = mean_distance_bound([1.0], [1.0 + ratio], 0.0)
        assert fixed == pytest.approx(ratio**2 / 4, rel=3 * ratio + 1e-6)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("size", [1e-9, 1e-5, 4e-4, 9.99e-4, 1.001e-3, 0.03, 0.9])
def test_to_the_last_digits_on_both_sides_of_every_branch(size, sign):
    """Never below what 50 digits give."""
    noise = 1.0 + sign * size
    with localcontext(prec=50):
        ratio = Decimal(noise)
        exact = float((ratio - 1 - ratio.ln()) / 2)
    found = mean_distance_bound([noise], [1.0], 0.0)
    assert exact <= found <= exact * (1 + 3e-12)


@pytest.mark.parametrize("reference", [0.8, 1.5, 4.0])
def test_above_the_mutual_information_of_a_mixture(reference):
    z, p, noise = np.array([-1.0, 0.2, 3.0]), np.array([0.5, 0.3, 0.2]), 0.7

    def density(y):
        return p @ (np.exp(-((y - z) ** 2) / (2 * noise)) / np.sqrt(2 * np.pi * noise))

    entropy, _ = quad(lambda y: -density(y) * np.log(density(y)), -8, 10, limit=200)
    information = entropy - 0.5 * np.log(2 * np.pi * np.e * noise)
    distance = float(p @ (z - 0.4) ** 2) / (2 * reference)
    assert information < mean_distance_bound([noise], [reference], distance)


def test_arguments():
    with pytest.raises(ValueError, match="positive"):
        mean_distance_bound([1.0], [0.0], 0.1)
    with pytest.raises(ValueError, match="length"):
        mean_distance_bound([1.0], [1.0, 1.0], 0.1)
    with pytest.raises(ValueError, match="mean_distance"):
        mean_distance_bound([1.0], [1.0], float("inf"))
