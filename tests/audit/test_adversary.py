"""The greedy adversary asks what splits the belief most."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.audit.transcript_game import MostContested

NOTHING = np.zeros(3, dtype=bool)


def entropy(row: np.ndarray, belief: np.ndarray) -> float:
    masses = np.array([belief[row == label].sum() for label in np.unique(row)])
    masses = masses[masses > 0]
    return float(-np.sum(masses * np.log(masses)))


def test_labels_by_entropy() -> None:
    generator = np.random.default_rng(0)
    predictions = generator.integers(0, 4, (50, 12))
    for _ in range(20):
        belief = generator.dirichlet(np.full(12, 0.3))
        best = max(range(50), key=lambda i: entropy(predictions[i], belief))
        chosen = MostContested(predictions)(belief, np.zeros(50, dtype=bool))
        assert entropy(predictions[chosen], belief) == pytest.approx(
            entropy(predictions[best], belief)
        )


def test_values_by_variance() -> None:
    generator = np.random.default_rng(0)
    predictions = generator.normal(size=(40, 12, 3)) * generator.uniform(0.5, 2, (40, 1, 1))
    belief = generator.dirichlet(np.ones(12))
    spread = [np.cov(row.T, aweights=belief, ddof=0).trace() for row in predictions]
    assert MostContested(predictions)(belief, np.zeros(40, dtype=bool)) == int(np.argmax(spread))


def test_nothing_is_asked_twice_while_something_is_left() -> None:
    predictions = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0]])
    belief = np.full(4, 0.25)
    assert MostContested(predictions)(belief, NOTHING) == 0
    assert MostContested(predictions)(belief, np.array([True, False, False])) == 1
    assert MostContested(predictions)(belief, np.array([True, True, False])) == 2


def test_it_follows_the_belief() -> None:
    predictions = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]])
    assert MostContested(predictions)(np.array([0.5, 0.5, 0, 0]), NOTHING) == 1
    assert MostContested(predictions)(np.array([0, 0, 0.5, 0.5]), NOTHING) == 2
