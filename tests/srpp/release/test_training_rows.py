"""Which rows a run trains on, and which caps go with it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pacsklearn.exceptions import ScenarioError
from pacsklearn.srpp import (
    Batches,
    DifferingRows,
    GroupScenario,
    NoiseMultiplier,
    PrevalenceScenario,
    SimulatorScenario,
)
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.parameters.run_choices import RunChoices
from pacsklearn.srpp.release.training_rows import training_rows
from pacsklearn.srpp.release.world_differences import coupled_counts
from pacsklearn.srpp.scenarios.scenario import SecretColumn


def cap(n_rows: int = 40, batch_size: int = 8, sampling: str = "poisson", n_differing: int = 3):
    return DiscrepancyCap.differing(n_rows, n_differing, batch_size, sampling)


@pytest.mark.parametrize(
    "other",
    [
        {"n_rows": 39},
        {"n_rows": 41},
        {"batch_size": 7},
        {"batch_size": 9},
        {"sampling": "with-replacement"},
        {"sampling": "without-replacement"},
    ],
)
def test_a_cap_for_other_batches_is_refused(other) -> None:
    """Also one that is larger in one number and smaller in the next."""
    with pytest.raises(ValueError, match="make"):
        training_rows(asked(DifferingRows(3), cap(**other)), X, Y, COLUMN, None)


def test_a_cap_may_hide_more_than_the_scenario_promises_and_not_less() -> None:
    for n_differing in (3, 4):
        given = cap(n_differing=n_differing)
        found = training_rows(asked(DifferingRows(3), given), X, Y, COLUMN, None)
        assert found.cap is given
    with pytest.raises(ScenarioError, match="DifferingRows"):
        training_rows(asked(DifferingRows(3), cap(n_differing=2)), X, Y, COLUMN, None)


COLUMN = SecretColumn(np.arange(40) % 2, "y", by_default=True)
X, Y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2


def asked(
    scenario: Any = None, discrepancy: Any = None, size: int = 8, **options: Any
) -> RunChoices:
    batches = Batches(size, discrepancy=discrepancy)
    return RunChoices(options.pop("budget", NoiseMultiplier(1.0)), scenario, batches, **options)


def test_all_rows_where_no_training_set_is_drawn() -> None:
    """The cap is that of the scenario's number of rows; a batch is never more than the table."""
    for scenario, n_differing in ((None, 1), (DifferingRows(5), 5)):
        for batch_size, used in ((8, 8), (40, 40), (41, 40)):
            found = training_rows(asked(scenario=scenario, size=batch_size), X, Y, COLUMN, None)
            assert found.chosen is None
            assert found.of(X) is X
            assert (found.n_rows, found.batch_size) == (40, used)
            assert found.cap == cap(40, used, "poisson", n_differing)
            assert found.differences.n_differing == n_differing
            assert found.provenance.name == "differing_rows"


SHARES = PrevalenceScenario(shares=(0.3, 0.4), value=1, size=20, n_draws=3)


def test_a_drawn_training_set_is_one_of_the_true_shares() -> None:
    """Each of them, and of no other share; every share when none is stated."""
    worlds = SHARES.worlds(X, Y, COLUMN)
    listed = {each.rows.tobytes(): number for number, each in enumerate(worlds.worlds)}

    def drawn(realized: Any) -> set[int]:
        found = [training_rows(asked(scenario=SHARES), X, Y, COLUMN, realized) for _ in range(130)]
        assert {each.n_rows for each in found} == {20}
        np.testing.assert_array_equal(found[0].of(X), X[found[0].chosen])
        return {listed[each.chosen.tobytes()] for each in found}

    # One of six sets is missed by all of 130 draws once in 3e9 runs, one of three far less often.
    assert drawn(0.3) == set(worlds.law(0, 0).members)
    assert drawn(0.4) == set(worlds.law(1, 0).members)
    assert drawn(None) == set(range(6))


def test_without_noise_no_training_set_is_drawn() -> None:
    found = training_rows(asked(scenario=SHARES, budget=NoiseMultiplier(0)), X, Y, COLUMN, None)
    assert (found.chosen, found.n_rows) == (None, 40)


def test_a_run_that_goes_on_must_be_told_the_true_secret() -> None:
    with pytest.raises(ScenarioError, match="realized"):
        training_rows(asked(scenario=SHARES), X, Y, COLUMN, None, goes_on=True)
    known = training_rows(asked(scenario=SHARES), X, Y, COLUMN, 0.3, goes_on=True)
    assert known.n_rows == 20
    stated = GroupScenario(n_draws=2)
    with pytest.raises(ScenarioError, match=r"realized=\.\.\.\)\.$"):
        training_rows(asked(scenario=stated), X, Y, COLUMN, None)


def simulated(secret: float, prior: Any, rng: Any) -> Any:
    rows, count = rng.normal(size=(40, 2)), rng.integers(0, 4)
    rows[:count] += secret
    return rows, np.arange(40) % 2


def test_of_drawn_tables_the_cap_is_counted_and_a_given_one_is_no_smaller() -> None:
    scenario = SimulatorScenario(simulated, secrets=(0.0, 1.0), n_draws=200)
    worlds = scenario.worlds(None, None, None)
    found = training_rows(asked(scenario=scenario), X, Y, None, None)
    counts = coupled_counts(worlds, 40)
    assert found.cap == DiscrepancyCap.coupled(
        counts, 40, 8, "poisson", gamma=1 - scenario.confidence
    )
    # Of so few draws the worst batch is a whole one, in every step: no tail is left.
    assert (found.cap.tail, found.cap.failure) == (0.0, 1 - scenario.confidence)
    assert (found.chosen, found.n_rows, found.differences.n_draws) == (None, 40, 200)
    with pytest.raises(ScenarioError, match="realized"):
        training_rows(asked(scenario=scenario), X, Y, None, 1.0)
    with pytest.raises(ScenarioError, match="needs"):
        training_rows(asked(discrepancy=cap(40, 8, "poisson", 2)), X, Y, None, None)
    # The tables differ in 3 rows at most: no number of draws shows it, of 2 nor of 39.
    for n_differing in (0, 2, 39):
        given = cap(40, 8, "poisson", n_differing)
        with pytest.raises(ScenarioError, match="SimulatorScenario"):
            training_rows(asked(scenario=scenario, discrepancy=given), X, Y, None, None)
    everything = cap(40, 8, "poisson", 40)
    given = training_rows(asked(scenario=scenario, discrepancy=everything), X, Y, None, None)
    assert given.cap is everything
    larger = DiscrepancyCap.coupled(counts + 1, 40, 8, "poisson", gamma=1e-9)
    given = training_rows(asked(scenario=scenario, discrepancy=larger), X, Y, None, None)
    assert given.cap.second_moment == larger.second_moment
    # It is believed as the scenario's own draws are, and no more.
    assert given.cap.failure == 1 - scenario.confidence


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_a_seeded_run_that_goes_on_draws_other_noise_and_the_same_each_time() -> None:
    def noise(record: Any) -> list[int]:
        found = training_rows(asked(random_state=3), X, Y, None, None, record=record)
        return found.sampler.noise(5).tolist()

    records = [None, SimpleNamespace(n_steps=1), SimpleNamespace(n_steps=2)]
    drawn = [noise(record) for record in records]
    assert len({tuple(each) for each in drawn}) == 3
    assert [noise(record) for record in records] == drawn
    assert training_rows(asked(), X, Y, None, None, record=records[1]).sampler.is_secure
