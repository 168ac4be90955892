"""Rows that were changed are found, and so is a database that was put back."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError
from pacsklearn.kernel.ledger.accounts import Posting
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.row import Position, posting_facts
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.verification import is_ahead_of, verify_ledger

MakeEvent = Callable[..., Event]
COPY = "SELECT dataset, {number}, {key}, line FROM log WHERE number = 2"


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@contextmanager
def triggers_away(path: Path) -> Iterator[None]:
    """Whoever tampers with rows puts the triggers back afterwards."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = found.fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield
        for _, text in triggers:
            connection.execute(text)


@pytest.fixture
def ledger(uri: str, make_event: MakeEvent) -> SharedLedger:
    ledger = SharedLedger.found(uri, ceiling=1.0)
    for i in range(4):
        ledger.charge(make_event(0.125, key=f"answer {i}"))
    return ledger


class TestTheDatabaseRefuses:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE log SET line = '' WHERE number = 2",
            "DELETE FROM log WHERE number = 4",
            "DELETE FROM log",
            "UPDATE log SET line = '' WHERE number = 0",
            "INSERT OR REPLACE INTO log SELECT * FROM log WHERE number = 0",
            "INSERT OR REPLACE INTO log SELECT * FROM log WHERE number = 2",
            f"INSERT OR REPLACE INTO log {COPY.format(number=5, key='key')}",
            "INSERT OR REPLACE INTO log (rowid, dataset, number, line) SELECT 3, 'd', 5, ''",
            f"INSERT INTO log {COPY.format(number=6, key=repr('x'))}",
        ],
    )
    def test_anything_but_appending(self, ledger: SharedLedger, path: Path, statement: str) -> None:
        before = ledger.events
        with pytest.raises(sqlite3.IntegrityError, match="ledger"):
            sql(path, statement)
        assert ledger.events == before
        verify_ledger(ledger)


@pytest.mark.parametrize("text", [b"answer 2", b"CREATE TABLE log"])
def test_bytes_that_are_no_text_are_damage_and_are_not_shown(
    uri: str, path: Path, ledger: SharedLedger, text: bytes
) -> None:
    close_ledgers()
    content = path.read_bytes()
    assert text in content
    path.write_bytes(content.replace(text, b"\xff" + text[1:]))
    with pytest.raises(LedgerCorruptedError) as caught:
        _ = SharedLedger(uri).spent
    assert "nswer" not in str(caught.value)


