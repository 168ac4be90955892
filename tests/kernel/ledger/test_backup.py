"""Copies: whole ones, made while the ledger is in use, and never older ones by mistake."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pacsklearn import PrivacySession
from pacsklearn.cli.app import app
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.row import Position
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.backup import backup, restore
from pacsklearn.upkeep.verification import is_ahead_of, verify_ledger

MakeEvent = Callable[..., Event]


def damage(raw: sqlite3.Connection, statement: str) -> None:
    """Change a row as no client of the ledger can; its triggers are back afterwards."""
    (trigger,) = raw.execute(
        "SELECT sql FROM sqlite_master WHERE name = 'log_no_update'"
    ).fetchone()
    raw.execute("DROP TRIGGER log_no_update")
    raw.execute(statement)
    raw.execute(trigger)


def test_a_plain_copy_lacks_charges_and_a_backup_does_not(
    ledger: SharedLedger, path: Path, tmp_path: Path, make_event: MakeEvent
) -> None:
    for _ in range(4):
        ledger.charge(make_event(0.125))
    shutil.copy(path, tmp_path / "plain.db")
    assert SharedLedger(f"sqlite:///{tmp_path}/plain.db").spent == 0  # what people do
    positions = backup(path, tmp_path / "backup.db")
    assert positions == {"default": ledger.position}
    copied = SharedLedger(f"sqlite:///{tmp_path}/backup.db")
    assert copied.spent == 0.5
    assert copied.events == ledger.events
    assert verify_ledger(copied) == ledger.position
    assert not list(tmp_path.glob(".*"))


def test_a_copy_replaces_nothing(ledger: SharedLedger, path: Path, tmp_path: Path) -> None:
    (tmp_path / "there.db").touch()
    with pytest.raises(LedgerError, match="already"):
        backup(path, tmp_path / "there.db")
    with pytest.raises(LedgerError, match="ledger"):
        backup(tmp_path / "nowhere.db", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_damaged_ledger_is_not_copied(
    ledger: SharedLedger, path: Path, tmp_path: Path, make_event: MakeEvent
) -> None:
    ledger.charge(make_event(0.125))
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        damage(raw, "UPDATE log SET line = replace(line, '0.125', '0.0') WHERE number = 1")
    with pytest.raises(LedgerCorruptedError, match="row 1"):
        backup(path, tmp_path / "backup.db")
    assert not (tmp_path / "backup.db").exists()


def test_what_is_behind_a_statement_is_not_restored(
    ledger: SharedLedger, path: Path, tmp_path: Path, make_event: MakeEvent
) -> None:
    founded = ledger.position
    ledger.charge(make_event(0.125))
    backup(path, tmp_path / "older.db")
    ledger.charge(make_event(0.125))
    released = ledger.position
    backup(path, tmp_path / "newer.db")
    for name, position in (("default", released), ("default", Position(2, "x")), ("o", founded)):
        with pytest.raises(LedgerMismatchError, match="Restore"):
            restore(tmp_path / "older.db", tmp_path / "back.db", [(name, position)])
    heads = [("default", founded), ("default", released)]
    assert restore(tmp_path / "newer.db", tmp_path / "back.db", heads)["default"] == released
    assert SharedLedger(f"sqlite:///{tmp_path}/back.db").spent == 0.25


def test_a_statement_holds_the_head_of_its_ledger(
    ledger: SharedLedger, path: Path, uri: str, tmp_path: Path, make_event: MakeEvent
) -> None:
    call = CliRunner().invoke
    with PrivacySession.over(range(16), budget=0.5, ledger=ledger) as session:
        release = session.release_function(int.bit_count, noise="one_sided")
    assert release.guarantee.ledger_head == f"default {ledger.position}"
    assert type(release.guarantee).from_json(release.guarantee.to_json()) == release.guarantee
    statement = tmp_path / "statement.json"
    statement.write_text(json.dumps({"guarantee": release.guarantee.to_dict()}))
    ledger.charge(make_event(0.125))
    against = ["--against", str(statement)]
    assert call(app, ["ledger", "verify", uri, *against]).exit_code == 0
    made = call(app, ["ledger", "backup", uri, "--to", str(tmp_path / "b.db")])
    assert made.exit_code == 0, made.output
    back = ["ledger", "restore", str(tmp_path / "b.db"), "--to", str(tmp_path / "r.db"), *against]
    assert call(app, back).exit_code == 0
    assert call(app, ["ledger", "verify", str(tmp_path / "r.db"), *against]).exit_code == 0
    other = SharedLedger.found(f"sqlite:///{tmp_path}/other.db", 1.0)
    assert call(app, ["ledger", "verify", other.uri, *against]).exit_code == 1
    statement.write_text("{}")
    assert "no ledger_head" in call(app, ["ledger", "verify", uri, *against]).output


def test_an_account_in_memory_has_no_head() -> None:
    assert MemoryLedger(1.0).head == ""


def test_a_founding_with_another_ceiling_and_a_new_hash_is_not_ahead(
    ledger: SharedLedger, path: Path, uri: str, make_event: MakeEvent
) -> None:
    ledger.charge(make_event(0.5))
    position = ledger.position
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        (line,) = raw.execute("SELECT line FROM log WHERE number = 0").fetchone()
        forged = line.rpartition(',"hash"')[0].replace(":1.0", ":100.0")
        digest = hashlib.sha256(forged.encode()).hexdigest()
        line = f'{forged},"hash":"{digest}"}}'
        damage(raw, f"UPDATE log SET line = '{line}' WHERE number = 0")  # noqa: S608
    close_ledgers()
    assert not is_ahead_of(SharedLedger(uri), position)  # it was: only the row was looked at
    with pytest.raises(LedgerCorruptedError, match="follow"):
        SharedLedger(uri).charge(make_event(50.0))


def test_a_charge_refuses_what_verify_refuses(
    ledger: SharedLedger, path: Path, uri: str, make_event: MakeEvent
) -> None:
    for _ in range(3):
        ledger.charge(make_event(0.125))
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        damage(raw, "UPDATE log SET line = replace(line, '0.125', '0.0') WHERE number = 2")
    close_ledgers()  # another process, which has verified nothing
    with pytest.raises(LedgerCorruptedError, match="row 2"):
        SharedLedger(uri).charge(make_event(0.125))
