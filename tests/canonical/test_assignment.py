"""Clusters get the names that bring all candidates closest together."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacsklearn.canonical.assignment import assign_to_mean

Floats = NDArray[np.float64]


def renamed(parts: Floats) -> Floats:
    return np.take_along_axis(parts, assign_to_mean(parts)[:, :, None], axis=1)


def spread(parts: Floats) -> float:
    return float(((parts - parts.mean(axis=0)) ** 2).sum())


def greedy(parts: Floats) -> Floats:
    """Each reference part takes the nearest part that is left."""
    chosen = []
    for candidate in parts:
        left = list(range(len(candidate)))
        order = []
        for reference in parts[0]:
            nearest = min(left, key=lambda j: float(np.sum((candidate[j] - reference) ** 2)))
            left.remove(nearest)
            order.append(nearest)
        chosen.append(candidate[order])
    return np.stack(chosen)


def test_an_optimal_assignment_beats_a_greedy_one() -> None:
    # Greedy gives the first reference the part at 1.4 and leaves 4 for the one at 2.
    parts = np.array([[[0.0], [2.0]], [[-2.0], [1.0]]])
    assert spread(greedy(parts)) > 2 * spread(renamed(parts))
    assert renamed(parts)[1].ravel().tolist() == [-2.0, 1.0]


def test_names_do_not_matter(generator: np.random.Generator) -> None:
    places = generator.normal(size=(5, 3)) * 10
    parts = places + generator.normal(size=(20, 5, 3)) * 0.1
    shuffled = np.stack([generator.permutation(candidate) for candidate in parts])
    shuffled[0] = parts[0]
    assert np.array_equal(renamed(shuffled), parts)


@settings(max_examples=30, derandomize=True)
@given(k=st.integers(1, 4), p=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_two_candidates_are_matched_as_well_as_can_be(k: int, p: int, seed: int) -> None:
    parts = np.random.default_rng(seed).normal(size=(2, k, p))
    best = min(
        spread(np.stack([parts[0], parts[1][list(order)]])) for order in permutations(range(k))
    )
    assert spread(renamed(parts)) == pytest.approx(best, rel=1e-9)


def test_the_order_is_a_permutation_of_each_candidate(generator: np.random.Generator) -> None:
    order = assign_to_mean(generator.normal(size=(12, 6, 2)))
    assert np.array_equal(np.sort(order, axis=1), np.tile(np.arange(6), (12, 1)))
