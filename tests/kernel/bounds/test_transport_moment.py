"""Couplings by enumeration, and the divergence itself by integration."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.special import logsumexp

from pacsklearn.srpp.divergence.renyi_calibration import transport_divergence, transport_variance
from pacsklearn.srpp.divergence.world_distances import bottleneck_distance


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("order", [1.5, 4.0, 16.0])
def test_the_best_coupling(seed, order):
    generator = np.random.default_rng(seed)
    left, right = generator.normal(size=(2, 5, 2))
    each = []
    for chosen in permutations(range(5)):
        squares = np.sum((left - right[list(chosen)]) ** 2, axis=1)
        moment = logsumexp(order * (order - 1) / 2 * squares) - math.log(5)
        each.append(moment / (order - 1))
    found = transport_divergence(left, right, order)
    assert found == pytest.approx(min(each))
    assert found <= order / 2 * bottleneck_distance(left, right) ** 2 * (1 + 1e-9)


@pytest.mark.parametrize("order", [2.0, 5.0])
def test_a_bound_on_the_divergence_of_the_mixtures(order):
    generator = np.random.default_rng(1)
    x = np.linspace(-30, 30, 60_001)
    for _ in range(5):
        left, right = generator.normal(size=(2, 6, 1))
        p, q = (
            logsumexp(-((x[:, None] - side[:, 0]) ** 2) / 2, axis=1) - math.log(6)
            for side in (left, right)
        )
        total = np.exp(order * p + (1 - order) * q).sum() * (x[1] - x[0]) / math.sqrt(2 * math.pi)
        assert math.log(total) / (order - 1) <= transport_divergence(left, right, order) + 1e-9


def test_outliers_far_apart():
    far = np.array([[0.0], [1e6]])
    assert transport_divergence(far, far, 8.0) == 0.0
    moved = np.array([[0.0], [1.1e6]])
    assert transport_divergence(far, moved, 8.0) == pytest.approx(4e10 - math.log(2) / 7)


def test_the_least_variance():
    generator = np.random.default_rng(2)
    pairs = [tuple(generator.normal(size=(2, 8, 3))) for _ in range(3)]
    farthest = max(bottleneck_distance(x, y) for x, y in pairs)
    largest = 4.0 * farthest**2 / (2 * 0.5)
    variance = transport_variance(pairs, 4.0, 0.5, largest)
    assert variance < largest
    scale = 1 / math.sqrt(variance)
    worst = max(transport_divergence(x * scale, y * scale, 4.0) for x, y in pairs)
    assert 0.5 * (1 - 1e-6) <= worst <= 0.5
    # Whatever the unit, and however much more than needed is known to be enough.
    for unit, more in ((1e-6, 1.0), (1e6, 1.0), (1e-6, 1e9), (1.0, 1e9), (1.0, 1e20)):
        scaled = [(x * unit, y * unit) for x, y in pairs]
        found = transport_variance(scaled, 4.0, 0.5, largest * more * unit**2)
        assert found == pytest.approx(variance * unit**2, rel=1e-7, abs=0)
    assert transport_variance(pairs, 4.0, 0.5, variance / 2) == variance / 2
    # The search for a variance that is too small never ended.
    assert transport_variance([(x, x[::-1]) for x, _ in pairs], 4.0, 0.5, largest) < 1e-120


@pytest.mark.parametrize("exponent", [-400, 400])
def test_the_variance_goes_with_the_square_of_the_unit(exponent):
    """Every intermediate number would vanish or overflow in units of the noise."""
    draw = np.random.default_rng(0)
    x, y = draw.normal(size=(2, 4, 2))
    largest = 4.0 * bottleneck_distance(x, y) ** 2
    plain = transport_variance([(x, y)], 4.0, 0.5, largest)
    moved = [(np.ldexp(x, exponent), np.ldexp(y, exponent))]
    found = transport_variance(moved, 4.0, 0.5, np.ldexp(largest, 2 * exponent))
    assert np.ldexp(found, -2 * exponent) == pytest.approx(plain, rel=1e-6)


def test_distances_whose_squares_overflow_cost_without_end():
    far = np.array([[0.0], [1e200]])
    assert transport_divergence(far, far, 4.0) == 0.0
    assert transport_divergence(far, -far, 4.0) == math.inf
    with pytest.raises(ValueError, match="largest"):
        transport_variance([(far, -far)], 4.0, 0.5, math.inf)
