"""Several tables about the same people, and a person who is deleted: one secret, one ledger."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from pacsklearn import Nats, PrivacySession, SampledSubsets, Subsets
from pacsklearn.estimators.linked_table import LinkedTable, linked_space
from pacsklearn.exceptions import BudgetExhaustedError
from tests.inside import procedure_of

generator = np.random.default_rng(0)
PEOPLE = np.array([f"p{number:02d}" for number in range(40)])
X, y = generator.standard_normal((40, 2)), generator.standard_normal(40)
# Everybody has from none to three visits, in no order.
VISITS = generator.permutation(np.repeat(PEOPLE, generator.integers(0, 4, 40)))
V, w = generator.standard_normal((len(VISITS), 3)), generator.standard_normal(len(VISITS))
TABLE = LinkedTable(V, w, groups=VISITS)


def session(**options):
    return PrivacySession(X, y, budget=Nats(1.0), secret=Subsets(16), groups=PEOPLE, **options)


def test_the_candidates_of_a_linked_table_are_the_sessions_people():
    with session() as opened:
        space = linked_space(opened.space, PEOPLE, TABLE)
        assert space.entropy == opened.space.entropy
        for index in range(16):
            people = PEOPLE[opened.space.rows(index)]
            np.testing.assert_array_equal(
                space.rows(index), np.flatnonzero(np.isin(VISITS, people))
            )
        plan = opened.prepare(LinearRegression(), budget=1 / 4, table=TABLE)
        rows = space.rows(3)
        expected = LinearRegression().fit(V[rows], w[rows])
        np.testing.assert_allclose(
            plan.outputs.decode(plan.outputs.vectors[3]).coef_, expected.coef_, atol=1e-9
        )


def test_both_tables_spend_from_one_ledger_about_one_secret():
    with session() as opened:
        opened.release(Ridge(), budget=1 / 4)
        release = opened.release(Ridge(), budget=1 / 2, table=TABLE)
        assert opened.ledger.spent == pytest.approx(3 / 4, rel=1e-3)
        assert release.guarantee.n_releases == 2
        assert release.guarantee.secret.unit == "group"
        assert release.guarantee.secret.n_units == 40
        assert release.value.coef_.shape == (3,)
        with pytest.raises(BudgetExhaustedError):
            opened.release(Ridge(), budget=1 / 2, table=TABLE)


def test_a_release_of_a_linked_table_moves_the_belief_that_the_next_is_calibrated_to():
    with session() as opened:
        before = procedure_of(opened).secret.belief.copy()
        opened.release(Ridge(), budget=1 / 2, table=TABLE)
        assert np.abs(procedure_of(opened).secret.belief - before).max() > 1e-6


def test_a_deleted_person_is_in_no_candidate_and_the_refit_is_charged_to_the_same_ledger():
    with session() as opened:
        opened.release(Ridge(), budget=1 / 4)
        left = opened.without(["p07"])
        assert "p07" not in left.groups
        assert len(left.X) == 39
        plan = opened.prepare(Ridge(), budget=1 / 4, table=left)
        changed = X.copy()
        changed[7] = 1e6  # whatever the deleted row holds
        with PrivacySession(
            changed, y, budget=Nats(1.0), secret=opened.space, groups=PEOPLE
        ) as other:
            again = other.prepare(Ridge(), budget=1 / 4, table=other.without(["p07"]))
        np.testing.assert_array_equal(plan.outputs.vectors, again.outputs.vectors)
        opened.take(plan)
        assert opened.ledger.spent == pytest.approx(1 / 2, rel=1e-3)
        with pytest.raises(ValueError, match="prepare"):
            opened.take(again_of_another())


def again_of_another():
    with session() as another:
        return another.prepare(Ridge(), budget=1 / 4, table=TABLE)


def test_rows_are_numbered_where_the_session_has_no_groups():
    with PrivacySession(X, y, budget=Nats(1.0), secret=Subsets(16)) as opened:
        left = opened.without([0, 5])
        np.testing.assert_array_equal(left.groups, np.setdiff1d(np.arange(40), [0, 5]))
        assert opened.release(Ridge(), budget=1 / 4, table=left).value.coef_.shape == (2,)


def test_strangers_are_refused_without_their_names():
    with session() as opened:
        with pytest.raises(ValueError, match=r"does not have in 2 row\(s\)") as caught:
            opened.release(Ridge(), table=LinkedTable(V[:2], w[:2], groups=["zoe", "max"]))
        assert "zoe" not in str(caught.value)
        with pytest.raises(ValueError, match="does not have in 2"):
            opened.release(Ridge(), table=LinkedTable(V[:2], w[:2], groups=[0, 1]))
        with pytest.raises(ValueError, match="rows"):
            opened.release(Ridge(), table=LinkedTable(V[:2], w[:2], groups=["p01"]))
        with pytest.raises(ValueError, match="found"):
            opened.without(["p01", "zoe"])
        assert opened.ledger.spent == 0


def test_a_sampled_secret_has_no_list_to_link():
    with PrivacySession(X, y, budget=Nats(4.0), secret=SampledSubsets()) as opened:
        with pytest.raises(ValueError, match="SampledSubsets"):
            opened.release(Ridge(), table=LinkedTable(X, y, groups=np.arange(40)))
        with pytest.raises(ValueError, match="SampledSubsets"):
            opened.without([0])


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.float64])
def test_large_numbers_name_who_they_are(kind: type) -> None:
    """As doubles 2^53 and 2^53 + 1 were one: one person's rows moved with another's."""
    names = 2**53 + 2 * np.arange(12) + (kind is not np.float64) * np.arange(12)
    rows = np.random.default_rng(0).normal(size=(12, 2))
    with PrivacySession(rows, rows[:, 0], budget=0.1, secret=Subsets(4), groups=names) as opened:
        table = LinkedTable(rows[::-1], rows[::-1, 0], groups=names[::-1].astype(kind))
        plan = opened.prepare(LinearRegression(), table=table)
        assert plan.space.unit_of_row.tolist() == list(range(11, -1, -1))
        stranger = LinkedTable(rows[:1], rows[:1, 0], groups=np.array([2**63 + 2**53], np.uint64))
        with pytest.raises(ValueError, match="does not have"):
            opened.prepare(LinearRegression(), table=stranger)
