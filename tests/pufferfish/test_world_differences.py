from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from pacsklearn import DifferingRows, PrevalenceScenario, Scenario, SimulatorScenario
from pacsklearn.core.scenario import Law, SecretColumn, Worlds
from pacsklearn.exceptions import ScenarioError
from pacsklearn.pufferfish.world_differences import world_differences
from pacsklearn.scenarios.row_world import RowWorld

X = np.random.default_rng(0).normal(size=(40, 2)).round(1)
Y = np.arange(40) % 3
COLUMN = SecretColumn(Y, "y")


def by_hand(worlds):
    """All pairs of rows, the n-th data sets together."""
    tables = [np.column_stack(world.data(X, Y)) for world in worlds.worlds]
    most = 0
    for left, right in worlds.instances():
        n = max(len(left.members), len(right.members))
        for k in range(n):
            one = tables[left.members[k % len(left.members)]]
            other = tables[right.members[k % len(right.members)]]
            most = max(most, sum(not np.array_equal(a, b) for a, b in zip(one, other, strict=True)))
    return most


@pytest.mark.parametrize("edit", ["replace", "overwrite", ("replace", "overwrite")])
@pytest.mark.parametrize("n_draws", [1, 4])
def test_prevalence(edit, n_draws):
    scenario = PrevalenceScenario(shift=0.1, edit=edit, n_draws=n_draws)
    worlds = scenario.worlds(X, Y, COLUMN, None)
    found = world_differences(scenario, X, Y, COLUMN, None)
    assert found.n_differing == by_hand(worlds) > 0
    assert (found.n_secrets, found.n_pairs) == (7, 21)
    assert (found.n_priors, found.n_draws) == (2 if len(edit) == 2 else 1, n_draws)


def test_a_simulator_changes_everything_unless_it_keeps_rows():
    def all_new(secret, prior, rng):
        return rng.normal(size=(40, 2)), Y

    def some(secret, prior, rng):
        rows = X.copy()
        rows[:7] += 1
        return rows, Y

    for sample, count in ((all_new, 40), (some, 7)):
        scenario = SimulatorScenario(sample, secrets=("a", "b"), n_draws=3)
        assert world_differences(scenario, X, Y, None, "a").n_differing == count
    shorter = SimulatorScenario(lambda s, p, rng: (X[:9], Y[:9]), secrets=("a", "b"))
    with pytest.raises(ScenarioError, match="different numbers of rows"):
        world_differences(shorter, X, Y, None, "a")
    same = SimulatorScenario(lambda s, p, rng: (X, Y), secrets=("a", "b"))
    with pytest.raises(ScenarioError, match="nothing to hide"):
        world_differences(same, X, Y, None, "a")


@dataclass(frozen=True)
class Uneven(Scenario):
    """Two data sets against three: there is no n-th with n-th."""

    protects = "a parity"
    releases = "the model fitted on the rows given"
    description = "Uneven()"

    def worlds(self, X: Any, y: Any, secret: Any, realized: Any) -> Worlds:
        rows = np.arange(40)
        shifted = [RowWorld(np.where(rows < k, (rows + 20) % 40, rows)) for k in (0, 3, 5, 2, 9)]
        return Worlds(
            ("even", "odd"), ("one",), tuple(shifted), (Law(0, 0, (0, 1)), Law(1, 0, (2, 3, 4))),
            ((0, 1),), 0,
        )  # fmt: skip


def test_laws_that_do_not_match_are_compared_all_with_all():
    sizes = {0: 0, 1: 3, 2: 5, 3: 2, 4: 9}
    expected = max(abs(sizes[i] - sizes[j]) for i, j in product((0, 1), (2, 3, 4)))
    assert world_differences(Uneven(), X, Y, None, None).n_differing == expected


@dataclass(frozen=True)
class Elsewhere(Uneven):
    """The true secret stands for other rows than the ones given."""

    def worlds(self, X: Any, y: Any, secret: Any, realized: Any) -> Worlds:
        found = super().worlds(X, y, secret, realized)
        return Worlds(
            found.secrets, found.priors, found.worlds[1:], (Law(0, 0, (0,)), Law(1, 0, (1,))),
            found.pairs, 0,
        )  # fmt: skip


def test_training_is_on_the_rows_of_the_true_secret():
    with pytest.raises(ScenarioError, match="does not stand for the rows given"):
        world_differences(Elsewhere(), X, Y, None, None)


def test_a_number_of_rows():
    assert world_differences(DifferingRows(7), X, Y, None, None).n_differing == 7
    assert world_differences(DifferingRows(99), X, Y, None, None).n_differing == 40
    assert DifferingRows().protects == "what any single row holds"
    assert "20" in DifferingRows(20).protects
