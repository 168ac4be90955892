"""Charges of private answers: before they are given, within the budget, never more than unknown."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.estimators.cost_preview import affords, preview
from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.kernel.bounds.belief import belief_entropy
from pacsklearn.kernel.ledger.event import LatticeNoise, QueryAnswers
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from tests.inside import answers_of, secret_of
from tests.kernel.answers.contested import MODEL, M, session_on


@pytest.mark.parametrize("place", ["own", "shared"])
def test_what_does_not_fit_is_refused_untouched(
    rows: Any, untouched: list[int], place: str
) -> None:
    X, _ = rows
    shared = MemoryLedger(0.5)
    session = session_on(rows, 0.5 if place == "own" else 2.0, ledger=shared)
    responder = session.responder(MODEL, query_budget=1 / 50)
    contested = preview(responder, X[80:]).n_contested
    assert contested > 25
    if place == "shared":
        shared.charge(LatticeNoise("parameters", 0.1, "nats", "other", 0.1, 8, 1, 1))
    before, belief = shared.spent, secret_of(session).log_belief.copy()
    with pytest.raises(BudgetExhaustedError) as caught:
        responder.predict(X[80:])
    assert (caught.value.spent, caught.value.ceiling) == (before, 0.5)
    assert caught.value.asked == pytest.approx(contested / 50)
    for number in (f"{before:.6g}", f"{contested / 50:.6g}", "0.5"):
        assert number in str(caught.value)
    assert untouched == []
    assert shared.spent == before
    assert session.ledger.spent == 0
    np.testing.assert_array_equal(secret_of(session).log_belief, belief)
    assert (responder.n_answered, responder.n_contested, len(answers_of(responder))) == (0, 0, 0)
    # A part of it fits.
    responder.predict(X[80:90])
    assert responder.remaining_budget == pytest.approx(0.5 - shared.spent)


@pytest.mark.parametrize("count", [3, 7, 49])
def test_the_answers_that_were_promised_fit(rows: Any, count: int) -> None:
    X, _ = rows
    session = session_on(rows, budget=0.1)
    responder = session.responder(MODEL, max_answers=count)
    contested = 0
    for query in X[80:]:
        contested += preview(responder, query[None]).n_contested
        if contested > count:
            with pytest.raises(BudgetExhaustedError):
                responder.predict(query[None])
            break
        responder.predict(query[None])
    assert responder.n_contested == count
    assert session.ledger.spent <= 0.1
    assert responder.remaining_budget < 1e-9


def test_the_steps_are_named_once(rows: Any) -> None:
    session = session_on(rows)
    for wrong in ({}, {"query_budget": 0.1, "max_answers": 3}):
        with pytest.raises(ValueError, match="query_budget"):
            session.responder(MODEL, **wrong)
    with pytest.raises(BudgetExhaustedError):
        session.responder(MODEL, query_budget=3.0)
    with pytest.raises(ValueError, match="max_answers"):
        session.responder(MODEL, max_answers=0)


@pytest.mark.parametrize("budget", [0, -1, "x", math.nan])
def test_a_wrong_query_budget_is_named(rows: Any, budget: Any) -> None:
    with pytest.raises(ValueError, match="query_budget"):
        session_on(rows).responder(MODEL, query_budget=budget)


def test_a_service_charges_then_draws_and_stores_by_itself(rows: Any) -> None:
    X, _ = rows
    session = session_on(rows, 1.0)
    responder = session.responder(MODEL, query_budget=1 / 50)
    predictions = responder.predictions(responder.models.checked(X[80:110]))
    contested = responder.kind.engine.contested(predictions, responder.log_belief)
    n_contested = int(contested.sum())
    assert contested.shape == (30,)
    assert preview(responder, X[80:110]).n_contested == n_contested > 5
    assert responder.procedure.account.n_charged == 0
    plan = responder.plan(predictions)
    assert plan.law.n_noisy == n_contested
    responder.charge(plan)
    assert (responder.procedure.account.n_charged, responder.n_answered) == (1, 0)
    assert session.ledger.spent == n_contested / 50
    (event,) = session.ledger.events
    assert (event.kind, event.n_candidates, event.n_outputs, event.n_noisy) == (
        "responses", M, 30, n_contested,
    )  # fmt: skip
    assert (event.bound, event.unit, event.backend) == (event.charge, "nats", "diagonal")
    assert isinstance(event, QueryAnswers)
    assert (event.answers, event.step_budget, event.is_adaptive) == ("labels", 1 / 50, True)
    before = responder.log_belief
    with pytest.raises(RuntimeError, match="charge"):  # as if that plan were this one
        responder.draw(responder.plan(predictions))
    values, margins = responder.draw(plan)
    assert (len(values), len(margins)) == (30, 30)
    assert np.isfinite(margins).sum() <= n_contested
    assert not np.array_equal(before, responder.log_belief)
    assert (responder.n_answered, responder.n_contested) == (30, n_contested)
    assert len(answers_of(responder)) == 0
    # Rows on which all agree are charged nothing, and need no noise.
    agreed = predictions[~contested]
    free = responder.plan(agreed)
    assert free.law.n_noisy == 0
    responder.charge(free)
    assert responder.draw(free)[1] == [math.inf] * len(agreed)
    assert responder.procedure.account.n_charged == 1
    # A plan of before was learned from since: drawn again it would take the belief back.
    learned = responder.log_belief
    for stale in (responder.charge, responder.draw):
        with pytest.raises(RuntimeError, match=r"belief has moved on|charge\(plan\) first"):
            stale(plan)
    assert np.array_equal(learned, responder.log_belief)


def test_what_can_be_afforded_is_what_would_be_charged(rows: Any) -> None:
    """Now, by the session's ceiling or by that of the data set; nothing changes."""
    ledger = MemoryLedger(2.0)
    session = session_on(rows, 0.5, ledger=ledger)
    responder = session.responder(MODEL, query_budget=1 / 16)
    assert [affords(responder, count) for count in (0, 1, 8, 9)] == [True, True, True, False]
    ledger.reserve(2.0 - 3 / 16)
    assert [affords(responder, count) for count in (0, 3, 4)] == [True, True, False]
    assert (ledger.spent, session.ledger.spent) == (2.0 - 3 / 16, 0.0)


