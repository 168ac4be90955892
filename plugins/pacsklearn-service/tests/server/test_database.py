"""The service's tables on both databases, and an older copy of them."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from pacsklearn_service.server.problem import problem_of
from pacsklearn_service.server.store import database as database_module
from pacsklearn_service.server.store.api_keys import ApiKeys
from pacsklearn_service.server.store.audit_log import AuditLog
from pacsklearn_service.server.store.database import FencedError, ServiceDatabase
from pacsklearn_service.server.store.file_connection import FileConnection
from pacsklearn_service.server.store.server_connection import ServerConnection
from pacsklearn_service.server.vault import Vault
from service_house.house import STEP, House, contested_rows
from typer.testing import CliRunner

from pacsklearn.cli.app import app
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.backup import restore
from tests.kernel.ledger.postgres_server import PostgresServer


def found(database: ServiceDatabase, *names: str) -> None:
    for name in names:
        with database.founding(name) as connection:
            connection.insert("service_datasets", name=name, facts="{}", rows=b"", created="")


@pytest.mark.product(only=1)
def test_processes_of_one_database_share_its_data_sets(address: str) -> None:
    first, second, third = (ServiceDatabase(address) for _ in range(3))
    with pytest.raises(FencedError):
        found(first, "alone")
    assert first.take("first", 60.0) == {}
    found(first, "a", "b", "c")
    tokens = first.led
    assert second.take("second", 60.0) == {}
    assert first.take("first", 60.0) == tokens
    assert first.surplus == ["c"]  # of three the one that began first leads two
    with pytest.raises(FencedError), second.writing("c"):
        pass
    first.give_back("c")
    taken = second.take("second", 60.0)
    assert taken == {"c": max(tokens.values()) + 2}  # a number between the two was the second's
    for stale in (tokens["c"], None):
        with pytest.raises(FencedError), first.writing("c", stale):
            pass
    with first.reading() as connection:
        assert [first.holder(connection, name) for name in "abcd"] == ["first"] * 2 + ["second", ""]
        with pytest.raises(FencedError):
            first.check_lease(connection, "c", tokens["c"])
    second.release()
    assert second.led == {}
    assert first.take("first", 60.0).keys() == {*"abc"}
    # Taken again by the same process: what it knew before is of an older token.
    assert first.leads("a", tokens["a"])
    assert not first.leads("c", tokens["c"])
    with pytest.raises(FencedError), first.writing("c", tokens["c"]):
        pass
    with first.writing("c", first.led["c"]) as connection:
        assert connection.delete("service_leases", dataset="c")
        assert connection.delete("service_datasets", name="c")
    assert third.take("third", 60.0) == {}
    assert first.take("first", 60.0).keys() == {*"ab"}
    assert first.surplus == ["b"]
    first.release()
    found(third, "c")
    assert third.led["c"] > tokens["c"] + 2, "also of a name that was there before"
    assert third.take("third", 60.0).keys() == {*"abc"}
    for each in (first, second, third):
        each.close()


def test_what_is_lost_is_what_others_lead(address: str) -> None:
    alone, other = ServiceDatabase(address), ServiceDatabase(address)
    alone.take("alone", 0.05)
    found(alone, "a", "b")
    tokens = alone.led
    while alone.is_held:  # the machine stands still for longer than the lease lasts
        time.sleep(0.01)
    assert alone.take("alone", 0.05) == tokens
    assert alone.lost == []
    with alone.leaving("a") as connection:
        assert connection.delete("service_leases", dataset="a")
        assert connection.delete("service_datasets", name="a")
    assert alone.take("alone", 0.05).keys() == {"b"}
    assert alone.lost == []
    while "b" not in other.led:
        other.take("other", 60.0)
    assert other.new.keys() == {"b"}
    assert alone.take("alone", 60.0) == {}
    assert alone.lost == ["b"]
    alone.close()
    other.close()


def test_data_sets_of_an_older_version_have_leases_too(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    shutil.copy(database_module._TABLES / "001_first.sql", tables)
    with monkeypatch.context() as patch:
        patch.setattr(database_module, "_TABLES", tables)
        ServiceDatabase(address).close()
    kind = FileConnection if address.startswith("sqlite") else ServerConnection
    older = kind(address, 30.0)
    with older.transaction(write=True):
        older.insert("service_datasets", name="a", facts="{}", rows=b"", created="")
    older.close()
    database = ServiceDatabase(address)
    assert database.take("me", 60.0).keys() == {"a"}
    database.close()


def test_what_belongs_to_no_data_set_is_written_by_everybody(address: str) -> None:
    first, second = ServiceDatabase(address), ServiceDatabase(address)
    with first.writing() as connection:
        keys = ApiKeys(connection, Vault(bytes(32)))
        key = keys.issue("ann", None, ["ask"], 1.0)["key"]
        AuditLog(connection).add("curator", "issue key", "ann")
    with second.writing() as connection:
        AuditLog(connection).add("curator", "add user", "ann")
    with second.reading() as connection:
        told = ApiKeys(connection, Vault(bytes(32))).find(key)
        assert told is not None
        caller, _ = told
        assert (caller.user, caller.project, caller.scopes) == ("ann", None, frozenset({"ask"}))
        assert [line["sequence"] for line in AuditLog(connection).lines(after=1)] == [2]
        assert AuditLog(connection).first_wrong() is None
    with first.writing() as connection:
        assert connection.change("UPDATE service_audit SET actor = ? WHERE sequence = ?", "x", 2)
        assert AuditLog(connection).first_wrong() == 2
    first.close()
    second.close()


def test_what_fails_is_undone_and_quotes_nothing(address: str) -> None:
    database = ServiceDatabase(address)
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
    assert database.take("me", 60.0) == {}
    assert database.is_held
    database.close()
    close_ledgers()


def test_tables_of_a_newer_version_are_refused(address: str) -> None:
    database = ServiceDatabase(address)
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
