"""What a charge reads does not grow with what was charged before."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from pacsklearn.accounting import database, store
from pacsklearn.accounting.postgres_ledger import PostgresLedger
from pacsklearn.accounting.postgres_rows import PostgresRows
from pacsklearn.accounting.shared_ledger import SharedLedger
from pacsklearn.accounting.sqlite_ledger import SQLiteLedger
from pacsklearn.core.accounts import Posting
from pacsklearn.core.event import Event
from pacsklearn.core.ledger import charge_posting

MakeEvent = Callable[..., Event]
TINY = 2.0**-30
READ = (
    "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables "
    "WHERE schemaname = 'pacsklearn' AND relname = 'entries'"
)


def fill(ledger: SharedLedger, events: list[Event]) -> None:
    """Many charges in one transaction."""
    ledger._store.write(lambda book: [charge_posting(book, Posting("", each)) for each in events])


def test_a_charge_to_a_file_reads_a_few_rows(ledger: SQLiteLedger, make_event: MakeEvent) -> None:
    address, steps = ledger._store.address, [0]

    def count(connection: Any) -> None:
        def step() -> int:
            steps[0] += 1
            return 0

        connection.connection.driver_connection.set_progress_handler(step, 10)

    def cost() -> int:
        steps[0] = 0
        assert ledger.charge(make_event(TINY))
        return steps[0]

    ledger.charge(make_event(TINY))
    database.run(address, count, write=False)
    few = cost()
    fill(ledger, [make_event(TINY) for _ in range(1500)])
    assert cost() < 1.5 * few


@pytest.mark.parametrize("together", [1, 5])
def test_a_charge_to_a_server_reads_a_few_rows(
    address: str, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    ledger = PostgresLedger.found(address, 1.0)
    send, read = PostgresRows._ask, []

    def counted(self: PostgresRows, *statements: Any) -> Any:
        # Of this transaction, and of those before it that were not reported yet.
        (before,) = self.one(READ)
        rows = send(self, *statements)
        read.append(self.one(READ)[0] - before)
        return rows

    for _ in range(12):  # a server settles on a plan after five executions
        ledger.charge(make_event(TINY))
    events = [make_event(TINY) for _ in range(1500)]
    fill(ledger, events)
    ledger.charge(make_event(TINY))
    monkeypatch.setattr(PostgresRows, "_ask", counted)
    wanted = [event.key for event in events[:together]]
    fresh = make_event(TINY)
    ledger._store.inside(
        lambda book: ([book.find(key) for key in wanted], charge_posting(book, Posting("", fresh))),
        write=True,
        keys=[*wanted, fresh.key],
    )
    assert len(read) == 2
    assert 0 <= sum(read) <= 2 * together + 10
    database.close(address)


def test_others_rows_are_verified_however_many(
    ledger: SQLiteLedger, address: str, make_event: MakeEvent
) -> None:
    for shared in (ledger, PostgresLedger.found(address, 1.0)):
        shared.charge(make_event(TINY))
        known = copy.deepcopy(store._CHAINS[shared._store])
        fill(shared, [make_event(TINY) for _ in range(250)])
        store._CHAINS[shared._store] = known  # as if another process had written them
        assert shared.charge(make_event(TINY))
        assert known.position.sequence == 252
        assert shared.verify() == shared.position
    database.close(address)


def test_a_server_keeps_the_statements_of_a_charge(address: str, make_event: MakeEvent) -> None:
    """The driver drops all prepared statements after a rollback, once it has made its own."""
    ledger = PostgresLedger.found(address, 1.0)
    ledger.charge(make_event(TINY))
    for _ in range(8):
        assert ledger.spent == TINY
    with pytest.raises(ZeroDivisionError):
        ledger._store.write(lambda _: 1 / 0)
    assert ledger.charge(make_event(TINY))
    database.close(address)
