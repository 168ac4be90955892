"""Naming the secret by what is printed: finds lists made around the true table, no others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from pacsklearn_attacks import FiguresAttack
from sklearn.linear_model import LogisticRegression

from pacsklearn.audit.sliced_game import SlicedGame
from pacsklearn.plugins import registry
from pacsklearn.srpp import (
    GroupScenario,
    PrevalenceScenario,
    Renyi,
    Scenario,
    SimulatorScenario,
    Slices,
)
from pacsklearn.srpp.release.calibrated_worlds import SlicedOptions, StatedRows, calibrated_worlds
from pacsklearn.srpp.release.world_outputs import Query
from pacsklearn.srpp.scenarios.scenario import Law, RowWorld, SecretColumn, Worlds
from pacsklearn.testing import AttackGames, check_attack

pytestmark = pytest.mark.usefixtures("few_draws")

N = 120
GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(N, 3))
COLUMN = np.arange(N) % 3 == 0
Y = (X[:, 0] + COLUMN > 0).astype(int)
MEAN = Query.of_function(lambda X: X.mean(axis=0))
MODEL = Query.of_model(LogisticRegression(), registry().canonicalizer_for(LogisticRegression()))


def calibrated(scenario: Scenario, query: Any, epsilon: float, rows: Any = None) -> Any:
    own = np.arange(N) if rows is None else rows
    options = SlicedOptions(Renyi(epsilon), Slices(10))
    column = SecretColumn(COLUMN[own])
    return calibrated_worlds(query, scenario, StatedRows(X[own], Y[own], column), options)


@dataclass(frozen=True)
class AroundTheTable(Scenario):
    """The rows given and the same with some of them edited: what the first version listed."""

    protects = releases = description = "an old mistake"

    def worlds(self, X: Any, y: Any, secret: Any) -> Worlds:
        order = np.random.default_rng(0).permutation(len(X))
        lists = [np.arange(len(X))]
        for kind in (False, True):
            rows = np.arange(len(X))
            edited = order[secret.values[order] == kind][:12]
            rows[edited] = np.flatnonzero(secret.values != kind)[:12]
            lists.append(rows)
        laws = tuple(Law(i, 0, (i,)) for i in range(3))
        pairs = ((0, 1), (0, 2), (1, 2))
        names = ("as given", "higher", "lower")
        return Worlds(names, ("none",), tuple(map(RowWorld, lists)), laws, pairs)


def around(query: Any, epsilon: float) -> SlicedGame:
    """The old mechanism: each listed table made a list around itself."""
    listed = AroundTheTable().worlds(X, Y, SecretColumn(COLUMN)).worlds
    return SlicedGame([calibrated(AroundTheTable(), query, epsilon, w.rows) for w in listed])


@pytest.mark.parametrize(("query", "epsilon"), [(MEAN, 0.01), (MODEL, 0.1)], ids=["mean", "model"])
def test_a_list_around_the_true_table_names_it_every_time(query, epsilon):
    result = FiguresAttack().run(around(query, epsilon), 120, seed=0)
    assert result.n_successes == 120
    assert result.violates()
    # What a replay of one law for all secrets could not see, Bayes' rule now does too.
    best = registry().make("attack", "identification").run(around(query, epsilon), 120, seed=0)
    assert best.n_successes == 120


@pytest.mark.statistical
@pytest.mark.product(only=1)
@pytest.mark.parametrize(("query", "epsilon"), [(MEAN, 0.01), (MODEL, 0.1)], ids=["mean", "model"])
@pytest.mark.parametrize(
    "scenario",
    [PrevalenceScenario(), PrevalenceScenario(reference=(X, Y, COLUMN), n_draws=100)],
    ids=["universe", "prior"],
)
def test_the_new_lists_tell_nothing(scenario, query, epsilon):
    """Refitted with every secret as the true one; each false alarm has probability 1/2000."""
    games = [calibrated(scenario, query, epsilon) for _ in range(3)]
    game = SlicedGame(games)
    assert len(set(game.figures)) == 1
    for name in ("figures", "identification", "map"):
        result = registry().make("attack", name).run(game, 300, seed=1)
        assert not result.violates(), str(result)


def test_groups_and_simulators_print_the_same():
    def sample(secret: float, prior: Any, rng: Any) -> Any:
        return rng.normal(size=(30, 3)) + secret, None

    for scenario in (GroupScenario(), SimulatorScenario(sample, (0.0, 0.1), n_draws=100)):
        game = SlicedGame([calibrated(scenario, MEAN, 0.1) for _ in range(2)])
        assert len(set(game.figures)) == 1


@pytest.mark.soak
def test_the_contract_of_attacks():
    found = calibrated(PrevalenceScenario(n_draws=1), MEAN, 0.05)
    leaking = around(MEAN, 0.01)
    check_attack(
        FiguresAttack(),
        games=AttackGames(
            sound=SlicedGame(found),
            silent=SlicedGame(found),
            skewed=SlicedGame(found, [0.7, 0.2, 0.1]),
            leaks={"a list around the true table": leaking},
        ),
    )


def test_other_games_have_no_figures():
    from pacsklearn.testing import example_games

    with pytest.raises(ValueError, match="figures"):
        FiguresAttack().run(example_games().sound, 10, seed=0)


def test_one_calibration_for_each_secret():
    found = calibrated(PrevalenceScenario(n_draws=1), MEAN, 0.05)
    with pytest.raises(ValueError, match="calibration"):
        SlicedGame([found, found])
