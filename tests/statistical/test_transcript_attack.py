"""Adaptive adversaries against private answers: works, stays below the bound, finds leaks.

The attacks are the optimal ones on exact posteriors, the queries are chosen greedily under the
belief. All noise is seeded, so nothing flakes. Under other seeds a comparison with the bound at a
level of 0.999 would fail with probability 0.0005 if the bound were attained; it is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from pacsklearn.audit.attack import Attack
from pacsklearn.audit.game import Game, Round
from pacsklearn.audit.identification_attack import IdentificationAttack
from pacsklearn.audit.membership_attack import OptimalMembershipAttack
from pacsklearn.audit.transcript_game import MostContested, TranscriptGame
from pacsklearn.kernel.bounds.belief import update_belief
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.balanced_space import balanced_space
from tests.kernel.answers import label_oracle

pytestmark = pytest.mark.statistical

M, ROWS, QUERIES = 16, 60, 10
ATTACKS: list[Attack] = [OptimalMembershipAttack(n_pilot=100), IdentificationAttack()]


@pytest.fixture(scope="module")
def space() -> SecretSpace:
    return balanced_space(ROWS, n_subsets=M)


@pytest.fixture(scope="module")
def tables(space: SecretSpace) -> dict[str, Any]:
    """What sixteen candidates of three black boxes say to the universe's own rows."""
    X, y = make_classification(
        ROWS, 4, n_informative=3, n_redundant=0, n_classes=3, flip_y=0.4, random_state=1
    )
    options = {"step_budget": 1 / 64}
    asked = {
        "labels": (KNeighborsClassifier(1), y, {}),
        "shares": (KNeighborsClassifier(3), y, {"answers": "probabilities"}),
        "values": (DecisionTreeRegressor(random_state=0), X[:, 0] ** 2, {"value_range": (0, 3)}),
    }
    return {
        name: TranscriptGame.rehearse(model, X, target, X, space, **more, **options).predictions
        for name, (model, target, more) in asked.items()
    }


def game_on(
    predictions: Any, space: SecretSpace, step: float, queries: int = QUERIES
) -> TranscriptGame:
    return TranscriptGame(
        predictions,
        space,
        step_budget=step,
        n_queries=queries,
        adversary=MostContested(predictions),
    )


class Watched(Game):
    """A game whose rounds are kept: every attack meets the same ones, in order."""

    def __init__(self, sound: Game, rounds: list[Round]) -> None:
        self._sound, self._rounds, self._met = sound, rounds, 0

    prior = property(lambda self: self._sound.prior)
    members = property(lambda self: self._sound.members)

    def bound(self, blind: float) -> float:
        return self._sound.bound(blind)

    def play(self, generator: np.random.Generator) -> Round:
        if self._met == len(self._rounds):
            self._rounds.append(self._sound.play(generator))
        self._met += 1
        return self._rounds[self._met - 1]


@pytest.mark.product(only=1)
@pytest.mark.parametrize("step", [1 / 256, 1 / 32])
@pytest.mark.parametrize("kind", ["labels", "shares", "values"])
def test_no_adaptive_attack_beats_the_bound(
    kind: str, step: float, tables: Any, space: SecretSpace
) -> None:
    game, rounds = game_on(tables[kind], space, step), []
    for attack in ATTACKS:
        result = attack.run(Watched(game, rounds), 200, seed=3)
        assert not result.violates()
        # Not even by the estimate itself.
        assert result.success <= result.bound
        if step == 1 / 32:
            # An attack that finds nothing would prove nothing.
            assert result.confidence_interval().low > result.prior


@pytest.mark.soak
def test_more_queries_tell_more(tables: Any, space: SecretSpace) -> None:
    attack = IdentificationAttack()
    few, many = (
        attack.run(game_on(tables["labels"], space, 1 / 32, queries), 150, seed=2)
        for queries in (2, 20)
    )
    assert many.confidence_interval().low > few.confidence_interval().high
    assert not many.violates()


