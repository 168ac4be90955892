"""What a charge reads does not grow with what was charged before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest

from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.kernel.ledger import fold
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.log import Log
from pacsklearn.kernel.ledger.row import Row
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn.upkeep.verification import is_ahead_of, verify_ledger

MakeEvent = Callable[..., Event]
TINY = 2.0**-30


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: Any, uri: str) -> Iterator[SharedLedger]:
    if request.param == "sqlite":
        yield SharedLedger.found(uri, 1.0)
    else:
        yield SharedLedger.found(request.getfixturevalue("address"), 1.0)
    close_ledgers()


def fill(ledger: SharedLedger, events: list[Event]) -> None:
    """Many charges, of callers who share transactions."""
    with ThreadPoolExecutor(128) as pool:
        assert all(pool.map(ledger.charge, events))


@pytest.mark.product(only=1)
def test_a_charge_reads_a_few_rows(
    ledger: SharedLedger, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.charge(make_event(TINY))
    fill(ledger, [make_event(TINY) for _ in range(3500)])
    read: list[int] = []
    rows = Log.read

    def counted(self: Log, dataset: str, after: int) -> Iterator[Row]:
        for row in rows(self, dataset, after):
            read.append(row.number)
            yield row

    monkeypatch.setattr(Log, "read", counted)
    ledger.charge(make_event(TINY))
    assert read == [3501]
    read.clear()
    close_ledgers()  # a new process reads from the last checkpoint
    open_ledger(ledger.uri, ceiling=None).charge(make_event(TINY))
    assert len(read) <= fold.CHECKPOINT + 1
    monkeypatch.undo()
    assert verify_ledger(ledger).sequence == 3503


def test_a_charge_to_a_file_visits_a_few_pages(
    uri: str, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, connect = [0], sqlite3.connect

    def step() -> int:
        steps[0] += 1
        return 0

    def counted(*names: Any, **options: Any) -> Any:
        connection = connect(*names, **options)
        connection.set_progress_handler(step, 10)
        return connection

    monkeypatch.setattr(sqlite3, "connect", counted)
    ledger = SharedLedger.found(uri, 1.0)

    def cost() -> int:
        steps[0] = 0
        assert ledger.charge(make_event(TINY))
        return steps[0]

    ledger.charge(make_event(TINY))
    few = cost()
    assert few > 0
    fill(ledger, [make_event(TINY) for _ in range(1500)])
    assert cost() < 1.5 * few


def test_sums_go_on_from_a_checkpoint(
    ledger: SharedLedger, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that a fold knows is in it: open, closed, expiring and nested reservations."""
    monkeypatch.setattr(fold, "CHECKPOINT", 3)
    mine = ledger.on_behalf_of(user="ann", project="p")
    kept = mine.reserve(0.25, note="kept", seconds=1e6)
    closed = ledger.reserve(0.125)
    inner = kept.reserve(0.0625)
    for _ in range(7):
        mine.charge(make_event(TINY))
        inner.charge(make_event(TINY))
    closed.release_unspent()
    for _ in range(30):
        ledger.charge(make_event(TINY))
    facts = (ledger.spent, kept.spent, inner.remaining, closed.is_closed, kept.note, closed.ceiling)
    position = ledger.position
    close_ledgers()
    assert facts == (
        ledger.spent, kept.spent, inner.remaining, closed.is_closed, kept.note, closed.ceiling,
    )  # fmt: skip
    assert inner.release_unspent() == 0.0625 - 7 * TINY
    close_ledgers()
    assert kept.release_unspent() == 0.25 - 7 * TINY
    assert is_ahead_of(ledger, position)
    assert ledger.spent == 7 * TINY + 7 * TINY + 30 * TINY


def test_a_checkpoint_waits_for_as_many_rows_as_it_holds_sums(
    uri: str, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold, "CHECKPOINT", 1)
    ledger = SharedLedger.found(uri, 1.0)
    for i in range(8):
        ledger.on_behalf_of(user=str(i)).reserve(TINY)
    for _ in range(50):
        ledger.charge(make_event(TINY))
    with closing(sqlite3.connect(uri.removeprefix("sqlite:///"))) as raw:
        facts = [json.loads(line) for (line,) in raw.execute("SELECT line FROM log")]
    sums = [
        len(each["state"]["accounts"] + each["state"]["owned"]) for each in facts if "state" in each
    ]
    places = [number for number, each in enumerate(facts) if "state" in each]
    assert len(places) > 3
    assert [later - place for place, later in pairwise([0, *places])] == sums


def test_others_rows_are_verified_however_many(ledger: SharedLedger, make_event: MakeEvent) -> None:
    ledger.charge(make_event(TINY))
    before = ledger.position
    fill(ledger, [make_event(TINY) for _ in range(50)])
    with pytest.raises(BudgetExhaustedError):
        ledger.charge(make_event(2.0))
    close_ledgers()
    assert ledger.charge(make_event(TINY))
    assert is_ahead_of(ledger, before)
    assert verify_ledger(ledger).sequence == 52
