from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest

from pacsklearn.srpp.divergence.world_distances import sliced_distances
from tests.kernel.bounds.on_a_line import quantile_distance


def by_fractions(x, y, p, q):
    """Largest difference of the quantile functions, with exact breakpoints."""
    left = sorted(zip(x, p, strict=True))
    right = sorted(zip(y, q, strict=True))
    ends = set()
    for sample in (left, right):
        total = Fraction(0)
        for _, weight in sample:
            total += weight
            ends.add(total)

    def quantile(sample, time):
        total = Fraction(0)
        for value, weight in sample:
            total += weight
            if total >= time:
                return value
        raise AssertionError

    times = [(a + b) / 2 for a, b in pairwise([Fraction(0), *sorted(ends)]) if a < b]
    return max(abs(quantile(left, t) - quantile(right, t)) for t in times)


def by_matching(x, y):
    return min(max(abs(a - b) for a, b in zip(x, each, strict=True)) for each in permutations(y))


@pytest.mark.parametrize("seed", range(20))
def test_equal_sizes_are_the_best_matching(seed):
    generator = np.random.default_rng(seed)
    x, y = generator.normal(size=6), generator.normal(size=6) * 2
    assert quantile_distance(x, y) == pytest.approx(by_matching(x, y), rel=1e-15)


@pytest.mark.parametrize("seed", range(40))
def test_unequal_sizes_are_exact(seed):
    generator = np.random.default_rng(seed)
    n, m = generator.integers(1, 13, 2)
    x, y = generator.normal(size=n), generator.normal(size=m)
    exact = by_fractions(x, y, [Fraction(1, int(n))] * n, [Fraction(1, int(m))] * m)
    assert quantile_distance(x, y) == exact


def test_close_breakpoints_of_large_samples_are_kept_apart():
    n = 1201
    # The (k+1)-th value of x meets the k-th of y on an interval of mass 1/(n (n - 1)).
    x, y = np.arange(n, dtype=float), np.arange(n - 1, dtype=float)
    assert quantile_distance(x, y) == 1.0
    x[1:] += 10.0
    assert quantile_distance(x, y) == 11.0


def test_slices_are_distances_of_projections():
    generator = np.random.default_rng(0)
    X, Y = generator.normal(size=(50, 4)), generator.normal(size=(30, 4))
    directions = generator.normal(size=(7, 4))
    found = sliced_distances(X, Y, directions)
    expected = [quantile_distance(X @ u, Y @ u) for u in directions]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_blocks_change_nothing(monkeypatch):
    generator = np.random.default_rng(1)
    X, Y = generator.normal(size=(40, 3)), generator.normal(size=(41, 3))
    directions = generator.normal(size=(9, 3))
    whole = sliced_distances(X, Y, directions)
    monkeypatch.setattr("pacsklearn.srpp.divergence.world_distances.MOST_CELLS", 90)
    np.testing.assert_allclose(sliced_distances(X, Y, directions), whole, rtol=1e-13)


def test_the_samples_stay_as_they_are():
    X = np.random.default_rng(2).normal(size=(10, 1))
    before = X.copy()
    sliced_distances(X, X[:5], np.ones((1, 1)))
    quantile_distance(X[:, 0], X[:5, 0])
    np.testing.assert_array_equal(X, before)
