from __future__ import annotations

import numpy as np
import pytest

from benchmarks.baselines.finite_sample_slices import (
    dkw_margin,
    finite_sample_average_variance,
    finite_sample_joint_variance,
    upper_slice_distances,
)
from pacsklearn.srpp.divergence.world_distances import sliced_distances

ORDER, EPSILON, GAMMA = 4.0, 1.0, 0.05


def by_a_fine_grid(x, y, e, f):
    """Definition of the trimmed distance, in both directions, on many times."""
    x, y = np.sort(x), np.sort(y)

    def quantile(sample, times):
        index = np.ceil(times * sample.size - 1e-9).astype(int) - 1
        return sample[np.clip(index, 0, sample.size - 1)]

    times = np.linspace(max(e, f), 1 - max(e, f), 200_001)
    first = np.abs(quantile(x, times + e) - quantile(y, times - f))
    return max(first.max(), np.abs(quantile(y, times + f) - quantile(x, times - e)).max())


def test_upper_bounds_follow_the_definition():
    generator = np.random.default_rng(0)
    X, Y = generator.normal(size=(120, 1)), generator.normal(size=(90, 1)) + 0.4
    found = upper_slice_distances(X, Y, np.ones((1, 1)), 0.1)[0]
    e, f = dkw_margin(120, 0.05), dkw_margin(90, 0.05)
    assert found == pytest.approx(by_a_fine_grid(X[:, 0], Y[:, 0], e, f), rel=1e-12)


def test_known_samples_have_no_margin():
    generator = np.random.default_rng(1)
    X, Y = generator.normal(size=(20, 3)), generator.normal(size=(20, 3))
    directions = np.eye(3)
    np.testing.assert_allclose(
        upper_slice_distances(X, Y, directions, 0.1, known=(True, True)),
        sliced_distances(X, Y, directions),
    )


def test_too_few_draws():
    with pytest.raises(ValueError, match="draws"):
        upper_slice_distances(np.ones((10, 2)), np.ones((10, 2)), np.eye(2), 0.01)


@pytest.mark.statistical
def test_bounds_cover_where_the_assumption_holds():
    """Shifted uniform laws: the distance is 0.3 at every quantile; failures at most 10 %."""
    generator = np.random.default_rng(2)
    failures = 0
    for _ in range(200):
        x, y = generator.random((300, 1)), generator.random((300, 1)) + 0.3
        failures += upper_slice_distances(x, y, np.ones((1, 1)), 0.1)[0] < 0.3
    assert failures <= 0.1 * 200 + 4 * np.sqrt(200 * 0.1 * 0.9)


def test_theorem_4_7():
    distances = np.random.default_rng(3).random(200)
    margin = np.sqrt(np.log(4 / GAMMA) / 400)
    expected = ORDER / (2 * EPSILON) * ((distances**2).mean() + 4.0 * margin)
    found = finite_sample_average_variance(distances, ORDER, EPSILON, GAMMA, 2.0)
    assert found == pytest.approx(expected)


def test_theorem_4_8():
    distances = np.random.default_rng(4).random(200)
    variance = finite_sample_joint_variance(distances, ORDER, EPSILON, GAMMA, 2.0)
    rate = ORDER * (ORDER - 1) / (2 * variance)
    margin = np.sqrt(np.log(4 / GAMMA) / 400)
    moment = np.exp(rate * distances**2).mean() + (np.exp(rate * 4.0) - 1) * margin
    assert np.log(moment) / (ORDER - 1) == pytest.approx(EPSILON, rel=1e-6)
    assert variance <= ORDER * 4.0 / (2 * EPSILON)
    assert finite_sample_joint_variance(distances[:2], ORDER, EPSILON, GAMMA, 2.0) <= 8.0


def test_a_largest_distance_that_is_none():
    with pytest.raises(ValueError, match="largest"):
        finite_sample_average_variance(np.ones(3), ORDER, EPSILON, GAMMA, 0.5)