class TestVerify:
    @pytest.mark.parametrize(
        ("change", "sequence"),
        [
            ("UPDATE log SET line = replace(line, '0.125', '0.0') WHERE number = 3", 3),
            ("UPDATE log SET line = replace(line, '3/8', '0') WHERE number = 3", 3),
            ("UPDATE log SET line = replace(line, 'answer 1', 'answer 9') WHERE number = 2", 2),
            ("UPDATE log SET line = line || ' ' WHERE number = 1", 1),
            ("UPDATE log SET line = x'00' WHERE number = 3", 3),
            ("UPDATE log SET key = 'x' WHERE number = 4", 4),
            ("UPDATE log SET key = NULL WHERE number = 4", 4),
            ("DELETE FROM log WHERE number = 2", 2),
            ("DELETE FROM log WHERE number = 1", 1),
            ("DELETE FROM log WHERE number = 0", 0),
            ("UPDATE log SET line = replace(line, ':1.0', ':100') WHERE number = 0", 0),
            ("INSERT INTO answers VALUES ('default', 2, 'r', x'00', x'00', x'00', x'00')", 2),
            ("INSERT INTO answers VALUES ('default', 9, 'r', x'00', x'00', x'00', x'00')", 9),
        ],
    )
    def test_names_the_first_bad_row(
        self, ledger: SharedLedger, path: Path, change: str, sequence: int
    ) -> None:
        with triggers_away(path):
            sql(path, change)
        with pytest.raises(LedgerCorruptedError, match=f"row {sequence} ") as caught:
            verify_ledger(ledger)
        assert caught.value.sequence == sequence

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE log SET line = replace(line, '1/2', '0') WHERE number = 4",
            "UPDATE log SET line = replace(line, '1.0', '100.0') WHERE number = 0",
            "DELETE FROM log WHERE number = 4",
        ],
    )
    def test_a_charge_does_not_trust_the_row_it_builds_on(
        self, ledger: SharedLedger, path: Path, change: str, make_event: MakeEvent
    ) -> None:
        with triggers_away(path):
            sql(path, change)
        if "number = 0" in change:
            close_ledgers()  # the ceiling was read when the ledger was opened
        with pytest.raises(LedgerCorruptedError):
            ledger.charge(make_event(0.125))

    def test_rows_that_were_swapped(self, ledger: SharedLedger, path: Path) -> None:
        with triggers_away(path):
            sql(
                path,
                "UPDATE log SET number = 9 WHERE number = 2",
                "UPDATE log SET number = 2 WHERE number = 3",
                "UPDATE log SET number = 3 WHERE number = 9",
            )
        with pytest.raises(LedgerCorruptedError):
            verify_ledger(ledger)

    @pytest.mark.parametrize(
        "change",
        [
            "DROP TRIGGER log_no_delete",
            "CREATE TRIGGER swallow BEFORE INSERT ON log BEGIN SELECT RAISE(IGNORE); END",
            "CREATE INDEX more ON log (number)",
        ],
    )
    def test_triggers_and_indices_are_checked(
        self, ledger: SharedLedger, path: Path, change: str
    ) -> None:
        sql(path, change)
        with pytest.raises(LedgerCorruptedError, match="made"):
            verify_ledger(ledger)

    @pytest.mark.parametrize(
        "trigger",
        [
            "BEFORE INSERT ON log BEGIN SELECT RAISE(IGNORE); END",
            (
                "AFTER INSERT ON log BEGIN INSERT INTO log "
                "VALUES (NEW.dataset, NEW.number + 1, NULL, NEW.line); END"
            ),
        ],
    )
    def test_a_trigger_that_swallows_or_adds_rows_charges_nothing_silently(
        self, ledger: SharedLedger, path: Path, make_event: MakeEvent, trigger: str
    ) -> None:
        sql(path, f"CREATE TRIGGER no {trigger}")
        with pytest.raises(LedgerError, match="is not kept by the database"):
            ledger.charge(make_event(0.125))


class TestAChainThatWasComputedAnew:
    """Hashes that fit do not help rows that break the rules of the account."""

    def verify(self, folder: Path, *rows: tuple[Event, str, dict[str, str]]) -> Position:
        """Verify a file whose chain was computed by hand, from the founding on."""
        path = folder / "forged.db"
        ledger = SharedLedger.found(f"sqlite:///{path}", 1.0)
        previous = ledger.position.hash
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            for number, (event, account, sums) in enumerate(rows, start=1):
                facts = {
                    "dataset": "default", "number": number, "key": event.key, "previous": previous,
                    "nonce": "", "checkpoint": 0, "time": "",
                    **posting_facts(Posting(account, event)), "sums": sums,
                }  # fmt: skip
                start = json.dumps(facts, separators=(",", ":"))[:-1]
                previous = hashlib.sha256(start.encode()).hexdigest()
                line = f'{start},"hash":"{previous}"}}'
                raw.execute(
                    "INSERT INTO log VALUES ('default', ?, ?, ?)", (number, event.key, line)
                )
        return verify_ledger(ledger)

    def test_an_honest_one(self, make_event: MakeEvent, tmp_path: Path) -> None:
        rows = [(make_event(0.5), "", {"ledger": "1/2"}), (make_event(0.5), "", {"ledger": "1"})]
        assert self.verify(tmp_path, *rows).sequence == 2

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
        tmp_path: Path,
    ) -> None:
        first = (make_event(0.5), "", {"ledger": "1/2"})
        with pytest.raises(LedgerCorruptedError, match=f"row 2 .*{reason}"):
            self.verify(tmp_path, first, (make_event(**second), account, {"ledger": total}))

    @pytest.mark.parametrize(
        ("refund", "account", "key", "reason"),
        [
            (0.5, "", "r", "more than was left"),
            (-5e-324, "", "r", "more than was left"),
            (0.25, "r", "r", "closed reservation"),
            (0.25, "", "s", "not given back"),
        ],
    )
    def test_a_refund_that_is_too_much(
        self,
        make_event: MakeEvent,
        refund: float,
        account: str,
        key: str,
        reason: str,
        tmp_path: Path,
    ) -> None:
        inside = {"ledger": "1/2", "account": "1/4"}
        rows = [
            (make_event(0.5, kind="reservation", key="r"), "", {"ledger": "1/2"}),
            (make_event(0.25), "r", inside),
            (make_event(0.0, kind="reservation-closed", key="r/closed"), "r", inside),
            (
                make_event(-refund, kind="reservation-returned", key=f"{key}/returned"),
                account,
                {"ledger": str(0.5 - refund)},
            ),
        ]
        with pytest.raises(LedgerCorruptedError, match=f"row 4 .*{reason}"):
            self.verify(tmp_path, *rows)


