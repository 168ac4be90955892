"""Reconstruction, canaries and low-order bits, on games small enough to compute."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_attacks import CanaryAttack, LowOrderBitsAttack, ReconstructionAttack
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge, RidgeClassifier

from pacsklearn.audit.game import Game, Round
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.testing import check_attack, example_games

MEMBERS = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=bool)


class Naming(Game):
    """Shows the secret with some chance, otherwise anything."""

    def __init__(self, chance=0.5):
        self.chance = chance

    prior = property(lambda self: np.array([0.4, 0.3, 0.2, 0.1]))
    members = property(lambda self: MEMBERS)

    def bound(self, blind):
        return posterior_success(2.0, blind)

    def play(self, generator):
        secret = int(generator.choice(4, p=self.prior))
        shown = secret if generator.random() < self.chance else int(generator.integers(4))
        joint = self.prior * np.where(np.arange(4) == shown, self.chance + 0.125, 0.125)
        return Round(secret, joint / joint.sum(), shown)


def test_reconstruction_is_bayes_for_its_criterion():
    """k=1: all but the complement count. Against the sum over outcomes, 4 standard errors."""
    game = Naming()
    gains = (MEMBERS.astype(int) @ MEMBERS.T.astype(int) >= 1).astype(float)
    best = 0.0
    for shown in range(4):
        joint = game.prior * np.where(np.arange(4) == shown, 0.625, 0.125)
        best += (gains @ joint).max()
    result = ReconstructionAttack(k=1).run(game, 3000, 0)
    assert result.success == pytest.approx(best, abs=4 * np.sqrt(best * (1 - best) / 3000))
    assert result.prior == pytest.approx((gains @ game.prior).max())
    assert ReconstructionAttack(k=2).run(game, 200, 0).prior == pytest.approx(0.4)


def test_reconstruction_keeps_the_contract():
    check_attack(ReconstructionAttack())
    with pytest.raises(ValueError, match="units"):
        ReconstructionAttack(k=3).run(Naming(), 10, 0)


@pytest.mark.soak
def test_canaries_keep_the_contract_and_attack_the_canaries():
    check_attack(CanaryAttack())

    class WithCanary(Naming):
        canaries = (2,)

    result = CanaryAttack().run(WithCanary(), 200, 0)
    details = dict(result.details)
    assert (details["unit"], details["canaries"]) == ("2", "1")


def test_canaries_are_outliers_at_the_end():
    X, y = load_iris(return_X_y=True)
    more, labels, groups, units = CanaryAttack().insert(RidgeClassifier(), X, y, None, 0)
    assert units == tuple(range(150, 158))
    assert groups is None
    np.testing.assert_array_equal(more[:150], X)
    np.testing.assert_allclose(np.abs(more[150:] - X.mean(axis=0)), 5 * np.tile(X.std(0), (8, 1)))
    assert sorted(labels[150:]) == [0, 0, 0, 1, 1, 1, 2, 2]
    person = np.arange(150) // 3 * 10
    _, numbers, groups, units = CanaryAttack().insert(Ridge(), X, X[:, 0], person, 0)
    assert units == tuple(groups[150:]) == tuple(range(50, 58))
    np.testing.assert_allclose(np.abs(numbers[150:] - X[:, 0].mean()), 5 * X[:, 0].std())


class Digits(Naming):
    """Publishes doubles; ``noise`` says how they come about."""

    beyond = ("numbers", "candidate_numbers")

    candidate_numbers = np.random.default_rng(0).normal(size=(4, 60))

    def __init__(self, noise):
        super().__init__(chance=0.0)
        self.noise = noise

    def play(self, generator):
        secret = int(generator.choice(4, p=self.prior))
        own = self.candidate_numbers
        if self.noise == "floating point":
            seen = own[secret] + generator.normal(size=60)
        elif self.noise == "one number bare":
            seen = own[secret] + generator.normal(size=60)
            seen = np.rint(seen * 2**20) / 2**20
            seen[7] = own[secret, 7]
        else:  # integers on a grid that has nothing to do with the candidate
            seen = np.rint((own[secret] + 100 * generator.normal(size=60)) * 2**20) / 2**20
        return Round(secret, self.prior, seen)

    def numbers(self, released):
        return released


@pytest.mark.parametrize("noise", ["floating point", "one number bare"])
def test_digits_name_the_secret(noise):
    assert LowOrderBitsAttack().run(Digits(noise), 200, 0).success == 1.0


def test_a_grid_says_nothing():
    """Blind success is 0.4; the rule discards candidates without regard to the secret."""
    result = LowOrderBitsAttack().run(Digits("grid"), 1000, 0)
    assert result.success <= 0.4 + 4 * np.sqrt(0.24 / 1000)


def test_low_order_bits_need_numbers():
    with pytest.raises(ValueError, match="candidate_numbers"):
        LowOrderBitsAttack().run(example_games().sound, 10, 0)
