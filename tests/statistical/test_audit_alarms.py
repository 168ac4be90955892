"""A mechanism that leaks exactly what it may is refuted as rarely as an audit says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from pacsklearn.audit.attack import Attack, AttackResult
from pacsklearn.audit.auditor import run_audit
from pacsklearn.audit.game import Game, Round
from pacsklearn.plugins import register, unregister

pytestmark = pytest.mark.statistical

BOUND, AUDITS, LEVEL = 0.7, 400, 0.9


class AtTheBound(Game):
    """Shows whether the attack is going to be right, with just the chance that is allowed."""

    prior = property(lambda self: np.array([0.5, 0.5]))
    members = property(lambda self: np.eye(2, dtype=bool))

    def bound(self, blind):
        return BOUND

    def play(self, generator):
        return Round(0, self.prior, bool(generator.random() < BOUND))


class Counting(Attack):
    name = "counting"

    def run(self, game, n_trials, seed):
        generator = np.random.default_rng(seed)
        right = sum(game.play(generator).released for _ in range(n_trials))
        return AttackResult(self.name, "being lucky", n_trials, right, 0.5, game.bound(0.5))


@pytest.fixture
def registered():
    register(Counting)
    yield
    unregister(Counting)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("n_attacks", [1, 3])
def test_false_alarms_are_as_rare_as_stated(n_attacks, registered):
    """At most (1 - level) / 2 of the audits; fails for no reason with probability 0.001."""
    attacks = [Counting() for _ in range(n_attacks)]
    alarms = sum(
        not run_audit(
            AtTheBound(), attacks=attacks, n_trials=60, level=LEVEL, random_state=seed
        ).passed
        for seed in range(AUDITS)
    )
    assert alarms <= binom.isf(0.001, AUDITS, (1 - LEVEL) / 2)
