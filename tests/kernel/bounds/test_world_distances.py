from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.srpp.divergence import world_distances
from pacsklearn.srpp.divergence.world_distances import (
    bottleneck_distance,
    full_distance,
    rounding_slack,
    slice_distances,
)


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(13, 3))


INSTANCES = [((0,), tuple(range(1, 7))), (tuple(range(1, 7)), tuple(range(7, 13)))]


def test_no_coupling_is_shorter_than_the_best(vectors):
    kept = np.abs(vectors[1:7] - vectors[7:13])
    best = slice_distances(vectors, INSTANCES, np.eye(3))
    assert np.all(best[1] <= kept.max(axis=0) + 1e-15)
    # Against one data set every coupling is the same.
    np.testing.assert_allclose(best[0], np.abs(vectors[0] - vectors[1:7]).max(axis=0))
    farthest = np.linalg.norm(kept, axis=1).max()
    assert full_distance(vectors, INSTANCES[1:])[0] <= farthest


def farthest(vectors, instances):
    """Largest distance between any two outputs of a pair."""
    return max(
        np.linalg.norm(vectors[i] - vectors[j])
        for left, right in instances
        for i in left
        for j in right
    )


def test_the_whole_is_the_farthest_pair(vectors):
    found, exact = full_distance(vectors, INSTANCES)
    expected = max(bottleneck_distance(vectors[list(a)], vectors[list(b)]) for a, b in INSTANCES)
    assert exact
    assert found == pytest.approx(expected)
    assert farthest(vectors, INSTANCES) >= found


def test_too_many_draws_are_bounded_from_above(vectors, monkeypatch):
    exact = full_distance(vectors, INSTANCES[1:])[0]
    monkeypatch.setattr(world_distances, "_MOST_MATCHED", 1)
    bound, is_exact = full_distance(vectors, INSTANCES[1:])
    assert not is_exact
    assert exact <= bound <= farthest(vectors, INSTANCES[1:])
    # Draws of other numbers have quantiles too.
    uneven = [((0, 1, 2), (3, 4, 5, 6))]
    monkeypatch.undo()
    exact = full_distance(vectors, uneven)[0]
    monkeypatch.setattr(world_distances, "_MOST_MATCHED", 1)
    assert exact <= full_distance(vectors, uneven)[0]


def test_slack_covers_rounding():
    generator = np.random.default_rng(1)
    from fractions import Fraction

    for _ in range(20):
        a, b, u = generator.normal(size=(3, 5)) * 1e3
        u /= np.linalg.norm(u)
        exact = sum(
            Fraction(float(p)) * (Fraction(float(q)) - Fraction(float(r)))
            for p, q, r in zip(u, a, b, strict=True)
        )
        stacked = np.stack([a, b])
        found = slice_distances(stacked, [((0,), (1,))], u[None])[0, 0]
        assert abs(exact) <= found + rounding_slack(stacked)
