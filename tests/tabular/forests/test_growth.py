"""How a threshold is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy

from pacsklearn.tabular.forests.growth import ThresholdRule, entropy, squared_error, summed_upward


def rule(**changes: float) -> ThresholdRule:
    plain = {"step": 0.5, "smoothing": 0.0, "penalty": 0.0}
    return ThresholdRule(**(plain | changes))


def test_the_grid_is_symmetric_around_zero() -> None:
    for step in (1.0, 0.5, 0.3, 0.01):
        grid = rule(step=step).grid
        np.testing.assert_allclose(grid, -grid[::-1], atol=1e-15)
        assert 0.0 in grid


def test_impurities_against_their_definitions() -> None:
    generator = np.random.default_rng(0)
    counts = generator.integers(1, 9, size=(4, 3)).astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    expected = counts.sum(axis=1) * scipy_entropy(shares, axis=1)
    np.testing.assert_allclose(entropy(counts), expected)
    y, w = generator.normal(size=20), generator.uniform(size=20)
    sums = np.array([w.sum(), (w * y).sum(), (w * y**2).sum()])
    assert squared_error(sums) == pytest.approx(np.sum(w * (y - np.average(y, weights=w)) ** 2))
    assert squared_error(np.zeros(3)) == 0


@pytest.mark.parametrize(
    ("changes", "chosen"),
    [
        ({}, 1.0),  # least of all
        ({"penalty": 0.2}, -0.5),  # nearer the middle
        ({"penalty": 2.0}, 0.0),
        ({"smoothing": 0.5}, -1.0),  # good neighbours
    ],
)
def test_what_regularisation_does(changes: dict[str, float], chosen: float) -> None:
    impurity = np.array([[0.2, 0.15, 0.3, 0.9, 0.1]])
    assert rule(**changes).choose(impurity)[0] == chosen


def test_where_nothing_helps_the_middle_is_taken() -> None:
    assert rule().choose(np.full((2, 5), 0.7)).tolist() == [0.0, 0.0]


def test_sums_of_every_node() -> None:
    leaves = np.array([[3, 0, 0, 4], [0, 0, 6, 1]])
    sums = summed_upward(leaves[..., None])[..., 0]
    np.testing.assert_array_equal(sums, [[7, 3, 4, 3, 0, 0, 4], [7, 0, 7, 0, 0, 6, 1]])