class TestRollBack:
    def test_an_older_copy_is_behind(
        self, ledger: SharedLedger, path: Path, uri: str, make_event: MakeEvent, tmp_path: Path
    ) -> None:
        saved = ledger.position
        assert is_ahead_of(ledger, saved)
        older = tmp_path / "older.db"
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(older)) as target:
            source.backup(target)
        ledger.charge(make_event(0.25, key="later"))
        later = ledger.position
        assert is_ahead_of(ledger, saved)
        # It verifies and has budget to spend again; only the position tells.
        restored = SharedLedger(f"sqlite:///{older}")
        assert restored.spent == 0.5
        verify_ledger(restored)
        assert is_ahead_of(restored, saved)
        assert not is_ahead_of(restored, later)
        restored.charge(make_event(0.25, key="later"))
        assert not is_ahead_of(restored, later)

    def test_a_copy_put_back_under_a_running_process(
        self, ledger: SharedLedger, path: Path, make_event: MakeEvent, tmp_path: Path
    ) -> None:
        older = tmp_path / "older.db"
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(older)) as target:
            source.backup(target)
        ledger.charge(make_event(0.25))
        shutil.move(older, path)
        with pytest.raises(LedgerError, match="replaced"):
            ledger.charge(make_event(0.25))

    def test_rows_that_go_after_a_verification(
        self, ledger: SharedLedger, path: Path, make_event: MakeEvent
    ) -> None:
        other = SharedLedger.found(f"sqlite:///{path}", ceiling=1.0, dataset="other")
        for each in (ledger, other):
            each.charge(make_event(0.125, key="last"))
        # What is known of neither is forgotten: of the other one nothing was verified.
        verify_ledger(ledger)
        with triggers_away(path):
            sql(path, "DELETE FROM log WHERE key = 'last'")
        for each in (ledger, other):
            with pytest.raises(LedgerCorruptedError, match="is missing"):
                each.charge(make_event(0.125))

    def test_a_reservation_that_was_rolled_back_is_refused(
        self, ledger: SharedLedger, path: Path, make_event: MakeEvent, tmp_path: Path
    ) -> None:
        older = tmp_path / "older.db"
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(older)) as target:
            source.backup(target)
        reservation = ledger.reserve(0.25)
        close_ledgers()
        shutil.move(older, path)
        with pytest.raises(LedgerError, match="reservation"):
            reservation.charge(make_event(0.125))

    def test_an_account_without_rows_has_a_position(self, uri: str) -> None:
        empty = SharedLedger.found(uri, ceiling=1.0, dataset="empty")
        assert empty.position.sequence == 0
        assert is_ahead_of(empty, empty.position)
        assert not is_ahead_of(empty, Position(0, "another"))
        assert not is_ahead_of(empty, Position(1, empty.position.hash))


def test_indices_that_were_exchanged_are_found(ledger: SharedLedger, path: Path) -> None:
    """Rows and tables are as they were, and lookups go astray: the database's own check sees it."""
    close_ledgers()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        roots = connection.execute(
            "SELECT name, rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'log'"
        ).fetchall()
        connection.execute("PRAGMA writable_schema = ON")
        for (name, _), (_, other) in zip(roots, roots[::-1], strict=True):
            change = "UPDATE sqlite_master SET rootpage = ? WHERE name = ?"
            connection.execute(change, (other, name))
    with pytest.raises(LedgerCorruptedError, match="missing, or another one"):
        verify_ledger(ledger)
