from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from pacsklearn import SRPPPrivate
from pacsklearn.exceptions import ScenarioError, UnknownNameError
from pacsklearn.plugins import Registry
from pacsklearn.srpp import GroupScenario, PrevalenceScenario, SimulatorScenario
from pacsklearn.srpp.scenarios.scenario import Law, RowWorld, SecretColumn, Worlds

N = 60
X = np.arange(2.0 * N).reshape(N, 2)
Y = (np.arange(N) % 3 == 0).astype(int)
COLUMN = np.array(["a", "b", "b"])[np.arange(N) % 3]
SECRET = SecretColumn(COLUMN)


def shares(found, value="a", column=COLUMN):
    """Share of the value in every training set, by secret."""
    result = {}
    for law in found.laws:
        rows = [found.worlds[i].rows for i in law.members]
        result[found.secrets[law.secret]] = {float(np.mean(column[r] == value)) for r in rows}
    return result


class TestPrevalence:
    def test_a_grid_of_shares_in_training_sets_of_one_size(self):
        scenario = PrevalenceScenario(shares=(0.3, 0.4, 0.5), value="a", n_draws=3)
        found = scenario.worlds(X, Y, SECRET)
        assert found.secrets == ("'a' at 0.3", "'a' at 0.4", "'a' at 0.5")
        assert found.values == (0.3, 0.4, 0.5)
        assert {world.rows.size for world in found.worlds} == {40}  # 20 of "a", 0.5 of 40
        assert shares(found) == {"'a' at 0.3": {0.3}, "'a' at 0.4": {0.4}, "'a' at 0.5": {0.5}}

    def test_by_default_the_tables_share_and_a_tenth_more_or_less(self):
        found = PrevalenceScenario(value="a", n_draws=2).worlds(X, Y, SECRET)
        assert found.secrets == ("as in the table", "'a' 0.1 higher", "'a' 0.1 lower")
        size = found.worlds[0].rows.size
        assert size == 46  # 20 / (1/3 + 0.1)
        for name, share in zip(found.secrets, (1 / 3, 1 / 3 + 0.1, 1 / 3 - 0.1), strict=True):
            (own,) = shares(found)[name]
            assert abs(own - share) <= 0.5 / size

    def test_every_value_by_default(self):
        three = np.array(["a", "b", "c"])[np.arange(N) % 3]
        found = PrevalenceScenario().worlds(X, Y, SecretColumn(three))
        assert len(found.secrets) == 7
        assert len(found.pairs) == 21

    def test_two_values_have_one_share_to_hide(self):
        two = SecretColumn(np.arange(N) % 4 == 0)
        found = PrevalenceScenario().worlds(X, Y, two)
        assert found.secrets == ("as in the table", "True 0.1 higher", "True 0.1 lower")

    def test_a_rare_value_costs_half_the_rows_at_most(self):
        rare = SecretColumn(np.where(np.arange(N) < 3, "a", "b"))
        found = PrevalenceScenario(value="a", shift=0.3).worlds(X, Y, rare)
        assert found.worlds[0].rows.size == 30
        assert shares(found, column=rare.values) == {
            "as in the table": {2 / 30},
            "'a' 0.3 higher": {3 / 30},
            "'a' 0.3 lower": {1 / 30},
        }

    def test_fixed_size(self):
        found = PrevalenceScenario(value="a", size=30).worlds(X, Y, SECRET)
        assert {world.rows.size for world in found.worlds} == {30}

    def test_pairs_by_name(self):
        scenario = PrevalenceScenario(
            shares=(0.2, 0.3, 0.5), value="a", pairs=[("'a' at 0.2", "'a' at 0.5")]
        )
        assert scenario.worlds(X, Y, SECRET).pairs == ((0, 2),)

    def test_a_reference_gives_tables_of_its_rows(self):
        scenario = PrevalenceScenario(
            shares=(0.25, 0.5), value="a", reference=(X, Y, COLUMN), n_draws=4
        )
        assert not scenario.redrawn
        found = scenario.worlds(*scenario.reference)
        assert shares(found) == {"'a' at 0.25": {0.25}, "'a' at 0.5": {0.5}}
        low, high = (found.law(i, 0).members for i in (0, 1))
        for i, j in zip(low, high, strict=True):
            one, other = found.worlds[i].rows, found.worlds[j].rows
            assert one.size == other.size == N
            assert np.sum(one != other) == 15  # a quarter of the rows, the rest are the same
        assert len({found.worlds[i].rows.tobytes() for i in low}) == 4
        assert "how frequent 'a' is in the table" in scenario.protects

    def test_another_reference_is_another_scenario_on_a_ledger(self):
        one = PrevalenceScenario(reference=(X, Y, COLUMN))
        other = PrevalenceScenario(reference=(X + 1, Y, COLUMN))
        assert one.description != other.description
        assert one.description == copy.deepcopy(one).description

    @pytest.mark.parametrize(
        ("scenario", "column", "message"),
        [
            (PrevalenceScenario(shift=0.0), COLUMN, "shift"),
            (PrevalenceScenario(shift=True), COLUMN, "shift"),
            (PrevalenceScenario(shares=(0.5,), value="a"), COLUMN, "shares"),
            (PrevalenceScenario(shares=(0.5, 1.2)), COLUMN, "shares"),
            (PrevalenceScenario(shares=()), COLUMN, "shares"),
            (PrevalenceScenario(shares=(30, 40)), COLUMN, "30 % is 0.3"),
            (PrevalenceScenario(shares=0.5), COLUMN, "shares"),
            (PrevalenceScenario(shares=(0.2, float("nan"))), COLUMN, "shares"),
            (PrevalenceScenario(shares=(0.5, 0.501), value="a"), COLUMN, "shares"),
            (PrevalenceScenario(value="z"), COLUMN, "value"),
            (PrevalenceScenario(n_draws=0), COLUMN, "n_draws"),
            (PrevalenceScenario(size=1), COLUMN, "size"),
            (PrevalenceScenario(size=60), COLUMN, "allows"),
            (PrevalenceScenario(shares=(0.2, 0.5)), np.arange(N) % 3, "value"),
            (PrevalenceScenario(), np.arange(N), "between"),
            (PrevalenceScenario(), np.zeros(N), "which every row has"),
            (PrevalenceScenario(), COLUMN[:5], "entry"),
            (PrevalenceScenario(), np.where(np.arange(N) == 3, np.nan, 1.0), "nan"),
            (PrevalenceScenario(), np.where(np.arange(N) == 3, None, "a"), "missing"),
            (PrevalenceScenario(), np.where(np.arange(N) == 3, "c", COLUMN), "single"),
            (PrevalenceScenario(pairs=[("as in the table", "z")]), COLUMN, "data"),
        ],
    )
    def test_bad_input(self, scenario, column, message):
        with pytest.raises(ValueError, match=message):
            scenario.worlds(X, Y, SecretColumn(np.asarray(column)))

    def test_it_needs_a_column(self):
        with pytest.raises(ScenarioError, match="secret=column"):
            PrevalenceScenario().worlds(X, Y, None)


