"""All attacks in one audit: sound releases pass, broken ones are found by those that should."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_attacks import CanaryAttack
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import Answers, PACPrivate, SRPPPrivate, Subsets
from pacsklearn.audit import run_audit
from pacsklearn.audit.game import Game
from pacsklearn.audit.replay import replay_fit
from pacsklearn.plugins import registry
from tests.audit.broken import InFloatingPoint, TooQuiet

X, y = load_iris(return_X_y=True)
M = 16
FOUND = ["lira", "loss_threshold", "reconstruction", "canaries"]


def fitted(noise="auto", estimator=None):
    return PACPrivate(estimator or RidgeClassifier(), noise=noise, secret=Subsets(M)).fit(X, y)


@pytest.fixture(scope="module")
def sound():
    return fitted()


@pytest.mark.soak
def test_a_sound_release_passes_every_attack(sound):
    named = [*FOUND, "low_order_bits", "optimal_membership"]
    audit = run_audit(sound, X, y, attacks=named, n_trials=200, strict=True)
    assert audit.passed
    assert all(result.success <= result.bound + 0.1 for result in audit.results)
    assert "low_order_bits" in {each.attack for each in run_audit(sound, X, y, n_trials=20).results}


@pytest.mark.soak
def test_too_little_noise_is_found():
    audit = run_audit(fitted(TooQuiet(), Ridge()), X, y, attacks=FOUND, n_trials=300)
    assert [result.attack for result in audit.violations] == FOUND


@pytest.mark.soak
def test_prices_of_answers_and_figures_beside_a_release_join_by_themselves():
    model = PACPrivate(
        KNeighborsClassifier(3), budget=1 / 16, release=Answers(50), secret=Subsets(M)
    )
    audit = run_audit(model.fit(X, y), X, y, queries=X[::5], n_trials=60, strict=True)
    assert "prices" in {result.attack for result in audit.results}
    sliced = SRPPPrivate(Ridge(), budget=1.0).fit(X[:, :3], X[:, 3], secret=y)
    audit = run_audit(sliced, X[:, :3], X[:, 3], secret=y, n_trials=150, strict=True)
    assert [result.attack for result in audit.results] == ["figures", "identification", "map"]


def test_an_audit_names_where_its_attacks_come_from(sound):
    audit = run_audit(sound, X, y, attacks=["loss_threshold"], n_trials=20)
    assert audit.provenance[0].target == "pacsklearn_attacks:LossThresholdAttack"
    assert audit.provenance[0].distribution == "pacsklearn-attacks"
    own = registry()
    for name in own.names("attack"):
        stated = own.provenance("attack", name)
        assert stated == own.provenance("attack", own.make("attack", name)), name


def test_floating_point_noise_is_caught_though_invisible_on_paper():
    """The posterior by the law says nothing here; the digits of thirty numbers name the secret."""
    rows, targets = load_breast_cancer(return_X_y=True)
    model = PACPrivate(Ridge(), noise=InFloatingPoint(), secret=Subsets(M)).fit(rows, targets)
    attacks = ["identification", "low_order_bits"]
    audit = run_audit(model, rows, targets, attacks=attacks, n_trials=300)
    assert [result.attack for result in audit.violations] == ["low_order_bits"]
    assert audit.results[1].success > 0.5
    sound = PACPrivate(Ridge(), noise="eigen", secret=Subsets(M)).fit(rows, targets)
    assert run_audit(sound, rows, targets, attacks=attacks, n_trials=300).passed


def test_a_leaf_that_bypasses_the_noise_is_caught(sound, monkeypatch):
    """A number that comes out of decode, past the law, is seen by what reads the model."""
    game = replay_fit(sound, X, y)
    own = game.candidate_numbers.copy()
    honest = type(game).numbers

    def leaking(self, released):
        numbers = honest(self, released)
        if self is game and leaking.secret is not None:
            numbers[3] = own[leaking.secret, 3]
        return numbers

    class Watching(Game):  # a Game that tells the leak which secret was drawn
        beyond = ("numbers", "candidate_numbers")
        prior, members = property(lambda s: game.prior), property(lambda s: game.members)
        candidate_numbers = property(lambda s: own)

        def bound(self, blind):
            return game.bound(blind)

        def play(self, generator):
            played = game.play(generator)
            leaking.secret = played.secret
            return played

        def numbers(self, released):
            return leaking(game, released)

    leaking.secret = None
    audit = run_audit(Watching(), attacks=["low_order_bits"], n_trials=200)
    assert not audit.passed


class OnWords(CanaryAttack):
    """Canaries among words."""

    def insert(self, estimator, X, y, groups, seed):
        return super().insert(estimator, np.full(X.shape, "a", dtype=object), y, groups, seed)


def test_canaries_among_words_are_refused(sound):
    with pytest.raises(ValueError, match="dense"):
        run_audit(sound, X, y, attacks=[OnWords()], n_trials=5)


@pytest.mark.parametrize("attack", ["canaries", "attribute", "poisoning"])
def test_rows_that_are_put_in_have_no_weight(attack):
    """X was said to have more rows than the user had given."""
    weights = {"sample_weight": np.ones(len(X))}
    model = PACPrivate(RidgeClassifier(), secret=Subsets(M)).fit(X, y, **weights)
    with pytest.raises(ValueError, match="fit_params"):
        run_audit(model, X, y, fit_params=weights, attacks=[attack], n_trials=5)
