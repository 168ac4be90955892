"""Poison: where it goes, what it asks, and that it makes a leak worse."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_attacks.inserting_attacks import PoisoningAttack, _target
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from pacsklearn.audit.game import Game, Round
from pacsklearn.audit.transcript_game import TranscriptGame
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.universe.balanced_space import balanced_space

generator = np.random.default_rng(0)
X = generator.standard_normal((40, 3))
y = (X[:, 0] > 0).astype(int)


def test_copies_with_wrong_targets_go_to_the_end_and_the_row_is_asked_about():
    attack = PoisoningAttack(n_copies=3, n_queries=5)
    more, labels, groups, (unit,) = attack.insert(KNeighborsClassifier(), X, y, None, 7)
    assert groups is None
    np.testing.assert_array_equal(more[40:], np.repeat(X[unit][None], 3, axis=0))
    assert set(labels[40:]) == {1 - y[unit]}
    queries = attack.probe(more, 7)
    np.testing.assert_array_equal(queries[0], X[unit])
    np.testing.assert_allclose(queries, np.repeat(X[unit][None], 5, axis=0), atol=0.02)
    assert len(np.unique(queries, axis=0)) == 5
    _, numbers, _, (unit,) = attack.insert(KNeighborsRegressor(), X, X[:, 1], np.arange(40), 7)
    np.testing.assert_allclose(numbers[40:], X[unit, 1] + 5 * X[:, 1].std())
    with pytest.raises(ValueError, match="missing"):
        attack.insert(None, X, None, None, 0)


class Loud(Game):
    """A conversation under the bound of one that reveals a hundredth."""

    def __init__(self, game):
        self._game = game

    def __getattr__(self, name):
        return getattr(self._game, name)

    prior = property(lambda self: self._game.prior)
    members = property(lambda self: self._game.members)

    def offers(self, what):
        return self._game.offers(what)

    def bound(self, blind):
        return posterior_success(self._game.information / 100, blind)

    def play(self, generator) -> Round:
        return self._game.play(generator)


def test_poison_finds_a_planted_leak_that_asking_alone_does_not():
    """Without poison another row of the class is nearest; with it the answer is the membership."""
    attack = PoisoningAttack(n_copies=4, n_queries=8, n_pilot=60)
    # A row far from the boundary: others of its class are near.
    seed = next(seed for seed in range(40) if abs(X[_target(40, seed), 0]) > 1)
    poisoned, labels, _, (unit,) = attack.insert(KNeighborsClassifier(), X, y, None, seed)
    results = []
    for rows, targets in ((X, y), (poisoned, labels)):
        space = balanced_space(len(rows), n_subsets=16, seed=2)
        game = TranscriptGame.rehearse(
            KNeighborsClassifier(1), rows, targets, attack.probe(poisoned, seed), space,
            step_budget=1 / 8, canaries=(unit,),
        )  # fmt: skip
        results.append(attack.run(Loud(game), 200, 0))
    asked, poison = results
    assert poison.violates()
    assert not asked.violates()
    sound = attack.run(game, 200, 0)
    assert not sound.violates()