class TestGroup:
    def test_data_sets_are_resampled_from_the_groups_own_rows(self):
        found = GroupScenario(n_draws=6).worlds(X, Y, SECRET)
        assert found.secrets == ("a", "b")
        assert found.index("b") == 1
        for law in found.laws:
            own = np.flatnonzero(found.secrets[law.secret] == COLUMN)
            for i in law.members:
                rows = found.worlds[i].rows
                assert rows.size == own.size
                assert np.isin(rows, own).all()
                assert Y[rows].sum() == Y[own].sum()  # within each class

    def test_one_draw_is_the_group_itself(self):
        found = GroupScenario(n_draws=1).worlds(X, Y, SECRET)
        np.testing.assert_array_equal(found.worlds[0].rows, np.flatnonzero(COLUMN == "a"))

    def test_sizes_are_priors(self):
        found = GroupScenario(sizes=(1.0, 0.5), n_draws=2).worlds(X, None, SECRET)
        assert len(found.priors) == 2
        assert found.worlds[found.law(0, 1).members[0]].rows.size == 10

    @pytest.mark.parametrize(
        ("scenario", "column", "message"),
        [
            (GroupScenario(), np.where(np.arange(N) == 3, "c", COLUMN), "single"),
            (GroupScenario(sizes=()), COLUMN, "sizes"),
            (GroupScenario(sizes=(0.0,)), COLUMN, "sizes"),
            *(
                (GroupScenario(sizes=bad), COLUMN, "sizes must be")
                for bad in (1.0, "1", (1, "x"), (True,))
            ),
            (GroupScenario(sizes=iter((1.0,))), COLUMN, "sizes"),
            (GroupScenario(pairs=[("a", "a")]), COLUMN, "different"),
            (GroupScenario(pairs=["ab"]), COLUMN, "pairs"),
            (GroupScenario(pairs=[("a", "q")]), COLUMN, "data"),
        ],
    )
    def test_bad_input(self, scenario, column, message):
        with pytest.raises(ScenarioError, match=message):
            scenario.worlds(X, Y, SecretColumn(column))


