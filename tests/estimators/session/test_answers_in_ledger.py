"""Answers in the ledger's database: on disk before they are told, and there after every crash."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.estimators import ledger_answers
from pacsklearn.estimators.cost_preview import preview
from pacsklearn.estimators.ledger_answers import AnswerTable
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, SessionRolledBackError
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.ledger import log
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.priors import Range
from pacsklearn.upkeep.backup import backup, restore
from pacsklearn.upkeep.verification import verify_ledger
from tests.inside import account_of, answer_table_of, answers_of, forget_held, secret_of
from tests.kernel.ledger.postgres_server import PostgresServer
from tests.kernel.ledger.raw_database import raw

FORK = multiprocessing.get_context("fork")
pytestmark = pytest.mark.usefixtures("cheap_passphrases")
KEY = "a long passphrase"
MODEL = KNeighborsClassifier(1)
STEP = {"query_budget": 2.0**-9}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    found = PostgresServer()
    yield found
    found.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: Any, tmp_path: Path) -> SharedLedger:
    if request.param == "sqlite":
        return SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    return SharedLedger.found(request.getfixturevalue("server").database(), 4.0)


def new_session(ledger: Any, **params: Any) -> PrivacySession:
    X, y = load_iris(return_X_y=True)
    params = {"store": "ledger"} | params
    return PrivacySession(X[:, :2], y, budget=Nats(2.0), secret=Subsets(8), ledger=ledger, **params)


def queries(seed: int, count: int = 12) -> Any:
    """Where the classes overlap, so that candidates disagree."""
    return np.random.default_rng(seed).uniform([5.0, 2.2], [7.5, 3.6], (count, 2))


def n_stored(ledger: Any) -> int:
    return int(raw(ledger, "SELECT count(*) FROM answers")[0][0])


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed(work: Any) -> None:
    child = FORK.Process(target=work)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL


def belief_of(session: PrivacySession) -> Any:
    return secret_of(session).log_belief


@pytest.mark.product(only=1)
def test_killed_between_charge_and_store(
    ledger: SharedLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every answer told is there again, with the belief after it; one not stored was never told."""
    saved, told = tmp_path / "session", tmp_path / "told.npz"
    session = new_session(ledger)
    first = session.respond(MODEL, queries(0), **STEP)
    session.save(saved, key=KEY)
    session.close()

    def crash() -> None:
        there = PrivacySession.load(saved, key=KEY, ledger=ledger)
        labels = there.respond(MODEL, queries(1), **STEP)
        np.savez(told, labels=labels, belief=belief_of(there))
        monkeypatch.setattr(AnswerTable, "put", die)  # charged and drawn, and on no disk
        there.respond(MODEL, queries(2), **STEP)

    killed(crash)
    kept, spent, stored = np.load(told), ledger.spent, n_stored(ledger)
    charged = [event.n_noisy for event in ledger.events if event.kind == "responses"]
    assert len(charged) == 3
    assert spent == pytest.approx(sum(event.charge for event in ledger.events))

    again = PrivacySession.load(saved, key=KEY, ledger=ledger)
    np.testing.assert_array_equal(belief_of(again), kept["belief"])
    np.testing.assert_array_equal(again.respond(MODEL, queries(0), **STEP), first)
    np.testing.assert_array_equal(again.respond(MODEL, queries(1), **STEP), kept["labels"])
    assert (ledger.spent, n_stored(ledger)) == (spent, stored), "stored answers are free"
    assert again.ledger.spent == pytest.approx(spent)
    # What was charged and not stored stays charged, and is charged anew.
    cost = preview(again.responder(MODEL, **STEP), queries(2))
    assert cost.n_contested > 0
    again.respond(MODEL, queries(2), **STEP)
    assert ledger.spent == pytest.approx(spent + cost.nats)
    verify_ledger(ledger)


