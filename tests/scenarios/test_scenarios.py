from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from pacsklearn import GroupScenario, PrevalenceScenario, SimulatorScenario, SRPPPrivate
from pacsklearn.core.scenario import SecretColumn
from pacsklearn.exceptions import PluginError, ScenarioError, UnknownNameError
from pacsklearn.plugin import Registry, ScenarioRecord

N = 60
X = np.arange(2.0 * N).reshape(N, 2)
Y = (np.arange(N) % 3 == 0).astype(int)
COLUMN = np.array(["a", "b", "b"])[np.arange(N) % 3]
SECRET = SecretColumn(COLUMN)


def shares(found, value="a", column=COLUMN):
    """Share of the value in every world, by secret."""
    result = {}
    for law in found.laws:
        rows = [found.worlds[i].rows for i in law.members]
        result[found.secrets[law.secret]] = {float(np.mean(column[r] == value)) for r in rows}
    return result


class TestPrevalence:
    def test_shares_move_by_the_shift_and_no_more_rows_than_needed(self):
        found = PrevalenceScenario(shift=0.1, value="a").worlds(X, Y, SECRET, None)
        assert found.secrets == ("as given", "'a' 0.1 higher", "'a' 0.1 lower")
        assert shares(found) == {
            "as given": {20 / 60},
            "'a' 0.1 higher": {26 / 60},
            "'a' 0.1 lower": {14 / 60},
        }
        for world in found.worlds[1:]:
            assert np.sum(world.rows != np.arange(N)) == 6

    def test_aligned_worlds_share_their_unedited_rows(self):
        scenario = PrevalenceScenario(shares=(0.4, 0.5), value="a", n_draws=5)
        found = scenario.worlds(X, Y, SECRET, None)
        small, large = found.law(1, 0).members, found.law(2, 0).members
        for i, j in zip(small, large, strict=True):
            edited = found.worlds[i].rows != np.arange(N)
            np.testing.assert_array_equal(
                found.worlds[i].rows[edited], found.worlds[j].rows[edited]
            )
        assert len({found.worlds[i].rows.tobytes() for i in small}) == 5

    def test_every_value_by_default(self):
        found = PrevalenceScenario().worlds(X, Y, SECRET, None)
        assert len(found.secrets) == 5
        assert len(found.pairs) == 10
        assert found.realized == 0

    def test_every_class_keeps_a_row(self):
        y = np.zeros(N, dtype=int)
        y[7] = 1
        found = PrevalenceScenario(shift=0.3, n_draws=30).worlds(X, y, SECRET, None)
        assert all(7 in world.rows for world in found.worlds)

    def test_overwriting(self):
        frame = pd.DataFrame({"s": COLUMN, "x": X[:, 0]})
        scenario = PrevalenceScenario(value="a", edit="overwrite", n_draws=3)
        found = scenario.worlds(frame, Y, SecretColumn(COLUMN, "s"), None)
        before = frame.copy()
        rows, target = found.worlds[1].data(frame, Y)
        pd.testing.assert_frame_equal(frame, before)
        assert (rows["s"] == "a").sum() == 26
        np.testing.assert_array_equal(rows["x"], X[:, 0])
        np.testing.assert_array_equal(target, Y)
        found = PrevalenceScenario(edit="overwrite").worlds(X, Y, SecretColumn(Y, "y"), None)
        rows, target = found.worlds[1].data(X, Y)
        np.testing.assert_array_equal(rows, X)
        assert abs(target.sum() - Y.sum()) == 6
        table = np.column_stack([X, Y])
        found = PrevalenceScenario(edit="overwrite").worlds(table, Y, SecretColumn(Y, 2), None)
        assert abs(found.worlds[1].data(table, Y)[0][:, 2].sum() - Y.sum()) == 6
        with pytest.raises(ScenarioError, match="sparse"):
            found.worlds[1].data(sparse.csr_array(table), Y)

    def test_two_edits_are_two_priors(self):
        scenario = PrevalenceScenario(edit=("replace", "overwrite"), value=1, n_draws=2)
        found = scenario.worlds(X, Y, SecretColumn(Y, "y"), None)
        assert found.priors == ("edit: replace", "edit: overwrite")
        assert len(found.instances()) == 2 * len(found.pairs)

    def test_which_secrets_there_are_does_not_depend_on_the_true_share(self):
        found = PrevalenceScenario(shares=(1 / 3, 0.5), value="a").worlds(X, Y, SECRET, None)
        assert shares(found)["'a' at 0.333333"] == {1 / 3}
        rare = SecretColumn(np.where(np.arange(N) < 3, "a", "b"))
        found = PrevalenceScenario(value="a", shift=0.1).worlds(X, Y, rare, None)
        assert len(found.secrets) == 3
        assert shares(found, column=rare.values)["'a' 0.1 lower"] == {1 / N}

    def test_pairs_by_name(self):
        scenario = PrevalenceScenario(
            shares=(0.2, 0.5), value="a", pairs=[("as given", "'a' at 0.5")]
        )
        assert scenario.worlds(X, Y, SECRET, None).pairs == ((0, 2),)

    @pytest.mark.parametrize(
        ("scenario", "column", "message"),
        [
            (PrevalenceScenario(shift=0.0), COLUMN, "shift must be"),
            (PrevalenceScenario(shift=True), COLUMN, "shift must be"),
            (PrevalenceScenario(shares=(1 / 3,), value="a"), COLUMN, "no data for any other"),
            (PrevalenceScenario(shares=(0.5, 1.2)), COLUMN, "shares must be"),
            (PrevalenceScenario(shares=()), COLUMN, "shares must be"),
            (PrevalenceScenario(value="z"), COLUMN, "No row has the value 'z'"),
            (PrevalenceScenario(edit="drop"), COLUMN, "edit must be"),
            (PrevalenceScenario(edit="overwrite"), COLUMN, "column of X"),
            (PrevalenceScenario(n_draws=0), COLUMN, "n_draws"),
            (PrevalenceScenario(shares=(0.5,)), np.arange(N) % 3, "give value="),
            (PrevalenceScenario(), np.arange(N), "between 2 and 50 values"),
            (PrevalenceScenario(), np.zeros(N), "between 2 and 50 values"),
            (PrevalenceScenario(), COLUMN[:5], "one entry for each of the 60 rows"),
            (PrevalenceScenario(), np.where(np.arange(N) == 3, np.nan, 1.0), "nan"),
            (PrevalenceScenario(), np.where(np.arange(N) == 3, None, "a"), "missing"),
            (PrevalenceScenario(), np.where(np.arange(N) == 3, "c", COLUMN), "single record"),
            (PrevalenceScenario(pairs=[("as given", "z")]), COLUMN, "no data for 'z'"),
        ],
    )
    def test_bad_input(self, scenario, column, message):
        with pytest.raises(ValueError, match=message):
            scenario.worlds(X, Y, SecretColumn(np.asarray(column)), None)

    def test_it_is_not_told_what_is_true(self):
        with pytest.raises(ScenarioError, match="takes no realized"):
            PrevalenceScenario().worlds(X, Y, SECRET, "as given")
        with pytest.raises(ScenarioError, match="secret=column"):
            PrevalenceScenario().worlds(X, Y, None, None)


