"""The check passes the built-in attacks and catches every planted offender."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

from pacsklearn.audit.attack import Attack, AttackResult
from pacsklearn.audit.identification_attack import IdentificationAttack
from pacsklearn.audit.membership_attack import OptimalMembershipAttack
from pacsklearn.plugins import registry
from pacsklearn.testing import check_attack, example_games
from tests.audit.played_once import rounds_played_once

GAMES = example_games()


@pytest.fixture(scope="module", autouse=True)
def _each_round_is_played_once():
    with rounds_played_once():
        yield


@pytest.mark.parametrize(
    "name", ["identification", pytest.param("optimal_membership", marks=pytest.mark.soak)]
)
def test_builtin_attacks_pass(name):
    check_attack(registry().make("attack", name), n_trials=200)


@pytest.mark.soak
def test_other_seeds_and_games_pass():
    check_attack(IdentificationAttack(), random_state=5, games=example_games(seed=2), n_trials=300)


class Naming(Attack):
    """A sound attack, and places to get it wrong."""

    name = "naming"

    def guess(self, played, game):
        return int(np.argmax(played.posterior))

    def rounds(self, game, n_trials, seed):
        generator = np.random.default_rng(seed)
        return [game.play(generator) for _ in range(n_trials)]

    def result(self, game, n_trials, right):
        blind = float(game.prior.max())
        return AttackResult(
            self.name, "naming the subset", n_trials, right, blind, game.bound(blind)
        )

    def run(self, game, n_trials, seed):
        rounds = self.rounds(game, n_trials, seed)
        right = sum(self.guess(played, game) in played.used for played in rounds)
        return self.result(game, n_trials, right)


def test_the_sound_one_passes():
    check_attack(Naming())


class Peeks(Naming):
    def guess(self, played, game):
        return played.secret


class Blind(Naming):
    def guess(self, played, game):
        return 0


class LooksAtOneAnswerOnly(Naming):
    """Sees a redrawn secret and an exact answer to the first query, but not small noise."""

    def guess(self, played, game):
        likely = np.flatnonzero(played.posterior > 0.999)
        return int(likely[0]) if likely.size and played.released[0][1:] == (0,) else 0


class Unseeded(Naming):
    def rounds(self, game, n_trials, seed):
        return super().rounds(game, n_trials, None)


class AlwaysTheSame(Naming):
    def rounds(self, game, n_trials, seed):
        return super().rounds(game, n_trials, 0)


class Remembers(Naming):
    runs = 0

    def run(self, game, n_trials, seed):
        self.runs += 1
        found = super().run(game, n_trials, seed)
        return dataclasses.replace(found, n_successes=max(found.n_successes - self.runs, 0))


class CountsHalf(Naming):
    def rounds(self, game, n_trials, seed):
        return super().rounds(game, n_trials // 2, seed)


class ReportsFewer(Naming):
    def result(self, game, n_trials, right):
        return dataclasses.replace(super().result(game, n_trials, right), n_trials=n_trials - 1)


class OtherName(Naming):
    def result(self, game, n_trials, right):
        return dataclasses.replace(super().result(game, n_trials, right), attack="other")


class NoName(Naming):
    name = ""


class OtherBound(Naming):
    def result(self, game, n_trials, right):
        return dataclasses.replace(super().result(game, n_trials, right), bound=0.9)


class NoBound(Naming):
    def result(self, game, n_trials, right):
        return dataclasses.replace(super().result(game, n_trials, right), bound=None)


class PriorTooLow(Naming):
    def result(self, game, n_trials, right):
        blind = float(game.prior.max()) / 2
        return AttackResult(self.name, "naming", n_trials, right, blind, game.bound(blind))


class PriorTooHigh(Naming):
    def result(self, game, n_trials, right):
        return AttackResult(self.name, "naming", n_trials, right, 0.5, game.bound(0.5))


class UniformPrior(Naming):
    def result(self, game, n_trials, right):
        blind = 1 / len(game.prior)
        return AttackResult(self.name, "naming", n_trials, right, blind, game.bound(blind))


class BestUnitAfterTheFact(Attack):
    """Attacks all units and reports the one that went best."""

    name = "best"

    def run(self, game, n_trials, seed):
        generator = np.random.default_rng(seed)
        rounds = [game.play(generator) for _ in range(n_trials)]
        members = game.members
        said = np.stack([played.posterior for played in rounds]) @ members > 0.5
        truth = np.stack([members[list(played.used)].any(axis=0) for played in rounds])
        said |= truth.mean(axis=0) > 0.9
        right = int((said == truth).sum(axis=0).max())
        share = members.T @ game.prior
        blind = float(np.maximum(share, 1 - share).min())
        return AttackResult(self.name, "membership", n_trials, right, blind, game.bound(blind))


class Mutates(Naming):
    def run(self, game, n_trials, seed):
        game.codes[0, 0] += 1
        return super().run(game, n_trials, seed)


class NotAResult(Naming):
    def run(self, game, n_trials, seed):
        return 0.7


class Fails(Naming):
    def run(self, game, n_trials, seed):
        raise KeyError("model")


@pytest.mark.parametrize(
    ("offender", "rule", "words"),
    [
        (Peeks, "true alarms", "refutes the bound of a sound mechanism"),
        (Blind, "leaks", "does not find a planted leak"),
        (LooksAtOneAnswerOnly, "leaks", "noise scaled by 0.05"),
        (Unseeded, "seed", "the same seed differ"),
        (AlwaysTheSame, "seed", "different seeds play the same"),
        (Remembers, "seed", "the same seed differ"),
        (CountsHalf, "form", "plays 200 rounds and counts 400"),
        (ReportsFewer, "form", "the result is of 399 trials"),
        (OtherName, "form", "trials of 'other'"),
        (NoName, "form", "has no name"),
        (OtherBound, "form", "the result's bound is 0.9"),
        (NoBound, "form", "the result's bound is None"),
        (PriorTooLow, "prior", "better than the blind success"),
        (PriorTooHigh, "prior", "worse than the blind success"),
        (UniformPrior, "prior", "skewed prior it does better"),
        (BestUnitAfterTheFact, "prior", "better than the blind success"),
        (Mutates, "game", "changes the game"),
        (NotAResult, "form", "type float"),
        (Fails, "form", "it fails: KeyError"),
    ],
)
def test_offenders_are_caught(offender, rule, words):
    games = example_games() if offender is Mutates else GAMES
    with pytest.raises(AssertionError, match=f"Rule broken: {rule}. .*{words}"):
        check_attack(offender(), games=games)


def test_what_is_no_attack_is_refused():
    with pytest.raises(AssertionError, match="Attack"):
        check_attack(OptimalMembershipAttack)


def test_a_leak_that_is_none_is_not_found():
    """The check is honest about its own leaks: a sound mechanism among them fails it."""
    games = dataclasses.replace(GAMES, leaks={"nothing": GAMES.sound})
    with pytest.raises(AssertionError, match="planted"):
        check_attack(IdentificationAttack(), games=games)


def test_the_games_promise_the_same():
    bounds = {game.bound(0.5) for game in (GAMES.sound, *GAMES.leaks.values())}
    assert len(bounds) == 1
    assert len(GAMES.leaks) == 3
    assert np.allclose(GAMES.sound.members.mean(axis=0), 0.5)
    assert GAMES.skewed.prior.max() > 1.5 * GAMES.sound.prior.max()


@pytest.mark.soak
def test_the_sound_games_posterior_is_the_truth():
    """Calibrated as in tests/audit, at four standard errors of 2000 rounds."""
    generator = np.random.default_rng(0)
    rounds = [GAMES.sound.play(generator) for _ in range(2000)]
    named = np.array([np.argmax(played.posterior) == played.secret for played in rounds])
    top = np.array([played.posterior.max() for played in rounds])
    assert abs(np.mean(named - top)) <= 4 * np.std(named - top) / np.sqrt(2000)


class Copies(Naming):
    def run(self, game, n_trials, seed):
        assert copy.deepcopy(game).bound(0.5) == game.bound(0.5)
        assert game.codes.shape[1] == len(game.prior)  # what a kind of game has of its own
        return super().run(game, n_trials, seed)


def test_the_game_is_the_one_it_was_given():
    check_attack(Copies(), games=GAMES)
