from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.srpp.divergence.lattice_smoothing import CONTINUOUS_INFLATION, smoothing_excess


def discrete_gaussian(centre, scale, support):
    weights = np.exp(-((support - centre) ** 2) / (2 * scale**2))
    return weights / weights.sum()


@pytest.mark.parametrize("order", [1.5, 4.0, 16.0])
@pytest.mark.parametrize("shift", [1, 3, 10])
@pytest.mark.parametrize("scale", [0.7, 2.0, 6.0])
def test_shifts_by_whole_numbers_cost_at_most_the_continuous_divergence(order, shift, scale):
    support = np.arange(-800, 801)
    left = np.log(discrete_gaussian(0, scale, support) + 1e-320)
    right = -((support - shift) ** 2) / (2 * scale**2)
    left = -(support**2) / (2 * scale**2)
    norm = np.log(np.exp(left).sum())
    terms = order * (left - norm) + (1 - order) * (right - norm)
    top = terms.max()
    divergence = (top + np.log(np.exp(terms - top).sum())) / (order - 1)
    assert divergence <= order * shift**2 / (2 * scale**2) * (1 + 1e-9) + 1e-12


def smoothed_density(centre, scale, reading, points):
    support = np.arange(-60 * int(scale) - 40, 60 * int(scale) + 41)
    mass = discrete_gaussian(centre, scale, support)
    kernel = np.exp(-((points[:, None] - support) ** 2) / (2 * reading**2))
    return kernel @ mass / np.sqrt(2 * np.pi * reading**2)


@pytest.mark.parametrize("reading", [1.0, 1.3])
def test_a_read_slice_of_whole_numbers_has_nearly_the_density_of_continuous_noise(reading):
    scale, points = 20.0, np.linspace(-50, 50, 2001)
    found = smoothed_density(0, scale, reading, points)
    variance = scale**2 + reading**2
    continuous = np.exp(-(points**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    deviation = np.max(np.abs(found / continuous - 1))
    # One coordinate's factors, by the width of the product of both Gaussians.
    width = reading / np.sqrt(1 + (reading / scale) ** 2)
    assert deviation <= 2.2 * np.exp(-2 * (np.pi * width) ** 2)
    assert deviation >= np.exp(-2 * (np.pi * width) ** 2)  # and no tighter figure would do


@pytest.mark.parametrize("order", [1.5, 4.0])
@pytest.mark.parametrize("reading", [1.0, 1.2])
def test_the_excess_is_that_of_both_densities_factors(order, reading):
    """``(1 + e)^2`` above and ``(1 - e)^-2`` below, to the powers of either density."""
    e = 2 * sum(np.exp(-2 * (np.pi * reading * k) ** 2) for k in (1, 2, 3))
    factors = 2 * order * np.log1p(e) - 2 * (order - 1) * np.log1p(-e)
    expected = 7 * factors / (order - 1)
    assert smoothing_excess(7, order, reading) == pytest.approx(expected, rel=1e-7, abs=0)
    assert smoothing_excess(1, order, 1.0) > smoothing_excess(1, order, 1.1)


def test_shifts_look_longer_by_the_width_of_the_reading():
    squared = 1 / (1 - 16 / 2**40)
    assert pytest.approx(squared, rel=1e-15) == CONTINUOUS_INFLATION**2
    assert CONTINUOUS_INFLATION > 1


def test_the_excess_is_negligible_but_there():
    assert 0 < smoothing_excess(1, 4.0) < 1e-33
    assert smoothing_excess(10_000_000, 1.01) < 1e-24
    assert smoothing_excess(10, 4.0, reading=1.0) > 1e-9


def test_without_an_error_of_reading_nothing_is_claimed():
    with pytest.raises(ValueError, match="grid"):
        smoothing_excess(1, 4.0, reading=0.5)


def test_a_slice_read_exactly_gives_everything_away():
    """Why there is a reading error at all: a general direction tells whole vectors apart."""
    direction = np.array([1.0, np.sqrt(2)])
    grid = np.stack(np.meshgrid(np.arange(-20, 21), np.arange(-20, 21)), axis=-1).reshape(-1, 2)
    assert np.unique(np.round(grid @ direction, 9)).size == grid.shape[0]