def test_the_adversary_adapts(space: SecretSpace) -> None:
    """On most rows all candidates but one agree; the adversary finds the others."""
    generator = np.random.default_rng(0)
    predictions = np.zeros((60, M), dtype=np.int64)
    predictions[np.arange(60), generator.integers(0, M, 60)] = 1
    predictions[40:] = generator.integers(0, 2, (20, M))
    attack = IdentificationAttack()
    ordered = TranscriptGame(predictions, space, step_budget=1 / 8, n_queries=6)
    chosen = game_on(predictions, space, 1 / 8, 6)
    asked = [chosen.play(np.random.default_rng(i)).released[0] for i in range(20)]
    assert all(queries[0] >= 40 for queries in asked)
    assert np.mean(np.array(asked) >= 40) > 0.8
    assert len({tuple(queries) for queries in asked}) > 5  # they depend on the answers
    in_order, adaptive = (attack.run(game, 100, seed=3) for game in (ordered, chosen))
    assert not in_order.violates()
    assert not adaptive.violates()
    assert adaptive.confidence_interval().low > adaptive.prior


class Broken(Game):
    """The transcript game, played with one thing wrong; the adversary knows what."""

    def __init__(self, sound: TranscriptGame, step: float, how: str) -> None:
        self._sound, self._how = sound, how
        self._predictions, self._step = sound.predictions, step
        self._ask = MostContested(sound.predictions)

    prior = property(lambda self: self._sound.prior)
    members = property(lambda self: self._sound.members)

    def bound(self, blind: float) -> float:
        return self._sound.bound(blind)

    def play(self, generator: np.random.Generator) -> Round:
        sampler = SeededSampler(generator)
        secrets = [sampler.index(self.prior)]
        belief = truth = np.log(self.prior)
        asked = np.zeros(len(self._predictions), dtype=bool)
        for number in range(QUERIES):
            if self._how == "redrawn" and number:
                secrets.append(sampler.index(self.prior))
            query = self._ask(np.exp(truth), asked)
            asked[query] = True
            row = self._predictions[query]
            law = label_oracle.label_law(row.tolist(), belief.tolist(), self._step)
            centres = np.array([law.centre(label) for label in row.tolist()])
            exact = (self._how == "exact" and number < 3) or centres.shape[1] == 0
            factor = 0.05 if self._how == "quiet" else 1.0
            if exact:
                truth = update_belief(truth, np.where(row == row[secrets[-1]], 0.0, -np.inf))
                continue
            noise = np.rint(factor * sampler.noise(centres.shape[1]))
            away = centres - centres[secrets[-1]] - noise
            logs = -((away / law.scale) ** 2).sum(axis=1) / 2
            belief = update_belief(belief, logs)
            truth = update_belief(truth, logs / factor**2)
        return Round(secrets[-1], np.exp(truth), None, tuple(secrets[:-1]))


@pytest.mark.product(only=2)
@pytest.mark.parametrize("how", ["sound", "quiet", "redrawn", "exact"])
def test_planted_leaks_are_found(how: str, tables: Any, space: SecretSpace) -> None:
    game, rounds = Broken(game_on(tables["labels"], space, 1 / 64), 1 / 64, how), []
    for attack in ATTACKS:
        found = attack.run(Watched(game, rounds), 150, seed=4).violates()
        assert found is (how != "sound"), attack.name


def test_a_leak_in_the_engines_own_noise_is_found(
    tables: Any, space: SecretSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The game as it is, with a sampler that is too quiet and an adversary who does not know."""
    draw = SeededSampler.noise
    monkeypatch.setattr(
        SeededSampler, "noise", lambda self, n: np.rint(0.05 * draw(self, n)).astype(np.int64)
    )
    game = game_on(tables["labels"], space, 1 / 16)
    assert IdentificationAttack().run(game, 150, seed=5).violates()