class TestGroup:
    def test_data_sets_are_resampled_from_the_groups_own_rows(self):
        found = GroupScenario(n_draws=6).worlds(X, Y, SECRET, "b")
        assert found.secrets == ("a", "b")
        assert found.realized == 1
        for law in found.laws:
            own = np.flatnonzero(found.secrets[law.secret] == COLUMN)
            for i in law.members:
                rows = found.worlds[i].rows
                assert rows.size == own.size
                assert np.isin(rows, own).all()
                assert Y[rows].sum() == Y[own].sum()  # within each class

    def test_one_draw_is_the_group_itself(self):
        found = GroupScenario(n_draws=1).worlds(X, Y, SECRET, "a")
        np.testing.assert_array_equal(found.worlds[0].rows, np.flatnonzero(COLUMN == "a"))

    def test_sizes_are_priors(self):
        found = GroupScenario(sizes=(1.0, 0.5), n_draws=2).worlds(X, None, SECRET, "a")
        assert len(found.priors) == 2
        assert found.worlds[found.law(0, 1).members[0]].rows.size == 10

    @pytest.mark.parametrize(
        ("scenario", "column", "realized", "message"),
        [
            (GroupScenario(), np.where(np.arange(N) == 3, "c", COLUMN), "a", "single record"),
            (GroupScenario(), COLUMN, None, "needs to know the true secret"),
            (GroupScenario(), COLUMN, "SECRET-NAME", "none of the scenario's secrets"),
            (GroupScenario(sizes=()), COLUMN, "a", "sizes must be"),
            (GroupScenario(sizes=(0.0,)), COLUMN, "a", "sizes must be"),
            (GroupScenario(pairs=[("a", "a")]), COLUMN, "a", "two different secrets"),
            (GroupScenario(pairs=["ab"]), COLUMN, "a", "pairs of secrets"),
            (GroupScenario(pairs=[("a", "q")]), COLUMN, "a", "no data for 'q'"),
        ],
    )
    def test_bad_input(self, scenario, column, realized, message):
        with pytest.raises(ScenarioError, match=message) as caught:
            scenario.worlds(X, Y, SecretColumn(column), realized)
        assert "SECRET-NAME" not in str(caught.value)