def simulate(secret, prior, rng):
    rows = rng.normal(secret, prior, size=(20, 2))
    return rows, (rows[:, 0] > secret).astype(int)


class TestSimulator:
    def test_every_secret_stands_for_simulated_tables_drawn_alike(self):
        scenario = SimulatorScenario(simulate, secrets=(0.0, 1.0), priors=(1.0, 2.0), n_draws=3)
        found = scenario.worlds(None, None, None)
        assert len(found.worlds) == 12
        assert found.values == (0.0, 1.0)
        odd = SimulatorScenario(simulate, secrets=("a", "b\x1b[2J"), about="who\r\nis there")
        assert odd.protects == "who  is there: a, b [2J"
        tables = [world.data(None, None)[0] for world in found.worlds]
        np.testing.assert_array_equal(tables[0], found.worlds[0].data(None, None)[0])
        assert not np.array_equal(tables[0], tables[1])
        low, high = found.law(0, 1).members, found.law(1, 1).members
        for i, j in zip(low, high, strict=True):
            np.testing.assert_allclose(tables[j] - tables[i], 1.0)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"secrets": (1.0,)}, "secrets"),
            ({"sample": None}, "callable"),
            ({"sample": lambda secret, rng: None}, "callable"),
            ({"sample": lambda s, p, r: np.ones((3, 2))}, "return"),
            ({"sample": lambda s, p, r: (np.ones(3), None)}, "table"),
            ({"sample": lambda s, p, r: (np.ones((3, 2 + int(s))), None)}, "form"),
            ({"sample": lambda s, p, r: (np.ones((3, 2)), np.ones(4))}, "target"),
        ],
    )
    def test_bad_input(self, changes, message):
        parts = {"sample": simulate, "secrets": (0.0, 1.0), "priors": (1.0,), **changes}
        with pytest.raises(ScenarioError, match=message):
            SimulatorScenario(**parts).worlds(None, None, None)


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
    found = GroupScenario().worlds(X, Y, SECRET)
    assert repr(found.worlds[0]) == "RowWorld(...)"
    drawn = SimulatorScenario(simulate, (0.0, 1.0), (1.0,)).worlds(None, None, None).worlds[1]
    assert repr(drawn) == "SimulatedWorld(...)"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pairs": ((0, 0),)}, "two different"),
        ({"pairs": ((0, -2),)}, "two different"),
        ({"secrets": ("a", "a")}, "different names"),
        ({"laws": (Law(0, 0, (0,)), Law(1, 0, (7,)))}, "positions of worlds"),
    ],
)
def test_what_is_not_there_cannot_be_told_apart(wrong, message):
    parts = {
        "secrets": ("a", "b"),
        "priors": ("one",),
        "worlds": (RowWorld(np.arange(5)), RowWorld(np.arange(6))),
        "laws": (Law(0, 0, (0,)), Law(1, 0, (1,))),
        "pairs": ((0, 1),),
    }
    assert Worlds(**parts).index("b") == 1
    with pytest.raises(ScenarioError, match=message):
        Worlds(**parts | wrong)


def test_names_are_strict():
    plugins = Registry(list)
    assert plugins.make("scenario", "group") == GroupScenario()
    assert plugins.make("scenario", "prevalence") == PrevalenceScenario(shift=0.1)
    given = GroupScenario(n_draws=3)
    assert plugins.make("scenario", given) is given
    with pytest.raises(UnknownNameError, match="group"):
        plugins.make("scenario", "groups")
    assert all(record.description for record in Registry(list).registrations("scenario"))
