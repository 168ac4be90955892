"""What a caller of a shared session gets is the same whatever the other callers ask."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pacsklearn.estimators.caller_handle import CallerHandle
from pacsklearn.exceptions import BudgetError, BudgetExhaustedError
from pacsklearn.kernel.answers.label_engine import LabelEngine
from tests.inside import secret_of
from tests.kernel.answers.contested import MODEL, contested_rows, session_on

STEP = 1 / 64
QUOTA = 32 * STEP


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    return contested_rows()


@pytest.fixture
def _keyed_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that are a keyed function of the row; the belief is learned all the same."""
    answer = LabelEngine.answer

    def keyed(self: LabelEngine, predictions: Any, *more: Any) -> Any:
        step = answer(self, predictions, *more)
        for i in range(len(step.answers)):
            row = np.ascontiguousarray(predictions[i])
            step.answers[i] = row[hashlib.blake2b(row.tobytes(), key=b"key").digest()[0] % len(row)]
        return step

    monkeypatch.setattr(LabelEngine, "answer", keyed)


def steps(handle: Any, X: Any) -> Iterator[str]:
    """Everything that a caller can do, to the end of its quota and beyond."""

    def said(work: Any) -> str:
        try:
            return repr(work())
        except BudgetExhaustedError as error:
            return f"{error} {vars(error)}"

    for rows in (X[:5], X[3:12], X[:12], X[10:30], X[12:60], X[30:40], X[:80]):
        yield said(lambda rows=rows: handle.preview(rows))
        yield said(lambda rows=rows: handle.predict(rows).tolist())
        yield said(lambda: (handle.spent, handle.remaining, handle))


@pytest.mark.usefixtures("_keyed_draws")
@pytest.mark.parametrize("others", ["before", "beside", "reversed"])
def test_a_handle_tells_nothing_of_other_callers(rows: Any, others: str) -> None:
    X = rows[0][80:]

    def told(theirs: str) -> list[str]:
        with session_on(rows, 2 * QUOTA) as session:
            responder = session.responder(MODEL, query_budget=STEP)
            ann, bob = CallerHandle(responder, QUOTA), CallerHandle(responder, QUOTA)
            beside = iter(())
            if theirs != "none":
                beside = steps(bob, X[::-1] if theirs == "reversed" else X)
            if theirs == "before":
                list(beside)
            found = []
            for one in steps(ann, X):
                found.append(one)
                next(beside, None)
            assert session.ledger.spent <= 2 * QUOTA
            return found

    alone = told("none")
    assert told(others) == alone
    assert any("this caller" in each for each in alone)
    assert not any("the session" in each for each in alone)


def test_quotas_are_covered_unless_the_curator_says_otherwise(rows: Any) -> None:
    X = rows[0][80:]
    with session_on(rows, 8 * STEP) as session:
        responder = session.responder(MODEL, query_budget=STEP)
        ann = CallerHandle(responder, 6 * STEP)
        with pytest.raises(BudgetError):
            CallerHandle(responder, 3 * STEP)
        bob = CallerHandle(responder, 8 * STEP, overcommit=True)
        while bob.preview(X).nats > bob.remaining:
            X = X[:-1]
        bob.predict(X)
        before = session.ledger.spent
        assert bob.predict(X).shape == (len(X),)  # paid once
        assert session.ledger.spent == before
        X = rows[0][100:]
        while ann.preview(X).nats > ann.remaining:
            X = X[:-1]
        with pytest.raises(BudgetExhaustedError) as refused:
            ann.predict(X)  # within her quota: the session has been given away twice
        assert (refused.value.spent, refused.value.ceiling) == (ann.spent, 6 * STEP)
    with pytest.raises(BudgetError):
        CallerHandle(responder, 0.0)


def test_a_belief_that_is_certain_refuses_nobody(rows: Any) -> None:
    """What is left to reveal may be less than the least budget that a user can state."""
    X = rows[0][80:]
    with session_on(rows, QUOTA) as session:
        responder = session.responder(MODEL, query_budget=STEP)
        secret = secret_of(responder)
        secret.log_belief = np.where(np.arange(len(secret.belief)) == secret.index, 0.0, -700.0)
        handle = CallerHandle(responder, QUOTA)
        assert handle.preview(X[:5]).n_contested == 5
        assert handle.predict(X[:5]).shape == (5,)
