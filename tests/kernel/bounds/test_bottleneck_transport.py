from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linprog

from pacsklearn.srpp.divergence.world_distances import bottleneck_distance, sliced_distances
from tests.kernel.bounds.on_a_line import quantile_distance


def brute_force(X, Y):
    distances = np.linalg.norm(X[:, None] - Y[None], axis=2)
    rows = range(len(X))
    return min(max(distances[i, each[i]] for i in rows) for each in permutations(rows))


def by_linear_programs(X, Y):
    """Smallest distance for which a transport plan exists, tried one by one."""
    distances = np.linalg.norm(X[:, None] - Y[None], axis=2)
    n, m = distances.shape
    marginals = np.vstack(
        [np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))],
    )
    wanted = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    for radius in np.unique(distances):
        upper = np.where(distances.ravel() <= radius, 1.0, 0.0)
        bounds = list(zip(np.zeros(n * m), upper, strict=True))
        if linprog(np.zeros(n * m), A_eq=marginals, b_eq=wanted, bounds=bounds).success:
            return radius
    raise AssertionError


@pytest.mark.parametrize("seed", range(15))
def test_matching_is_the_best_of_all(seed):
    generator = np.random.default_rng(seed)
    X, Y = generator.normal(size=(6, 3)), generator.normal(size=(6, 3)) * 2
    assert bottleneck_distance(X, Y) == pytest.approx(brute_force(X, Y), rel=1e-14)


@pytest.mark.parametrize("seed", range(12))
def test_unequal_sizes_and_rows_that_repeat(seed):
    generator = np.random.default_rng(seed)
    n, m = generator.integers(1, 6, 2)
    X, Y = generator.normal(size=(n, 2)), generator.normal(size=(m, 2))
    X, Y = (np.repeat(each, generator.integers(1, 3, len(each)), axis=0) for each in (X, Y))
    found = bottleneck_distance(X, Y)
    assert found == pytest.approx(by_linear_programs(X, Y), rel=1e-12)
    assert bottleneck_distance(np.repeat(X, 3, axis=0), Y) == found


@pytest.mark.parametrize("seed", range(10))
def test_one_dimension_is_the_quantile_distance(seed):
    generator = np.random.default_rng(seed)
    x, y = generator.normal(size=15), generator.normal(size=9)
    assert bottleneck_distance(x[:, None], y[:, None]) == pytest.approx(
        quantile_distance(x, y), rel=1e-14
    )


def test_no_slice_is_farther_than_the_whole():
    generator = np.random.default_rng(3)
    X, Y = generator.normal(size=(40, 5)), generator.normal(size=(25, 5)) + 0.3
    directions = generator.normal(size=(100, 5))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    whole = bottleneck_distance(X, Y)
    assert np.all(sliced_distances(X, Y, directions) <= whole * (1 + 1e-12))
