"""The loss-threshold attack: by hand, its contract, and the overfitted regime on digits."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_attacks import LossThresholdAttack, TrainingGame
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from pacsklearn.plugins import registry
from pacsklearn.srpp import Batches, NoiseMultiplier, Renyi, SRPPSGDClassifier
from pacsklearn.testing import AttackGames, check_attack

N, D = 24, 30


class Remembers(ClassifierMixin, BaseEstimator):
    """Sum of its rows, noised: the closer a row is to it, the lower its loss."""

    def __init__(self, noise: float = 1.0, power: float = 1.0):
        self.noise, self.power = noise, power

    def fit(self, X, y, seed):
        noise = np.random.default_rng(seed).standard_normal(X.shape[1])
        self.classes_ = np.array([0, 1])
        self.total_ = self.power * X.sum(axis=0) + self.noise * noise
        return self

    def decision_function(self, X):
        return X @ self.total_


def game(noise, *, power=1.0, claimed=None, weights=None):
    """Rows of length 1 are swapped: the sum moves by 2 at most, so the KL is 2 / noise^2."""
    generator = np.random.default_rng(5)
    X = generator.standard_normal((N, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    information = 2 / noise**2 if claimed is None else claimed
    return TrainingGame(
        lambda rows, y, seed: Remembers(noise, power).fit(rows, y, seed),
        X,
        np.ones(N, dtype=int),
        information=information,
        n_candidates=8,
        weights=weights,
    )


@pytest.mark.soak
@pytest.mark.statistical
def test_contract():
    """One seed of 200 fails by chance; this one is fixed."""
    games = AttackGames(
        sound=game(4.0),
        silent=game(1.0, power=0.0, claimed=0.05),
        skewed=game(1.0, power=0.0, claimed=0.05, weights=[1, 2, 3, 4, 5, 6, 7, 8]),
        leaks={"noise scaled by 0.05": game(0.2, claimed=0.02)},
    )
    check_attack(LossThresholdAttack(), games=games)
    assert isinstance(registry().make("attack", "loss_threshold"), LossThresholdAttack)


def test_pairs():
    played = game(1.0)
    assert np.all(played.members.sum(axis=1) == N // 2)
    np.testing.assert_array_equal(played.members[::2, 0], True)
    np.testing.assert_array_equal(played.members[1::2, 0], False)
    differing = (played.members[::2] != played.members[1::2]).sum(axis=1)
    np.testing.assert_array_equal(differing, 2)  # one row out, one in
    with pytest.raises(ValueError, match="even"):
        TrainingGame(None, np.zeros((4, 1)), np.zeros(4), information=None, n_candidates=3)
    for wrong in ([1], [0.0] + [1.0] * 7, [np.nan] * 8):
        with pytest.raises(ValueError, match="weights"):
            game(1.0, weights=wrong)
    with pytest.raises(ValueError, match="target"):
        TrainingGame(None, np.zeros((4, 1)), np.zeros(4), information=None, target=4)


def test_other_rows_tell_which_of_two_unlike_data_sets_it_is():
    """Nothing is promised of other rows: who knows them is right with 0.9 before any release."""
    weights = [0.45, 0.05, 0.05, 0.45, 0.45, 0.05, 0.05, 0.45]
    played = game(1.0, claimed=0.0, weights=weights)
    assert played.prior @ played.members[:, 0] == pytest.approx(0.5)
    assert played.bound(0.5) == pytest.approx(0.9)
    assert played.bound(0.95) == pytest.approx(0.95)


def test_other_games_are_refused():
    from pacsklearn.testing import example_games

    with pytest.raises(ValueError, match="confidences"):
        LossThresholdAttack().run(example_games().sound, 10, 0)
    with pytest.raises(ValueError, match="unit"):
        LossThresholdAttack(unit=99).run(game(1.0), 10, 0)


@pytest.mark.soak
@pytest.mark.statistical
@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_overfitted_digits():
    """Few rows, noisy labels, many epochs: without noise the losses tell who was in (W.3)."""
    X, y = load_digits(return_X_y=True)
    generator = np.random.default_rng(0)
    rows = generator.permutation(len(y))[:100]
    X, y = X[rows] / 16, generator.integers(0, 2, 100)

    def trainer(budget):
        def train(rows, labels, seed):
            return SRPPSGDClassifier(
                epochs=150,
                batches=Batches(25, accounting="worst-case"),
                learning_rate=3.0,
                clipping=2.0,
                penalty=None,
                budget=budget,
                random_state=seed,
                classes=[0, 1],
            ).fit(rows, labels)

        return train

    areas = {}
    for name, budget, information in (
        ("none", NoiseMultiplier(0), None),
        ("loose", Renyi(500.0, 16.0, allow_exact=True), 500 / 16),
        ("tight", Renyi(2.0, 16.0), 2 / 16),
    ):
        played = TrainingGame(trainer(budget), X, y, information=information, n_candidates=16)
        assert not LossThresholdAttack(n_shadow=8).run(played, n_trials=14, seed=0).violates()
        rounds = [played.play(generator) for _ in range(14)]
        areas[name] = np.mean(
            [
                roc_auc_score(played.members[each.secret], played.confidences(each.released))
                for each in rounds
            ]
        )
    assert areas["none"] > 0.65
    assert areas["none"] > areas["loose"] > areas["tight"] - 0.02
    assert abs(areas["tight"] - 0.5) < 0.1
