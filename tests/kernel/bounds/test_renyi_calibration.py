from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from benchmarks.baselines.published_power import published_average_variance
from pacsklearn.srpp.divergence import renyi_calibration as renyi

ORDER = 4.0


@pytest.fixture
def profile():
    generator = np.random.default_rng(0)
    return generator.gamma(1.0, size=(6, 50)), generator.dirichlet(np.ones(50))


def divergence(shift, variance, order):
    """Renyi divergence of two Gaussians by quadrature."""

    def integrand(t):
        logs = -order * (t - shift) ** 2 / 2 - (1 - order) * t**2 / 2
        return np.exp(logs / variance) / np.sqrt(2 * np.pi * variance)

    return np.log(quad(integrand, -60, 60, limit=400)[0]) / (order - 1)


def test_one_slice_is_the_divergence_of_gaussians():
    distances, one = np.array([[1.3]]), np.ones(1)
    expected = divergence(1.3, 2.0, ORDER)
    costs = [
        renyi.joint_cost(distances, one, ORDER, 2.0),
        renyi.average_cost(distances, one, ORDER) / 2.0,
        renyi.worst_slice_cost(distances, ORDER) / 2.0,
        renyi.full_cost(1.3, ORDER) / 2.0,
    ]
    assert costs == pytest.approx([expected] * 4, rel=1e-9)


def test_definitions_slice_by_slice(profile):
    distances, weights = profile
    each = ORDER * distances**2 / (2 * 3.0)
    assert renyi.average_cost(distances, weights, ORDER) / 3.0 == pytest.approx(
        max(each @ weights), rel=1e-12
    )
    moments = np.log(np.exp((ORDER - 1) * each) @ weights) / (ORDER - 1)
    assert renyi.joint_cost(distances, weights, ORDER, 3.0) == pytest.approx(moments.max())


@pytest.mark.parametrize("epsilon", [1e-6, 0.05, 1.0, 60.0])
@pytest.mark.parametrize("order", [1.01, 4.0, 64.0])
def test_calibrations_meet_the_budget_and_do_not_exceed_the_published_ones(profile, epsilon, order):
    distances, weights = profile
    average = renyi.average_cost(distances, weights, order) / epsilon
    published = published_average_variance(distances, weights, order, epsilon)
    assert average <= published * (1 + 1e-15)
    joint = renyi.joint_variance(distances, weights, order, epsilon)
    worst = renyi.worst_slice_cost(distances, order) / epsilon
    assert average * (1 - 1e-12) <= joint <= worst
    assert worst == pytest.approx(order * distances.max() ** 2 / (2 * epsilon), rel=1e-12)
    largest = np.max(distances, axis=0) ** 2 @ weights
    assert published == pytest.approx(order * largest / (2 * epsilon), rel=1e-12)
    full = renyi.full_cost(1.7, order) / epsilon
    assert full == pytest.approx(order * 1.7**2 / (2 * epsilon), rel=1e-12)
    cost = renyi.joint_cost(distances, weights, order, joint)
    assert cost == pytest.approx(epsilon, rel=1e-6)
    assert cost <= epsilon * (1 + 1e-12)


def test_views_are_ordered(profile):
    distances, weights = profile
    whole = float(distances.max()) * 1.1
    costs = [
        renyi.average_cost(distances, weights, ORDER) / 2.0,
        renyi.joint_cost(distances, weights, ORDER, 2.0),
        renyi.worst_slice_cost(distances, ORDER) / 2.0,
        renyi.full_cost(whole, ORDER) / 2.0,
    ]
    assert costs == sorted(costs)


def test_nothing_to_hide_needs_no_noise():
    zero, weights = np.zeros((2, 3)), np.full(3, 1 / 3)
    assert renyi.average_cost(zero, weights, ORDER) == 0.0
    assert renyi.joint_variance(zero, weights, ORDER, 1.0) == 0.0
    assert renyi.joint_cost(zero, weights, ORDER, 0.0) == 0.0