def simulate(secret, prior, rng):
    rows = rng.normal(secret, prior, size=(20, 2))
    return rows, (rows[:, 0] > secret).astype(int)


class TestSimulator:
    def test_the_rows_given_stand_for_the_true_secret(self):
        scenario = SimulatorScenario(simulate, secrets=(0.0, 1.0), priors=(1.0, 2.0), n_draws=3)
        found = scenario.worlds(X, Y, None, 1.0)
        assert found.law(1, 0).members == found.law(1, 1).members == (0,)
        np.testing.assert_array_equal(found.worlds[0].data(X, Y)[0], X)
        assert len(found.worlds) == 7
        again = scenario.worlds(X, Y, None, 1.0)
        np.testing.assert_array_equal(found.worlds[2].data(X, Y)[0], again.worlds[2].data(X, Y)[0])

    @pytest.mark.parametrize(
        ("changes", "realized", "message"),
        [
            ({"secrets": (1.0,)}, 1.0, "two secrets"),
            ({"sample": None}, 1.0, "callable"),
            ({"sample": lambda s, p, r: np.ones((3, 2))}, 1.0, "must return \\(X, y\\)"),
            ({"sample": lambda s, p, r: (np.ones((3, 5)), np.ones(3))}, 1.0, "2 columns"),
            ({"sample": lambda s, p, r: (np.ones((3, 2)), None)}, 1.0, "one target a row"),
            ({"sample": lambda s, p, r: (np.ones((3, 2)), np.ones(4))}, 1.0, "one target a row"),
            ({}, 7.0, "none of the scenario's secrets"),
            ({}, None, "needs to know"),
        ],
    )
    def test_bad_input(self, changes, realized, message):
        parts = {"sample": simulate, "secrets": (0.0, 1.0), "priors": (1.0,), **changes}
        with pytest.raises(ScenarioError, match=message):
            SimulatorScenario(**parts).worlds(X, Y, None, realized)


@pytest.mark.parametrize(
    "scenario",
    [PrevalenceScenario(), GroupScenario(), SimulatorScenario(simulate, secrets=(0.0, 1.0))],
)
def test_scenarios_can_be_parameters(scenario):
    private = SRPPPrivate(LogisticRegression(), scenario=scenario)
    assert clone(private).scenario == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario == copy.deepcopy(scenario)
    assert scenario.description == copy.deepcopy(scenario).description
    assert scenario.protects
    assert scenario.releases


def test_worlds_show_nothing():
    found = GroupScenario().worlds(X, Y, SECRET, "a")
    assert repr(found.worlds[0]) == "RowWorld(...)"
    assert "realized" not in repr(found)
    drawn = SimulatorScenario(simulate, (0.0, 1.0), (1.0,)).worlds(X, Y, None, 0.0).worlds[1]
    assert repr(drawn) == "DataWorld(...)"


def test_names_are_strict():
    plugins = Registry(list)
    assert plugins.scenario("group") == GroupScenario()
    assert plugins.scenario("prevalence") == PrevalenceScenario(shift=0.1)
    given = GroupScenario(n_draws=3)
    assert plugins.scenario(given) is given
    with pytest.raises(UnknownNameError, match="group, prevalence"):
        plugins.scenario("groups")
    plugins.register(ScenarioRecord("wrong", dict))
    with pytest.raises(PluginError, match="not a Scenario"):
        plugins.scenario("wrong")
    assert all(record.description for record in Registry(list).records("scenario"))
