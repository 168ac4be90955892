"""Kill -9 of a whole session: no answer without its charge, and no session twice."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import PrivacySession, Subsets
from pacsklearn.estimators.cost_preview import preview
from pacsklearn.estimators.session_file import read_session
from pacsklearn.exceptions import BudgetExhaustedError, SessionRolledBackError
from pacsklearn.kernel.answers.answered_rows import AnsweredRows
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.upkeep.verification import verify_ledger

FORK = multiprocessing.get_context("fork")
pytestmark = pytest.mark.usefixtures("cheap_passphrases")
KEY = "a long passphrase"
CEILING = 0.75
STEP = 2.0**-8
ROWS = 6
MODEL = KNeighborsClassifier(1)


class Place(NamedTuple):
    """Where everything is."""

    ledger: str
    saved: Path
    answers: Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    where = Place(f"sqlite:///{tmp_path}/ledger.db", tmp_path / "session", tmp_path / "answers")
    SharedLedger.found(where.ledger, ceiling=CEILING)
    where.answers.touch()
    return where


def new_session(place: Place) -> PrivacySession:
    X, y = load_iris(return_X_y=True)
    return PrivacySession(X[:, :2], y, budget=CEILING, secret=Subsets(8), ledger=place.ledger)


def fresh_rows(generator: np.random.Generator) -> Any:
    """Where the classes overlap, so that candidates disagree."""
    return generator.uniform([5.0, 2.2], [7.5, 3.6], (ROWS, 2))


def answer(session: PrivacySession, X: Any, file: Any) -> None:
    """One batch: the key of its charge and its answers, written when ``respond`` is through."""
    contested = preview(session.responder(MODEL, query_budget=STEP), X).n_contested
    before = len(session.ledger.events)
    labels = session.respond(MODEL, X, query_budget=STEP)
    key = "".join(event.key for event in session.ledger.events[before:])
    file.write(f"{key} {contested} {labels.tolist()}\n".encode())


def work(place: Place, seed: int, batches: int | None, save_every: int) -> None:
    """Resume the session and answer, for ever or for some batches; then wait for the end."""
    generator = np.random.default_rng(seed)
    session = PrivacySession.load(place.saved, key=KEY)
    with place.answers.open("ab", buffering=0) as file:
        file.write(b" began\n")
        try:
            for batch in count() if batches is None else range(batches):
                answer(session, fresh_rows(generator), file)
                if (batch + 1) % save_every == 0:
                    session.save(place.saved, key=KEY)
        except BudgetExhaustedError:
            file.write(b" exhausted\n")
        file.write(b" waiting\n")
        time.sleep(600)


def answered_until_exhausted(session: PrivacySession, rows: np.random.Generator, file: Any) -> int:
    """Batches answered before one is refused."""
    for batch in range(2000):
        try:
            answer(session, fresh_rows(rows), file)
        except BudgetExhaustedError:
            return batch
    return 2000


def answered(place: Place) -> list[str]:
    """Keys of the charges behind everything that was answered."""
    keys = []
    for line in place.answers.read_text().splitlines():
        key, rest = line.split(" ", maxsplit=1)
        if rest[0].isdigit():
            contested = int(rest.split(" ")[0])
            assert bool(key) == (contested > 0), "contested rows were answered for nothing"
        keys += [key] if key else []
    return keys


def wait_for(place: Place, words: str, start: int, child: Any) -> None:
    deadline = time.monotonic() + 60
    while words not in place.answers.read_text()[start:]:
        assert child.is_alive(), "the child failed"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def kill_one(place: Place, generator: random.Random, *, idle: bool) -> None:
    """A child that is killed at work, or after its last batch was saved."""
    start = len(place.answers.read_text())
    batches, save_every = (4, 2) if idle else (None, generator.choice([1, 2, 3, 100]))
    child = FORK.Process(target=work, args=(place, generator.randrange(2**31), batches, save_every))
    child.start()
    wait_for(place, " waiting" if idle else " began", start, child)
    time.sleep(0 if idle else generator.uniform(0, 0.25))
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    assert child.exitcode == -signal.SIGKILL


def go_on(place: Place, ledger: SharedLedger) -> tuple[PrivacySession, bool]:
    """The saved session, or a new one where that has been charged since; whether it went on."""
    state = read_session(place.saved, KEY)  # a save that was cut short leaves the file before it
    keys = {event.key for event in ledger.events}
    moved_on = f"{state.session}/{state.n_charged}" in keys
    try:
        session = PrivacySession.load(place.saved, key=KEY)
    except SessionRolledBackError:
        assert moved_on, "a session nobody charged was refused"
        return new_session(place), False
    assert not moved_on, "a session that was charged since was loaded"
    assert session.ledger.events == state.events
    return session, True


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_session_killed_very_often(place: Place) -> None:
    killed_again_and_again(place, 8 if os.environ.get("PACSKLEARN_SOAK") == "sample" else 40)


@pytest.mark.soak
def test_a_session_killed_again_and_again(place: Place) -> None:
    killed_again_and_again(place, 3)


def killed_again_and_again(place: Place, n_kills: int) -> None:
    generator = random.Random(11)
    ledger = SharedLedger(place.ledger)
    session = new_session(place)
    with place.answers.open("ab", buffering=0) as file:
        answer(session, fresh_rows(np.random.default_rng(0)), file)
    resumed, refused, charged = 0, 0, []
    for kill in range(n_kills):
        session.save(place.saved, key=KEY)
        session.close()
        # Every fourth child is killed when nothing was charged since it saved.
        kill_one(place, generator, idle=kill % 4 == 0)

        before, events = charged, ledger.events
        charged = [event.key for event in events]
        assert charged[: len(before)] == before, "a charge was lost"
        assert len(set(charged)) == len(charged)
        assert set(answered(place)) <= set(charged), "an answer left without its charge"
        assert verify_ledger(ledger).sequence == len(charged)
        assert ledger.spent <= CEILING
        assert ledger.spent == pytest.approx(sum(event.charge for event in events))
        session, went_on = go_on(place, ledger)
        resumed, refused = resumed + went_on, refused + (not went_on)
    assert resumed >= n_kills // 4  # those that were idle, at least
    assert refused >= n_kills // 6
    assert len(charged) > n_kills
    # At most the batch under way was charged and not answered, for each kill.
    answering = [event.key for event in ledger.events if event.kind == "responses"]
    assert len(set(answering) - set(answered(place))) <= n_kills

    # What is left can be spent, and not a nat more.
    rows = np.random.default_rng(1)
    with place.answers.open("ab", buffering=0) as file:
        assert answered_until_exhausted(session, rows, file) < 2000
    session.close()
    assert CEILING - ROWS * STEP <= ledger.spent <= CEILING
    assert set(answered(place)) <= {event.key for event in ledger.events}
    verify_ledger(ledger)


def test_a_crash_between_charge_and_answer_loses_the_answer(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst moment: charged, and dead before the secret is asked."""
    session = new_session(place)
    session.respond(MODEL, fresh_rows(np.random.default_rng(0)), query_budget=STEP)
    session.save(place.saved, key=KEY)
    session.close()
    spent = SharedLedger(place.ledger).spent

    def crash() -> None:
        resumed = PrivacySession.load(place.saved, key=KEY)
        responder = resumed.responder(MODEL, query_budget=STEP)
        monkeypatch.setattr(
            AnsweredRows, "observe", lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        )
        responder.predict(fresh_rows(np.random.default_rng(1)))

    child = FORK.Process(target=crash)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    assert SharedLedger(place.ledger).spent > spent
    with pytest.raises(SessionRolledBackError):
        PrivacySession.load(place.saved, key=KEY)
