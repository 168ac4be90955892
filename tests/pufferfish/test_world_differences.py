from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from pacsklearn import DifferingRows, GroupScenario, PrevalenceScenario, Scenario, SimulatorScenario
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


@pytest.mark.parametrize("n_draws", [1, 4])
def test_prevalence(n_draws):
    scenario = PrevalenceScenario(shift=0.1, n_draws=n_draws)
    worlds = scenario.worlds(X, Y, COLUMN)
    found = world_differences(scenario, X, Y, COLUMN)
    assert found.n_differing == by_hand(worlds) > 0
    assert (found.n_secrets, found.n_pairs) == (7, 21)
    assert (found.n_priors, found.n_draws) == (1, n_draws)


def test_what_cannot_be_counted():
    scenario = SimulatorScenario(lambda s, p, rng: (X, Y), secrets=("a", "b"))
    with pytest.raises(ScenarioError, match="by draws only"):
        world_differences(scenario, X, Y, None)
    with pytest.raises(ScenarioError, match="different numbers of rows"):
        world_differences(GroupScenario(), X, Y, SecretColumn(np.arange(40) < 9))


@dataclass(frozen=True)
class Uneven(Scenario):
    """Two data sets against three: there is no n-th with n-th."""

    protects = "a parity"
    releases = "the model fitted on the rows given"
    description = "Uneven()"

    def worlds(self, X: Any, y: Any, secret: Any) -> Worlds:
        rows = np.arange(40)
        shifted = [RowWorld(np.where(rows < k, (rows + 20) % 40, rows)) for k in (0, 3, 5, 2, 9)]
        return Worlds(
            ("even", "odd"), ("one",), tuple(shifted), (Law(0, 0, (0, 1)), Law(1, 0, (2, 3, 4))),
            ((0, 1),),
        )  # fmt: skip


def test_laws_that_do_not_match_are_compared_all_with_all():
    sizes = {0: 0, 1: 3, 2: 5, 3: 2, 4: 9}
    expected = max(abs(sizes[i] - sizes[j]) for i, j in product((0, 1), (2, 3, 4)))
    assert world_differences(Uneven(), X, Y, None).n_differing == expected


def test_a_number_of_rows():
    assert world_differences(DifferingRows(7), X, Y, None).n_differing == 7
    assert world_differences(DifferingRows(99), X, Y, None).n_differing == 40
    assert DifferingRows().protects == "what any single row holds"
    assert "20" in DifferingRows(20).protects