@pytest.mark.product(only=1)
def test_whoever_is_left_behind_stores_nothing(
    ledger: SharedLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken over between charge and store: the answer is not told, and the belief is without it."""
    session = new_session(ledger)
    session.respond(MODEL, queries(0), **STEP)
    session.save(tmp_path / "session", key=KEY)
    put, resumed = AnswerTable.put, []

    def late(*arguments: Any) -> None:
        monkeypatch.setattr(AnswerTable, "put", put)
        resumed.append(PrivacySession.load(tmp_path / "session", key=KEY, ledger=ledger))
        put(*arguments)

    monkeypatch.setattr(AnswerTable, "put", late)
    stored = n_stored(ledger)
    with pytest.raises(SessionRolledBackError, match="gone"):
        session.respond(MODEL, queries(1), **STEP)
    assert n_stored(ledger) == stored
    np.testing.assert_array_equal(belief_of(resumed[0]), belief_of(session))
    assert resumed[0].ledger.spent == pytest.approx(ledger.spent)
    resumed[0].respond(MODEL, queries(1), **STEP)
    with pytest.raises(SessionRolledBackError):
        session.respond(MODEL, queries(3), **STEP)
    with pytest.raises(SessionRolledBackError):
        session.release(StandardScaler(), budget=1 / 8)


@pytest.mark.product(only=2)
@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_while_storing(
    ledger: SharedLedger, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The belief is that after what is on disk, whichever way the interrupted one ended."""
    session = new_session(ledger)
    put, before = AnswerTable.put, belief_of(session)
    beliefs: list[Any] = []

    def interrupted(self: Any, responder: str, answers: Any, n: int, belief: Any) -> None:
        beliefs.append(belief)
        if after:
            put(self, responder, answers, n, belief)
        raise KeyboardInterrupt

    monkeypatch.setattr(AnswerTable, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.respond(MODEL, queries(0), **STEP)
    monkeypatch.setattr(AnswerTable, "put", put)
    spent = ledger.spent
    session.release(StandardScaler(), budget=1 / 8)  # asks before it computes anything
    spent += 1 / 8
    assert not np.array_equal(beliefs[0], before)
    session.respond(MODEL, queries(0), **STEP)
    assert (
        ledger.spent == pytest.approx(spent, abs=1e-4)
    ) is after  # a release costs a little less


def test_a_few_answers_in_memory(
    ledger: SharedLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_answers, "_MOST_HELD", 16)
    session = new_session(ledger)
    X = queries(4, 600)
    labels = session.respond(MODEL, np.concatenate([X, X[:50]]), **STEP)
    responder = session.responder(MODEL, **STEP)
    assert len(answers_of(responder)) == 16
    assert n_stored(ledger) == 600
    spent = ledger.spent
    np.testing.assert_array_equal(labels[:50], labels[600:])
    for part in np.array_split(np.random.default_rng(0).permutation(600), 5):
        np.testing.assert_array_equal(session.respond(MODEL, X[part], **STEP), labels[part])
        assert len(answers_of(responder)) == 16
    assert preview(responder, X).n_stored == 600
    assert ledger.spent == spent


@pytest.mark.product(only=1)
def test_answers_move_with_the_ledger(
    ledger: SharedLedger, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: Any
) -> None:
    """From a file to a server, or back: a session goes on there with all that it has told."""
    monkeypatch.setattr(log, "_AT_ONCE", 7)
    session = new_session(ledger)
    told = session.respond(MODEL, queries(0), **STEP)
    session.save(tmp_path / "session", key=KEY)
    told_later = session.respond(MODEL, queries(1), **STEP)
    belief, stored = belief_of(session), n_stored(ledger)
    address, copy = ledger.uri, tmp_path / "copy.db"
    if address.startswith("sqlite"):
        elsewhere = request.getfixturevalue("server").database()
        backup(Path(address.removeprefix("sqlite:///")), copy)
        restore(copy, elsewhere)
    else:
        elsewhere = f"sqlite:///{copy}"
        backup(address, copy)
    again = PrivacySession.load(tmp_path / "session", key=KEY, ledger=elsewhere)
    np.testing.assert_array_equal(belief_of(again), belief)
    there = account_of(again).shared
    spent = there.spent
    np.testing.assert_array_equal(again.respond(MODEL, queries(0), **STEP), told)
    np.testing.assert_array_equal(again.respond(MODEL, queries(1), **STEP), told_later)
    assert (there.spent, n_stored(there)) == (spent, stored) == (ledger.spent, stored)
    verify_ledger(there)


def test_whoever_stores_answers_itself_is_refused_before_it_pays(ledger: SharedLedger) -> None:
    """A service charges, then draws: the charge was lost when only the draw was refused."""
    session = new_session(ledger)
    responder = session.responder(MODEL, **STEP)
    predictions = responder.predictions(responder.models.checked(queries(0)))
    assert responder.kind.engine.contested(predictions, responder.log_belief).any()
    with pytest.raises(RuntimeError, match="stores"):
        responder.charge(responder.plan(predictions))
    assert ledger.spent == 0


def test_threads_get_the_same_answers(ledger: SharedLedger) -> None:
    session = new_session(ledger)
    X = queries(5, 40)
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda _: session.respond(MODEL, X, **STEP), range(8)))
    assert all(np.array_equal(each, told[0]) for each in told)
    assert n_stored(ledger) == 40
    assert [event.kind for event in ledger.events].count("responses") == 1


