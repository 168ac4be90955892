from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pacsklearn.exceptions import ScenarioError
from pacsklearn.srpp import (
    DifferingRows,
    GroupScenario,
    PrevalenceScenario,
    Scenario,
    SimulatorScenario,
)
from pacsklearn.srpp.release.world_differences import (
    WorldDifferences,
    _differing,
    coupled_counts,
    world_differences,
)
from pacsklearn.srpp.scenarios.scenario import DataWorld, Law, RowWorld, SecretColumn, Worlds

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
    found = world_differences(worlds, X, Y)
    assert found.n_differing == by_hand(worlds) > 0
    assert (found.n_secrets, found.n_pairs) == (7, 21)
    assert (found.n_priors, found.n_draws) == (1, n_draws)


def test_what_cannot_be_counted():
    worlds = GroupScenario().worlds(X, Y, SecretColumn(np.arange(40) < 9))
    with pytest.raises(ScenarioError, match="different"):
        world_differences(worlds, X, Y)
    same = Worlds(
        ("a", "b"), ("one",), (RowWorld(np.arange(40)),), (Law(0, 0, (0,)), Law(1, 0, (0,))),
        ((0, 1),),
    )  # fmt: skip
    with pytest.raises(ScenarioError, match="hide"):
        world_differences(same, X, Y)


def test_coupled_draws_of_a_simulator():
    """Rows that are drawn alike under both secrets do not differ."""

    def sample(secret, prior, rng):
        rows, count = rng.normal(size=(40, 2)), rng.integers(0, 9)
        rows[:count] += secret
        return rows, np.arange(40) % 2

    scenario = SimulatorScenario(sample, secrets=(0.0, 1.0, 2.0), n_draws=50)
    counts = coupled_counts(scenario.worlds(None, None, None), 40)
    assert counts.shape == (3, 50)
    np.testing.assert_array_equal(counts[0], counts[1])
    assert set(counts[0]) == set(range(9))
    with pytest.raises(ScenarioError, match="tables"):
        coupled_counts(scenario.worlds(None, None, None), 39)


@pytest.mark.parametrize("odd", [0, 1, 5])
def test_every_draw_has_the_rows_of_the_table(odd):
    sizes = [39 if k % 6 == odd else 40 for k in range(12)]  # two priors' worth for each secret
    tables = tuple(DataWorld(np.zeros((size, 2))) for size in sizes)
    laws = tuple(Law(s, p, (6 * s + 3 * p, 6 * s + 3 * p + 1, 6 * s + 3 * p + 2))
                 for s in (0, 1) for p in (0, 1))  # fmt: skip
    worlds = Worlds(("a", "b"), ("one", "other"), tables, laws, ((0, 1),))
    with pytest.raises(ScenarioError, match="tables"):
        coupled_counts(worlds, 40)


def test_coupled_draws_of_a_reference():
    scenario = PrevalenceScenario(
        shares=(0.3, 0.5), value=1, reference=(X, Y % 2, Y % 2), n_draws=20
    )
    worlds = scenario.worlds(*scenario.reference)
    counts = coupled_counts(worlds, 40)
    # Eight rows more of the value, and some of theirs may come from the same row.
    assert counts.shape == (1, 20)
    assert counts.max() <= 40
    assert counts.min() >= 8


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
    assert world_differences(Uneven().worlds(X, Y, None), X, Y).n_differing == expected


def test_a_number_of_rows():
    assert DifferingRows(7).most_differing(40) == 7
    assert DifferingRows(99).most_differing(40) == 40
    assert DifferingRows().protects == "what any single row holds"
    assert "20" in DifferingRows(20).protects


def test_a_row_differs_whichever_way_and_wherever_it_does() -> None:
    """Larger, smaller, unknown, or in its target alone; whichever data set is named first."""
    one = np.array([[0.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, np.nan], [5.0, 5.0]])
    two = np.array([[0.0, 1.5], [2.0, 1.0], [3.0, 3.0], [4.0, np.nan], [5.0, 5.0]])
    for targets, n_differing in (((None, None), 3), ((np.zeros(5), np.eye(5)[4]), 4)):
        worlds = [
            SimpleNamespace(rows=None, data=lambda X, y, table=table: table)
            for table in zip((one, two), targets, strict=True)
        ]
        assert _differing(*worlds, None, None) == n_differing
        assert _differing(*worlds[::-1], None, None) == n_differing


def test_where_data_sets_are_not_listed_two_secrets_stand_for_any_one_pair() -> None:
    found = WorldDifferences(3)
    sizes = (found.n_differing, found.n_secrets, found.n_pairs, found.n_priors, found.n_draws)
    assert (sizes, found.coupling) == ((3, 2, 1, 1, 1), "row by row, any two data sets")
