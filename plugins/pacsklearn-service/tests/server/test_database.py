"""The service's tables on both databases, and an older copy of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pacsklearn_service.server.problem import problem_of
from pacsklearn_service.server.store.api_keys import ApiKeys
from pacsklearn_service.server.store.audit_log import AuditLog
from pacsklearn_service.server.store.database import FencedError, ServiceDatabase
from pacsklearn_service.server.vault import Vault
from service_house.house import STEP, House, contested_rows
from typer.testing import CliRunner

from pacsklearn.cli.app import app
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.open_ledger import close_ledgers
from pacsklearn.upkeep.backup import restore
from tests.kernel.ledger.postgres_server import PostgresServer


def test_two_processes_of_one_database(address: str) -> None:
    first, second = ServiceDatabase(address), ServiceDatabase(address)
    assert first.take("first", 60.0)
    assert not second.take("second", 60.0)
    with pytest.raises(FencedError), second.writing():
        pass
    with first.writing() as connection:
        keys = ApiKeys(connection, Vault(bytes(32)))
        _, key = keys.issue("ann", None, ["ask"], 1.0)
        AuditLog(connection).add("curator", "issue key", "ann")
        AuditLog(connection).add("curator", "add user", "ann")
    with second.reading() as connection:
        found = ApiKeys(connection, Vault(bytes(32))).find(key)
        assert found is not None
        caller, _ = found
        assert (caller.user, caller.project, caller.scopes) == ("ann", None, frozenset({"ask"}))
        assert [line["sequence"] for line in AuditLog(connection).lines(after=1)] == [2]
        assert AuditLog(connection).first_wrong() is None
    with first.writing() as connection:
        assert connection.change("UPDATE service_audit SET actor = ? WHERE sequence = ?", "x", 2)
        assert AuditLog(connection).first_wrong() == 2
    first.release()
    assert second.take("second", 60.0)
    assert second.token == 2
    with pytest.raises(FencedError), first.reading() as connection:
        first.check_lease(connection)
    first.close()
    second.close()


def test_what_fails_is_undone_and_quotes_nothing(address: str) -> None:
    database = ServiceDatabase(address)
    assert database.take("me", 60.0)
    row: dict[str, Any] = {"kind": "user", "name": "anns-name", "facts": "{}"}
    with database.writing() as connection:
        connection.insert("service_users", **row)

    def replace(*new: dict[str, Any]) -> None:
        with database.writing() as connection:
            connection.change("DELETE FROM service_users")
            for each in new:
                connection.insert("service_users", **each)
            raise ZeroDivisionError

    with pytest.raises(LedgerError) as raised:
        replace(row, row)
    assert "anns-name" not in str(raised.value)
    assert "se-cret" not in str(raised.value)  # the password in the server's address
    assert problem_of(raised.value).kind == "unavailable"
    with pytest.raises(ZeroDivisionError):
        replace()
    with database.reading() as connection:
        assert connection.ask("SELECT * FROM service_users") == [row]
    database.close()


def test_a_server_that_was_started_anew_is_reached_again(server: PostgresServer) -> None:
    database = ServiceDatabase(server.database())
    server.kill()
    with pytest.raises(LedgerError) as raised, database.reading():
        pass
    assert "se-cret" not in str(raised.value)
    server.start()
    assert database.take("me", 60.0)
    database.close()
    close_ledgers()


def test_tables_of_a_newer_version_are_refused(address: str) -> None:
    database = ServiceDatabase(address)
    database.take("me", 60.0)
    with database.writing() as connection:
        connection.insert("service_version", number=99)
    database.close()
    with pytest.raises(LedgerMismatchError):
        ServiceDatabase(address)


def test_an_older_copy_is_refused_at_the_start(new_house: Any, tmp_path: Path) -> None:
    key, now, old = key_in(tmp_path), tmp_path / "service.db", tmp_path / "old.db"

    def ask(*rows: Any) -> None:
        house: House = new_house(key=key)
        for each in rows:
            house.ask(house.user("ann"), each)
        house.close()
        close_ledgers()

    rows = contested_rows(3)
    ask(rows[:1])
    shutil.copy(now, old)
    ask(rows[1:])
    new = now.rename(tmp_path / "new.db")
    shutil.copy(old, now)
    with pytest.raises(LedgerCorruptedError) as raised:
        new_house(key=key)
    assert str(tmp_path / "high-water") in str(raised.value)
    close_ledgers()
    config = tmp_path / "service.toml"
    config.write_text(f'database = "sqlite:///{now}"\nkey_file = "{tmp_path / "service.key"}"\n')
    told = CliRunner().invoke(app, ["service", "run", "--config", str(config)])
    assert told.exit_code == 1
    assert str(tmp_path / "high-water") in told.output.replace("\n", "")
    close_ledgers()
    now.unlink()
    with pytest.raises(LedgerCorruptedError):
        restore(old, now)
    restore(new, now)  # what holds everything is no older copy
    close_ledgers()
    ask()
    now.unlink()
    restore(old, now, new_start=True)
    house: House = new_house(key=key)
    assert house.spent == STEP
    house.close()


def key_in(folder: Path) -> bytes:
    """Key of a house, also where ``pacsklearn service run`` finds it."""
    file = folder / "service.key"
    file.touch(mode=0o600)
    file.write_bytes(bytes(range(32)))
    return file.read_bytes()
