"""Rows that were changed are found, and so is a database that was put back."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pacsklearn.accounting.chain import verify_chain
from pacsklearn.accounting.entry import Entry, Founding, Position, event_text
from pacsklearn.accounting.shared_ledger import SharedReservation
from pacsklearn.accounting.sqlite_ledger import SQLiteLedger
from pacsklearn.core.event import Event
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError

MakeEvent = Callable[..., Event]
COPY = (
    "SELECT dataset, {sequence}, account, {key}, kind, charge, unit, event, note, total, created, "
    "previous, hash, NULL, NULL, NULL FROM entries WHERE sequence = 2"
)


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def drop_triggers(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in names.fetchall():
            connection.execute(f"DROP TRIGGER {name}")


@pytest.fixture
def ledger(uri: str, make_event: MakeEvent) -> SQLiteLedger:
    ledger = SQLiteLedger.found(uri, ceiling=1.0)
    for i in range(4):
        ledger.charge(make_event(0.125, key=f"answer {i}"))
    return ledger


class TestTheDatabaseRefuses:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE entries SET charge = 0 WHERE sequence = 2",
            "DELETE FROM entries WHERE sequence = 4",
            "DELETE FROM entries",
            "UPDATE datasets SET ceiling = 100",
            "DELETE FROM datasets",
            "INSERT OR REPLACE INTO datasets SELECT * FROM datasets",
            "INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE sequence = 2",
            f"INSERT OR REPLACE INTO entries {COPY.format(sequence=5, key='key')}",
            f"INSERT INTO entries {COPY.format(sequence=6, key=repr('x'))}",
        ],
    )
    def test_anything_but_appending(self, ledger: SQLiteLedger, path: Path, statement: str) -> None:
        before = ledger.events
        with pytest.raises(sqlite3.IntegrityError, match="a ledger"):
            sql(path, statement)
        assert ledger.events == before
        ledger.verify()


class TestVerify:
    @pytest.mark.parametrize(
        ("change", "sequence"),
        [
            ("UPDATE entries SET charge = 0 WHERE sequence = 2", 2),
            ("UPDATE entries SET event = replace(event, '0.125', '0.0') WHERE sequence = 3", 3),
            ("UPDATE entries SET total = '0' WHERE sequence = 2", 2),
            ("UPDATE entries SET created = '' WHERE sequence = 4", 4),
            ("UPDATE entries SET note = 'x' WHERE sequence = 1", 1),
            ("UPDATE entries SET account = 'x' WHERE sequence = 3", 3),
            ("UPDATE entries SET hash = 'x' WHERE sequence = 3", 3),
            ("UPDATE entries SET total = x'00' WHERE sequence = 3", 3),
            ("UPDATE entries SET previous = 'x' WHERE sequence = 1", 1),
            ("DELETE FROM entries WHERE sequence = 2", 2),
            ("DELETE FROM entries WHERE sequence = 1", 1),
            ("UPDATE datasets SET ceiling = 100", 0),
        ],
    )
    def test_names_the_first_bad_row(
        self, ledger: SQLiteLedger, path: Path, change: str, sequence: int
    ) -> None:
        drop_triggers(path)
        sql(path, change)
        with pytest.raises(LedgerCorruptedError, match=f"row {sequence} ") as caught:
            ledger.verify()
        assert caught.value.sequence == sequence

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE entries SET total = '0' WHERE sequence = 4",
            "UPDATE datasets SET ceiling = 100",
        ],
    )
    def test_a_charge_does_not_trust_the_row_it_builds_on(
        self, ledger: SQLiteLedger, path: Path, change: str, make_event: MakeEvent
    ) -> None:
        drop_triggers(path)
        sql(path, change)
        with pytest.raises(LedgerCorruptedError):
            ledger.charge(make_event(0.125))

    def test_rows_that_were_swapped(self, ledger: SQLiteLedger, path: Path) -> None:
        drop_triggers(path)
        sql(
            path,
            "UPDATE entries SET sequence = 9 WHERE sequence = 2",
            "UPDATE entries SET sequence = 2 WHERE sequence = 3",
            "UPDATE entries SET sequence = 3 WHERE sequence = 9",
        )
        with pytest.raises(LedgerCorruptedError, match="row 2 does not follow"):
            ledger.verify()


class TestAChainThatWasComputedAnew:
    """Hashes that fit do not help rows that break the rules of the account."""

    FOUNDING = Founding("default", 1.0, "nats", "", "")

    def chain(self, *rows: tuple[Event, str, str]) -> tuple[Founding, list[Entry]]:
        founding = Founding(**vars(self.FOUNDING) | {"hash": self.FOUNDING.digest()})
        entries: list[Entry] = []
        previous = founding.hash
        for sequence, (event, account, total) in enumerate(rows, start=1):
            facts = {
                "dataset": "default",
                "sequence": sequence,
                "account": account,
                "key": event.key,
                "kind": event.kind,
                "charge": event.charge,
                "unit": event.unit,
                "event": event_text(event),
                "note": "",
                "total": total,
                "created": "",
                "previous": previous,
            }
            previous = Entry(**facts).digest()
            entries.append(Entry(**facts, hash=previous))
        return founding, entries

    def test_an_honest_one(self, make_event: MakeEvent) -> None:
        founding, entries = self.chain((make_event(0.5), "", "1/2"), (make_event(0.5), "", "1"))
        assert verify_chain(founding, entries) == Position(2, entries[-1].hash)

    @pytest.mark.parametrize(
        ("second", "account", "total", "reason"),
        [
            ({"charge": 0.75}, "", "5/4", "passes the ceiling"),
            ({"charge": -0.5}, "", "0", "negative charge"),
            ({"charge": 0.25}, "", "1/2", "sum of the charges"),
            ({"charge": 0.25}, "x", "1/4", "never made"),
            ({"charge": 0.25, "unit": "renyi"}, "", "3/4", "another unit"),
            ({"charge": -0.25, "kind": "reservation-returned"}, "", "1/4", "not given back"),
            ({"charge": 0.25}, "", "1/0", "sum of the charges"),
        ],
    )
    def test_one_that_breaks_a_rule(
        self,
        make_event: MakeEvent,
        second: dict[str, object],
        account: str,
        total: str,
        reason: str,
    ) -> None:
        founding, entries = self.chain(
            (make_event(0.5), "", "1/2"), (make_event(**second), account, total)
        )
        with pytest.raises(LedgerCorruptedError, match=f"row 2 .*{reason}"):
            verify_chain(founding, entries)

    @pytest.mark.parametrize(
        ("refund", "account", "key", "reason"),
        [
            (0.5, "", "r", "more than was left"),
            (0.25, "r", "r", "closed reservation"),
            (0.25, "", "s", "not given back"),
        ],
    )
    def test_a_refund_that_is_too_much(
        self, make_event: MakeEvent, refund: float, account: str, key: str, reason: str
    ) -> None:
        founding, entries = self.chain(
            (make_event(0.5, kind="reservation", key="r"), "", "1/2"),
            (make_event(0.25), "r", "1/4"),
            (make_event(0.0, kind="reservation-closed", key="r/closed"), "r", "1/4"),
            (
                make_event(-refund, kind="reservation-returned", key=f"{key}/returned"),
                account,
                str(0.5 - refund),
            ),
        )
        with pytest.raises(LedgerCorruptedError, match=f"row 4 .*{reason}"):
            verify_chain(founding, entries)


class TestRollBack:
    def test_an_older_copy_is_behind(
        self, ledger: SQLiteLedger, path: Path, uri: str, make_event: MakeEvent, tmp_path: Path
    ) -> None:
        saved = ledger.position
        assert ledger.is_ahead_of(saved)
        older = tmp_path / "older.db"
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(older)) as target:
            source.backup(target)
        ledger.charge(make_event(0.25, key="later"))
        later = ledger.position
        assert ledger.is_ahead_of(saved)
        assert [event.key for event in ledger.events_since(saved)] == ["later"]
        assert ledger.events_since(later) == ()

        # It verifies and has budget to spend again; only the position tells.
        restored = SQLiteLedger(f"sqlite:///{older}")
        assert restored.spent == 0.5
        restored.verify()
        assert restored.is_ahead_of(saved)
        assert not restored.is_ahead_of(later)
        restored.charge(make_event(0.25, key="later"))
        assert not restored.is_ahead_of(later)
        with pytest.raises(LedgerMismatchError, match="older copy, or another one"):
            restored.events_since(later)

    def test_a_copy_put_back_under_a_running_process(
        self, ledger: SQLiteLedger, path: Path, make_event: MakeEvent, tmp_path: Path
    ) -> None:
        older = tmp_path / "older.db"
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(older)) as target:
            source.backup(target)
        ledger.charge(make_event(0.25))
        shutil.move(older, path)
        with pytest.raises(LedgerError, match="replaced while it was in use"):
            ledger.charge(make_event(0.25))

    def test_a_reservation_that_was_rolled_back_is_refused(
        self, ledger: SQLiteLedger, path: Path, make_event: MakeEvent, tmp_path: Path
    ) -> None:
        older = tmp_path / "older.db"
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(older)) as target:
            source.backup(target)
        reservation = ledger.reserve(0.25)
        restored = SQLiteLedger(f"sqlite:///{older}")
        lost = SharedReservation(restored._store, reservation._account)
        with pytest.raises(LedgerError, match="The reservation is not in the ledger"):
            lost.charge(make_event(0.125))

    def test_an_account_without_rows_has_a_position(self, uri: str) -> None:
        empty = SQLiteLedger.found(uri, ceiling=1.0, dataset="empty")
        assert empty.position.sequence == 0
        assert empty.is_ahead_of(empty.position)
        assert empty.events_since(empty.position) == ()
        assert not empty.is_ahead_of(Position(0, "another"))
        assert not empty.is_ahead_of(Position(1, empty.position.hash))
