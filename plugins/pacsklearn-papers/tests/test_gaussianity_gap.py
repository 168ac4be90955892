"""Corrections of the Gaussian bound lie between 0 and the exact gap."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_papers import SurrogateGap, sliced_wasserstein
from pacsklearn_papers.information_estimate import mixture_information
from scipy.integrate import quad
from scipy.stats import norm
from surrogate_gaps import GAPS, densities, exact

from pacsklearn.kernel.bounds.mixture import GaussianMixture


@pytest.mark.parametrize("name", GAPS)
def test_the_log_ratio_is_that_of_the_densities(name):
    gap = GAPS[name]
    y = gap.draw(np.random.default_rng(1), 200)
    mixture, gaussian = densities(gap, y)
    assert gap.log_ratio(y) == pytest.approx(np.log(mixture / gaussian), abs=1e-8)


@pytest.mark.parametrize("name", GAPS)
def test_draws_have_the_surrogate_s_moments(name):
    gap = GAPS[name]
    for draw in (gap.draw, gap.draw_gaussian):
        y = draw(np.random.default_rng(2), 100_000)
        size = np.sqrt(np.diag(gap.covariance))
        assert y.mean(axis=0) / size == pytest.approx(np.zeros(size.size), abs=0.02)
        assert np.cov(y.T) / np.outer(size, size) == pytest.approx(
            gap.covariance / np.outer(size, size), abs=0.04
        )


@pytest.mark.parametrize("name", GAPS)
def test_logdet(name):
    gap = GAPS[name]
    signal = gap.covariance - np.diag(gap.noise)
    expected = 0.5 * np.log(np.linalg.det(np.eye(gap.noise.size) + signal / gap.noise))
    assert gap.logdet == pytest.approx(expected)


@pytest.mark.product(only=3)
@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("name", GAPS)
def test_sliced_wasserstein_lies_between_zero_and_the_gap(name, whiten):
    found = sliced_wasserstein(GAPS[name], whiten=whiten)
    assert 0.0 < found.value <= found.estimate * (1 + 1e-9)
    assert found.estimate <= exact(name)
    assert found.confidence == (1.0 if GAPS[name].noise.size == 1 else 1 - 1e-6)


@pytest.mark.product(only=2)
@pytest.mark.parametrize("name", [name for name, gap in GAPS.items() if gap.noise.size == 1])
def test_the_transport_distance_in_one_dimension(name):
    # Another route: quantiles of the mixture by bisection, integrated over probabilities.
    gap = GAPS[name]
    deviation = np.sqrt(gap.noise[0])
    low, high = np.full(20_001, -40.0), np.full(20_001, 40.0)
    u = (np.arange(20_001) + 0.5) / 20_001
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = norm.cdf((middle[:, None] - gap.points[:, 0]) / deviation) @ gap.weights > u
        high, low = np.where(above, middle, high), np.where(above, low, middle)
    variance = gap.covariance[0, 0]
    squared = np.mean((low - np.sqrt(variance) * norm.ppf(u)) ** 2)
    assert sliced_wasserstein(gap).value == pytest.approx(squared / (2 * variance), rel=5e-3)


def test_wrong_arguments_are_named_in_one_dimension_too():
    for wrong in ({"gamma": 2.0}, {"seed": "x"}, {"n_directions": 0}):
        with pytest.raises((TypeError, ValueError)):
            sliced_wasserstein(SurrogateGap([[-1.0], [1.0]], [0.5, 0.5], [0.1]), **wrong)


def test_two_points_far_apart_in_closed_form():
    # Without noise the optimal map sends each half line to its point.
    gap = SurrogateGap([[-1.0], [1.0]], [0.5, 0.5], [1e-6])
    assert sliced_wasserstein(gap).value == pytest.approx(1 - np.sqrt(2 / np.pi), rel=1e-2)


def test_a_gaussian_has_no_gap():
    gap = SurrogateGap([[3.0, 1.0]], [1.0], [1.0, 2.0])
    assert sliced_wasserstein(gap).value == pytest.approx(0.0, abs=1e-12)


def test_scale_does_not_matter():
    gap = GAPS["plane"]
    scaled = SurrogateGap(gap.points * 1e6, gap.weights, gap.noise * 1e12)
    assert sliced_wasserstein(scaled).value == pytest.approx(sliced_wasserstein(gap).value)


@pytest.mark.parametrize("unit", [2.0**-400, 2.0**400])
def test_units_whose_fourth_power_is_no_double(unit):
    gap = GAPS["plane"]
    scaled = SurrogateGap(gap.points * unit, gap.weights, gap.noise * unit**2)
    assert scaled.logdet == pytest.approx(gap.logdet)


def test_beside_the_mixture_s_own_information_in_many_dimensions():
    # Two implementations of one mixture: the bound, the exact value and the correction.
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(32, 8)), np.full(32, 1 / 32)
    gap = SurrogateGap(points, weights, np.full(8, 0.4))
    mixture = GaussianMixture(points / np.sqrt(0.4), weights)
    found = mixture_information(mixture, 40_000, np.random.default_rng(5))
    exact_gap = gap.logdet - found.nats
    assert exact_gap > 0.2
    slack = 5 * found.standard_error
    assert 0 < sliced_wasserstein(gap).value <= exact_gap + slack
    drawn = gap.log_ratio(gap.draw(np.random.default_rng(6), 40_000))
    assert np.mean(drawn) == pytest.approx(exact_gap, abs=slack + 5 * np.std(drawn) / 200)


def test_exact_agrees_with_adaptive_quadrature():
    gap = GAPS["two far points"]

    def integrand(y):
        mixture, gaussian = densities(gap, np.array([[y]]))
        return float(mixture[0] * np.log(mixture[0] / gaussian[0]))

    found, _ = quad(integrand, -3, 3, limit=200)
    assert exact("two far points") == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize(
    ("points", "weights", "noise", "message"),
    [
        ([1.0, 2.0], [0.5, 0.5], [1.0], "points"),
        ([[1.0], [2.0]], [0.5, 0.6], [1.0], "sum to one"),
        ([[1.0], [2.0]], [0.5, 0.5], [0.0], "positive"),
    ],
)
def test_arguments(points, weights, noise, message):
    with pytest.raises(ValueError, match=message):
        SurrogateGap(points, weights, noise)


def test_weights_are_scaled_to_one_and_points_centred():
    gap = SurrogateGap([[0.0], [1.0], [9.0]], [0.25, 0.75 + 8e-10, 0.0], [1.0])
    exactly = np.array([0.25, 0.75 + 8e-10]) / (1 + 8e-10)
    np.testing.assert_allclose(gap.weights, exactly, rtol=1e-15)
    np.testing.assert_allclose(gap.points[:, 0], [-exactly[1], exactly[0]], rtol=1e-12)


class TestFarApart:
    """Corrections lower a bound that is promised: beyond what doubles hold they are zero."""

    @pytest.mark.parametrize("distance", [1e4, 1e6, 1e9, 1e12])
    def test_panels_wider_than_the_noise_give_nothing(self, distance: float) -> None:
        """Three points in one coordinate, over-stated by up to 1.41 by panels that step over."""
        gap = SurrogateGap([[0.0], [0.1 * distance], [distance]], [0.2, 0.5, 0.3], [1.0])
        assert sliced_wasserstein(gap).value == 0.0

    @pytest.mark.parametrize("distance", [1e5, 1e9])
    def test_a_covariance_that_doubles_do_not_hold(self, distance: float) -> None:
        points = np.array([[0.0, 0.0], [distance, 1.0], [distance, -1.0]])
        gap = SurrogateGap(points, [0.5, 0.25, 0.25], [1.0, 1.0])
        assert not gap.is_resolved
        assert sliced_wasserstein(gap).value == 0.0
