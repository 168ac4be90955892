"""Answers whose storing was interrupted: the belief is that after what is on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.estimators import ledger_answers
from pacsklearn.estimators.ledger_answers import LedgerAnswers
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from tests.inside import account_of, answer_table_of

MODEL, STEP = KNeighborsClassifier(1), {"query_budget": 2.0**-9}


def queries(seed: int) -> Any:
    """Where the classes overlap, so that candidates disagree."""
    return np.random.default_rng(seed).uniform([5.0, 2.2], [7.5, 3.6], (12, 2))


@pytest.mark.parametrize("is_stored", [False, True])
def test_the_belief_after_an_interrupt_is_that_on_disk(
    is_stored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    X, y = load_iris(return_X_y=True)
    session = PrivacySession(
        X[:, :2], y, budget=Nats(2.0), secret=Subsets(8), ledger=ledger, store="ledger"
    )
    session.respond(MODEL, queries(0), **STEP)
    responder, table = session.responder(MODEL, **STEP), answer_table_of(session)
    assert table is not None
    before = responder.log_belief
    add = LedgerAnswers.add

    def interrupted(self: LedgerAnswers, *args: Any) -> None:
        if is_stored:
            add(self, *args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LedgerAnswers, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.respond(MODEL, queries(1), **STEP)
    spent = ledger.spent
    account_of(session).settle_answers()
    np.testing.assert_array_equal(responder.log_belief, table.last_belief()[1])
    assert np.array_equal(responder.log_belief, before) == (not is_stored)
    # The charge stays; what is on disk is told, and the rest is asked and charged anew.
    session.respond(MODEL, queries(1), **STEP)
    assert (ledger.spent == spent) == is_stored


class Disk:
    """What an answer table keeps, and what it was asked for."""

    def __init__(self) -> None:
        self.kept: dict[bytes, Any] = {}
        self.asked: list[list[bytes]] = []
        self.put_with: list[Any] = []
        self.fails = False

    def name(self, responder: str, key: bytes) -> bytes:
        return responder.encode() + key

    def put(self, responder: str, answers: Any, n_charged: int, log_belief: Any) -> None:
        if self.fails:
            raise OSError("the disk is full")
        assert not answers.keys() & self.kept.keys()
        self.put_with.append((responder, n_charged, log_belief))
        self.kept |= answers

    def get(self, responder: str, names: list[bytes]) -> dict[bytes, Any]:
        self.asked.append(names)
        return {name: self.kept[name] for name in names if name in self.kept}


def test_it_is_a_dictionary_of_which_memory_holds_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ledger_answers, "_MOST_HELD", 5)
    generator, disk, plain = np.random.default_rng(0), Disk(), {}
    store = LedgerAnswers(disk, "a/")
    for step in range(60):
        keys = [bytes([i]) for i in generator.integers(0, 40, size=6).tolist()]
        first = list(dict.fromkeys(key for key in keys if key not in plain))
        assert [keys[i] for i in store.missing(keys)] == first
        values, margins = list(range(step, step + len(first))), [float(step)] * len(first)
        store.add(first, values, margins, step, None)
        plain |= dict(zip(first, zip(values, margins, strict=True), strict=True))
        assert store.answers(keys) == tuple(map(list, zip(*(plain[k] for k in keys), strict=True)))
        assert len(store) <= 5
    assert disk.put_with[7] == ("a/", 7, None)
    assert disk.kept.keys() == {b"a/" + key for key in plain}


def test_those_asked_for_last_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_answers, "_MOST_HELD", 3)
    disk = Disk()
    store = LedgerAnswers(disk, "")
    store.add([b"1", b"2", b"3"], [1, 2, 3], [0.0] * 3, 0, None)
    assert len(store) == 3
    store.answers([b"1"])  # now 2 is the one that was not asked for longest
    store.add([b"4"], [4], [0.0], 0, None)
    disk.asked.clear()
    assert store.answers([b"1", b"3", b"4"])[0] == [1, 3, 4]
    assert disk.asked == [[]]
    assert store.answers([b"2", b"2"])[0] == [2, 2]
    assert disk.asked == [[], [b"2"]]


def test_memory_knows_nothing_that_the_disk_has_not_taken() -> None:
    disk = Disk()
    store, disk.fails = LedgerAnswers(disk, ""), True
    with pytest.raises(OSError, match="full"):
        store.add([b"1"], [1], [0.0], 0, None)
    assert (len(store), store.missing([b"1", b"1"])) == (0, [0])


def test_an_interrupt_before_the_disk_forgets_nothing_that_a_release_revealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The belief on disk is older than the release: it would charge too little from then on."""
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    X, y = load_iris(return_X_y=True)
    session = PrivacySession(
        X[:, :2], y, budget=Nats(2.0), secret=Subsets(8), ledger=ledger, store="ledger"
    )
    session.respond(MODEL, queries(0), **STEP)
    table = answer_table_of(session)
    assert table is not None
    session.release(GaussianNB(), budget=0.5)
    responder = session.responder(MODEL, **STEP)
    after_release = responder.log_belief.copy()
    assert not np.array_equal(after_release, table.last_belief()[1])

    def interrupted(self: LedgerAnswers, *args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LedgerAnswers, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.respond(MODEL, queries(1), **STEP)
    assert account_of(session).doubt is not None
    account_of(session).settle_answers()
    np.testing.assert_array_equal(responder.log_belief, after_release)
    assert account_of(session).doubt is None
    session.respond(MODEL, queries(1), **STEP)
    np.testing.assert_array_equal(responder.log_belief, table.last_belief()[1])
