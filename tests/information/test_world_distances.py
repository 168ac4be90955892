from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.information import world_distances
from pacsklearn.information.bottleneck_transport import bottleneck_distance
from pacsklearn.information.world_distances import (
    full_distance,
    rounding_slack,
    slice_distances,
    worst_case_distance,
)


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(13, 3))


INSTANCES = [((0,), tuple(range(1, 7))), (tuple(range(1, 7)), tuple(range(7, 13)))]


def test_couplings_kept_together_are_never_shorter(vectors):
    directions = np.eye(3)
    best = slice_distances(vectors, INSTANCES, directions, coupled=False)
    kept = slice_distances(vectors, INSTANCES, directions, coupled=True)
    assert np.all(best <= kept + 1e-15)
    # Against one data set every coupling is the same.
    np.testing.assert_allclose(best[0], kept[0])
    np.testing.assert_allclose(kept[1], np.abs(vectors[1:7] - vectors[7:13]).max(axis=0))
    assert (
        full_distance(vectors, INSTANCES, coupled=False)[0]
        <= full_distance(vectors, INSTANCES, coupled=True)[0]
    )


def test_the_whole_is_the_farthest_pair(vectors):
    found, exact = full_distance(vectors, INSTANCES, coupled=False)
    expected = max(bottleneck_distance(vectors[list(a)], vectors[list(b)]) for a, b in INSTANCES)
    assert exact
    assert found == pytest.approx(expected)
    assert worst_case_distance(vectors, INSTANCES) >= found


def test_too_many_draws_are_bounded_from_above(vectors, monkeypatch):
    exact = full_distance(vectors, INSTANCES[1:], coupled=False)[0]
    monkeypatch.setattr(world_distances, "_MOST_MATCHED", 1)
    bound, is_exact = full_distance(vectors, INSTANCES[1:], coupled=False)
    assert not is_exact
    assert exact <= bound <= worst_case_distance(vectors, INSTANCES[1:])
    # Draws of other numbers have quantiles too.
    uneven = [((0, 1, 2), (3, 4, 5, 6))]
    monkeypatch.undo()
    exact = full_distance(vectors, uneven, coupled=False)[0]
    monkeypatch.setattr(world_distances, "_MOST_MATCHED", 1)
    assert exact <= full_distance(vectors, uneven, coupled=False)[0]


def test_draws_of_other_numbers_cannot_be_kept_together(vectors):
    with pytest.raises(ValueError, match="same number of them"):
        slice_distances(vectors, [((0, 1), (2, 3, 4))], np.eye(3), coupled=True)


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
        found = slice_distances(stacked, [((0,), (1,))], u[None], coupled=False)[0, 0]
        assert abs(exact) <= found + rounding_slack(stacked)