def test_answers_that_were_put_in_by_others(ledger: SharedLedger) -> None:
    session = new_session(ledger)
    session.respond(MODEL, queries(0), **STEP)
    table = answer_table_of(session)
    assert table is not None
    forger = AnswerTable(ledger, account_of(session).session, bytes(32))
    forger.begin(np.zeros(8))
    with pytest.raises(LedgerCorruptedError, match="altered"):
        table.last_belief()


@pytest.mark.product(only=4)
@pytest.mark.parametrize("table", ["answers", "log"])
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET number = number"])
def test_nothing_is_changed_later(ledger: SharedLedger, table: str, statement: str) -> None:
    new_session(ledger).respond(MODEL, queries(0), **STEP)

    with pytest.raises((sqlite3.Error, psycopg.Error), match="append-only"):
        raw(ledger, statement.format(table))


def test_other_releases_since_the_file_end_it(tmp_path: Path) -> None:
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    session = new_session(ledger)
    session.save(tmp_path / "session", key=KEY)
    session.release(StandardScaler(), budget=1 / 8)
    session.respond(MODEL, queries(0), **STEP)
    with pytest.raises(SessionRolledBackError, match="answers"):
        PrivacySession.load(tmp_path / "session", key=KEY, ledger=ledger)


def test_numbers_come_back_in_every_bit(tmp_path: Path) -> None:
    from sklearn.tree import DecisionTreeRegressor

    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    X, _ = load_iris(return_X_y=True)
    with PrivacySession(
        X[:, :2], X[:, 2], budget=Nats(2.0), secret=Subsets(8), ledger=ledger, store="ledger"
    ) as session:
        params = {"prior": Range(0.0, 8.0), "query_budget": 2.0**-9}
        responder: Responder = session.responder(DecisionTreeRegressor(random_state=0), **params)
        told = responder.answer(queries(0))
        forget_held(answers_of(responder))
        again = responder.answer(queries(0))
    np.testing.assert_array_equal(told.values, again.values)
    assert told.values.dtype == again.values.dtype


@pytest.mark.parametrize("where", [None, "memory"])
def test_a_ledger_in_a_database_is_needed(where: str | None) -> None:
    from pacsklearn.kernel.ledger.ledger import MemoryLedger

    with pytest.raises(LedgerError, match="database"):
        new_session(None if where is None else MemoryLedger(4.0))
    with pytest.raises(ValueError, match="store"):
        new_session(None, store="disk")
