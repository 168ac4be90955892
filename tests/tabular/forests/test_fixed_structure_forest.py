"""Leaves: shrinkage along the tree, and the simplex."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from pacsklearn.tabular.forests.fixed_structure_forest import (
    common_votes,
    on_simplex,
    repaired_votes,
    shrunken_leaves,
)


def test_leaves_are_shrunk_towards_their_parents() -> None:
    sums = np.array([[[6.0], [6.0], [0.0]]])  # a root and two leaves
    mass = np.array([[4.0, 2.0, 2.0]])
    plain = shrunken_leaves(sums, mass, np.array([0.0]), 0.0)[0, :, 0]
    np.testing.assert_allclose(plain, [3.0, 0.0])
    root = 6 / (4 + 2)
    shrunk = shrunken_leaves(sums, mass, np.array([0.0]), 2.0)[0, :, 0]
    np.testing.assert_allclose(shrunk, [(6 + 2 * root) / 4, (0 + 2 * root) / 4])


def test_an_empty_leaf_says_what_its_parent_says() -> None:
    sums, mass = np.array([[[3.0], [3.0], [0.0]]]), np.array([[2.0, 2.0, 0.0]])
    for count in (0.0, 5.0):
        leaves = shrunken_leaves(sums, mass, None, count)[0, :, 0]
        np.testing.assert_allclose(leaves, [1.5, 1.5])


def test_votes_share_one_confidence() -> None:
    sums = np.array([[[3.0, 1.0], [0.0, 4.0]], [[1.0, 1.0], [2.0, 4.0]]])
    votes = common_votes(sums / sums.sum(axis=-1, keepdims=True), sums, 2.0)
    # 3 + 4 of 8 rows in one tree, 1 + 4 in the other, and one of the two rows of the prior.
    confidence = (6 + 1) / (8 + 2)
    named = np.array([[[1, 0], [0, 1]], [[1, 0], [0, 1]]])
    np.testing.assert_allclose(votes, np.where(named, confidence, 1 - confidence))


def test_noisy_votes_become_votes() -> None:
    votes = np.array([[[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]])
    np.testing.assert_allclose(repaired_votes(votes), votes)
    noisy = np.array([[[5.0, -4.5, 0.5], [0.4, 0.7, -0.1]]])
    np.testing.assert_allclose(repaired_votes(noisy), [[[1, 0, 0], [0, 1, 0]]])


def test_nearest_probabilities_by_another_solver() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(5, 4)) * [[0.1], [0.5], [1], [3], [10]] + 0.25
    for row, found in zip(rows, on_simplex(rows), strict=True):
        solved = minimize(
            lambda p, row=row: np.sum((p - row) ** 2),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        )
        np.testing.assert_allclose(found, solved.x, atol=1e-3)
        assert found.argmax() == row.argmax()


def test_probabilities_stay_as_they_are() -> None:
    rows = np.random.default_rng(1).dirichlet(np.ones(3), size=10)
    np.testing.assert_allclose(on_simplex(rows), rows, atol=1e-15)