def test_a_session_that_stores_answers_itself_charges_no_service(rows: Any, tmp_path: Path) -> None:
    X, y = rows
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    session = PrivacySession(
        X[:80], y[:80], budget=Nats(2.0), secret=Subsets(M), ledger=ledger, store="ledger"
    )
    responder = session.responder(MODEL, query_budget=1 / 50)
    predictions = responder.predictions(responder.models.checked(X[80:90]))
    with pytest.raises(RuntimeError, match="stores"):
        responder.charge(responder.plan(predictions))
    assert ledger.events == ()


def test_what_is_refused_says_how_many_rows_there_were_and_how_many_would_do(rows: Any) -> None:
    X, _ = rows
    session = session_on(rows, 0.3)
    responder = session.responder(MODEL, query_budget=1 / 16)
    contested = preview(responder, X[80:]).n_contested
    for left in (4, 3):
        with pytest.raises(BudgetExhaustedError) as caught:
            responder.predict(X[80:])
        assert (caught.value.rows, caught.value.rows_left) == (contested, left)
        session.ledger.charge(LatticeNoise("parameters", 1 / 16, "nats", "other", 0.1, 8, 1, 1))


def test_never_more_is_charged_than_is_still_unknown(rows: Any) -> None:
    """The entropy of the belief, rounded up; and a hair where doubles cannot tell any."""
    X, _ = rows
    session = session_on(rows, Nats(10.0, allow_exact=True))
    responder = session.responder(MODEL, query_budget=1.0)
    cost = preview(responder, X[80:])
    unknown = belief_entropy(responder.log_belief)
    assert unknown == pytest.approx(math.log(M))
    assert unknown < cost.nats <= unknown * (1 + 1e-11)
    assert cost.worst_case == 80.0
    responder.predict(X[80:])
    assert session.ledger.spent == cost.nats
    secret_of(session).log_belief = np.array([0.0] + [-1e6] * (M - 1))
    assert 0 < preview(responder, X[:80]).nats <= 1e-249


def test_rows_that_were_not_charged_are_not_drawn(rows: Any) -> None:
    """Twenty draws of plans that nobody had charged named the secret, with 0 nats spent."""
    X, _ = rows
    session = session_on(rows, 1.0)
    responder = session.responder(MODEL, query_budget=1 / 50)
    predictions = responder.predictions(responder.models.checked(X[80:110]))
    before = responder.log_belief
    with pytest.raises(RuntimeError, match="charge"):
        responder.draw(responder.plan(predictions))
    responder.charge(plan := responder.plan(predictions))
    responder.draw(plan)
    assert not np.array_equal(before, responder.log_belief)
    with pytest.raises(RuntimeError, match="charge"):
        responder.draw(responder.plan(predictions))
    assert (session.ledger.spent, responder.n_answered) == (plan.law.bound, 30)
