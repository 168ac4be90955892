"""The ledger on a server: the same contract, and what a server adds."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import signal
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Self

import psycopg
import pytest

from pacsklearn.exceptions import (
    BudgetExhaustedError,
    LedgerCorruptedError,
    LedgerError,
    LedgerMismatchError,
)
from pacsklearn.kernel.ledger import log
from pacsklearn.kernel.ledger.event import Event, LatticeNoise
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing import check_ledger
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn.upkeep.backup import backup, restore
from pacsklearn.upkeep.repair import repair
from pacsklearn.upkeep.verification import verify_ledger
from tests.kernel.ledger.postgres_server import PostgresServer

MakeEvent = Callable[..., Event]
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def ledger(address: str) -> SharedLedger:
    return SharedLedger.found(address, 1.0)


def sql(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SET search_path = pacsklearn")
        for statement in statements:
            connection.execute(statement)


def test_the_contract(address: str) -> None:
    names = iter(range(100))

    def found(ceiling: float, **terms: float) -> Ledger:
        return SharedLedger.found(address, ceiling, dataset=f"d{next(names)}", **terms)

    check_ledger(found, requests=16)
    for each in range(next(names)):
        verify_ledger(SharedLedger(address, dataset=f"d{each}"))


def request(ledger: Ledger, client: int, requests: int) -> list[str]:
    granted = []
    for number in range(requests):
        try:
            event = LatticeNoise(
                "responses", 1.0, "nats", "x", 1.0, 8, 1, 1, key=f"{client} {number}"
            )
            if ledger.charge(event):
                granted.append(event.key)
        except BudgetExhaustedError:
            continue
    return granted


@pytest.mark.soak
def test_exactly_three_of_sixteen_clients(address: str) -> None:
    ledger = SharedLedger.found(address, 3.0)
    with FORK.Pool(16) as pool:
        granted = pool.starmap(request, [(ledger, client, 64) for client in range(16)], 1)
        pool.close()
        pool.join()
    keys = [key for each in granted for key in each]
    assert len(keys) == 3
    assert sorted(keys) == sorted(event.key for event in ledger.events)
    assert verify_ledger(ledger).sequence == 3


class TestOpening:
    def test_a_ledger_is_founded_once(self, ledger: SharedLedger, address: str) -> None:
        assert open_ledger(address, ceiling=None) == SharedLedger(address, 1.0) == ledger
        with pytest.raises(LedgerError, match="founded"):
            SharedLedger.found(address, 2.0)
        with pytest.raises(LedgerError, match="found"):
            SharedLedger(address, dataset="other")

    def test_an_empty_database_is_no_ledger(self, address: str) -> None:
        with pytest.raises(LedgerError, match="ledger"):
            SharedLedger(address)

    def test_no_password_is_printed(self, ledger: SharedLedger, address: str) -> None:
        assert "se-cret" in address
        reservation = ledger.reserve(0.5)
        for text in (repr(ledger), ledger.uri, repr(reservation)):
            assert "se-cret" not in text
        for wrong in (
            address + "_of_nobody",
            address.replace("owner", "nobody"),
            "mysql://owner:se-cret@host/x",
            "postgresql://owner:se-cret@/x?host=/nowhere&password=se-cret",
        ):
            with pytest.raises(LedgerError) as caught:
                open_ledger(wrong, ceiling=None)
            assert "se-cret" not in str(caught.value)

    def test_a_pickle_is_the_same_account(
        self, ledger: SharedLedger, make_event: MakeEvent
    ) -> None:
        pickle.loads(pickle.dumps(ledger)).charge(make_event(0.25))
        assert ledger.spent == 0.25


class TestTheServerRefuses:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE log SET line = '' WHERE number = 1",
            "UPDATE log SET line = '' WHERE number = 0",
            "DELETE FROM log",
            "TRUNCATE log",
            "TRUNCATE answers",
            "INSERT INTO log SELECT dataset, 9, 'k', line FROM log WHERE number = 1",
            "INSERT INTO log SELECT dataset, 2, 'k', line FROM log WHERE number = 1",
        ],
    )
    def test_anything_but_appending(
        self, ledger: SharedLedger, address: str, make_event: MakeEvent, statement: str
    ) -> None:
        ledger.charge(make_event(0.5))
        with pytest.raises(psycopg.IntegrityError, match="ledger"):
            sql(address, statement)
        verify_ledger(ledger)

    def test_the_role_may_append_and_nothing_else(
        self, ledger: SharedLedger, address: str, server: PostgresServer, make_event: MakeEvent
    ) -> None:
        sql(
            address,
            "DROP ROLE IF EXISTS application",
            "CREATE ROLE application LOGIN IN ROLE pacsklearn_ledger_writer",
        )
        theirs = SharedLedger(address.replace("//owner:", "//application:"))
        theirs.charge(make_event(0.5))
        assert ledger.spent == 0.5
        for statement in (
            "UPDATE log SET line = ''",
            "DELETE FROM log",
            "TRUNCATE log",
            "DROP TRIGGER log_no_change ON log",
            "UPDATE version SET number = 9",
            "INSERT INTO log SELECT 'x', 0, NULL, line FROM log WHERE number = 0",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                sql(address.replace("//owner:", "//application:"), statement)
        with pytest.raises(LedgerError, match="permission"):
            SharedLedger.found(address.replace("//owner:", "//application:"), 9.0, dataset="theirs")

    def test_the_owner_charges_in_the_role_too(
        self, ledger: SharedLedger, address: str, make_event: MakeEvent
    ) -> None:
        sql(address, "REVOKE INSERT ON log FROM pacsklearn_ledger_writer")
        with pytest.raises(LedgerError, match="permission"):
            ledger.charge(make_event(0.5))
        assert ledger.spent == 0


class TestTampering:
    def test_a_changed_row_is_named(
        self, ledger: SharedLedger, address: str, make_event: MakeEvent
    ) -> None:
        for _ in range(3):
            ledger.charge(make_event(0.125))
        sql(
            address,
            "ALTER TABLE log DISABLE TRIGGER ALL",
            "UPDATE log SET line = replace(line, '0.125', '0.0') WHERE number = 2",
            "ALTER TABLE log ENABLE TRIGGER ALL",
        )
        close_ledgers()  # another process
        with pytest.raises(LedgerCorruptedError, match="row 2"):
            ledger.charge(make_event(0.125))
        with pytest.raises(LedgerCorruptedError, match="row 2"):
            verify_ledger(ledger)

    @pytest.mark.parametrize(
        ("change", "words"),
        [("UPDATE version SET number = 99", "newer"), ("UPDATE version SET number = 0", "lost"),
         ("DELETE FROM version", "lost")],
    )  # fmt: skip
    def test_tables_of_another_version_are_left_alone(
        self, ledger: SharedLedger, address: str, make_event: MakeEvent, change: str, words: str
    ) -> None:
        ledger.charge(make_event(0.125))
        sql(address, change)
        with pytest.raises(LedgerMismatchError, match=words):
            ledger.charge(make_event(0.125))

    def test_a_server_that_may_forget_is_refused(self) -> None:
        from pacsklearn_postgres import postgres_log

        class Forgetful:
            def __enter__(self) -> Self:
                return self

            def __exit__(self, *_: object) -> None:
                return None

            def execute(self, *_: object) -> None:
                return None

            def fetchone(self) -> tuple[str, str, bool]:
                return "off", "on", True

            def cursor(self) -> Forgetful:
                return self

        with pytest.raises(LedgerError, match="fsync=off"):
            postgres_log.prepare(Forgetful())


def charge_for_ever(ledger: Ledger, told: Path, run: str) -> None:
    with told.open("ab", buffering=0) as file:
        for number in count():
            key = f"{run}/{number}"
            event = LatticeNoise("responses", 2.0**-20, "nats", "x", 0.0, 8, 1, 1, key=key)
            if ledger.charge(event):
                file.write(f"{key}\n".encode())


def check_granted(ledger: SharedLedger, told: list[str]) -> None:
    recorded = [event.key for event in ledger.events]
    assert len(recorded) == len(set(recorded)), "recorded twice"
    assert len(told) == len(set(told)), "granted twice"
    assert set(told) <= set(recorded), "granted and not recorded"
    assert verify_ledger(ledger).sequence == len(recorded)


def kill_clients(ledger: SharedLedger, folder: Path, kills: int) -> None:
    generator = random.Random(3)
    told = folder / "told"
    for kill in range(kills):
        child = FORK.Process(target=charge_for_ever, args=(ledger, told, str(kill)))
        child.start()
        before = told.stat().st_size if told.exists() else 0
        while not told.exists() or told.stat().st_size == before:
            time.sleep(0.002)
        time.sleep(generator.uniform(0, 0.02))
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    check_granted(ledger, told.read_text().split())


def kill_servers(ledger: SharedLedger, server: PostgresServer, kills: int) -> None:
    """Two threads go on charging while the server is killed and started again."""
    generator = random.Random(5)
    told: list[str] = []
    stop = threading.Event()
    errors: list[Exception] = []

    def work(run: str) -> None:
        try:
            for number in count():
                if stop.is_set():
                    return
                key = f"{run}/{number}"
                event = LatticeNoise("responses", 2.0**-20, "nats", "x", 0.0, 8, 1, 1, key=key)
                assert ledger.charge(event)  # whatever became of the server, it is new
                told.append(key)
        except Exception as error:  # noqa: BLE001 - reported by the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(f"thread {i}",)) for i in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(kills):
            time.sleep(generator.uniform(0.02, 0.1))
            server.kill()
            server.start()
            before, deadline = len(told), time.monotonic() + 60
            while len(told) == before and not errors and time.monotonic() < deadline:
                time.sleep(0.002)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not errors
    assert len(told) >= kills
    assert sorted(told) == sorted(event.key for event in ledger.events)
    check_granted(ledger, told)


def test_killed_clients(ledger: SharedLedger, tmp_path: Path) -> None:
    kill_clients(ledger, tmp_path, 6)


@pytest.mark.soak
def test_a_killed_server(ledger: SharedLedger, server: PostgresServer) -> None:
    kill_servers(ledger, server, 4)


class TestALostConnection:
    def test_is_made_again(
        self, ledger: SharedLedger, server: PostgresServer, make_event: MakeEvent
    ) -> None:
        def cut() -> None:
            sql(
                ledger.uri,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )

        ledger.charge(make_event(0.125))
        for ask in (lambda: ledger.spent, lambda: verify_ledger(ledger), lambda: ledger.remaining):
            cut()
            ask()
        cut()
        assert ledger.charge(make_event(0.125))
        assert verify_ledger(ledger).sequence == 2

    def test_a_locked_data_set_is_waited_for_and_then_said(
        self, ledger: SharedLedger, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(log, "PATIENCE", 1.0)
        close_ledgers()
        with psycopg.connect(ledger.uri) as other:
            other.execute("SELECT pacsklearn.lock_dataset('default')")
            with pytest.raises(LedgerError, match="lock"):
                ledger.charge(make_event(0.125))
            assert ledger.spent == 0
        assert ledger.charge(make_event(0.125))
        close_ledgers()


class TestCopies:
    def test_a_ledger_moves_to_a_file_and_back_to_a_server(
        self,
        ledger: SharedLedger,
        server: PostgresServer,
        make_event: MakeEvent,
        tmp_path: Path,
    ) -> None:
        theirs = SharedLedger.found(ledger.uri, 2.0, dataset="theirs", per_user=1.0)
        for _ in range(3):
            ledger.charge(make_event(0.125))
        theirs.on_behalf_of(user="ann").reserve(0.3, note="search", seconds=1e6)
        heads = {"default": ledger.position, "theirs": theirs.position}
        file = tmp_path / "copy.db"
        assert backup(ledger.uri, file) == heads
        copy = SharedLedger(f"sqlite:///{file}", dataset="theirs")
        assert copy.spent == 0.3
        assert copy.reservations[0].note == "search"
        assert copy.on_behalf_of(user="ann").remaining == theirs.on_behalf_of(user="ann").remaining
        address = server.database()
        assert restore(file, address, heads.items()) == heads
        again = SharedLedger(address)
        assert verify_ledger(again) == heads["default"]
        assert again.events == ledger.events
        assert again.charge(make_event(0.125))
        with pytest.raises(LedgerError, match="already"):
            restore(file, address)
        assert verify_ledger(again).sequence == 4

    def test_a_damaged_one_is_repaired_into_a_file(
        self, ledger: SharedLedger, address: str, make_event: MakeEvent, tmp_path: Path
    ) -> None:
        for _ in range(3):
            ledger.charge(make_event(0.125))
        sql(
            address,
            "ALTER TABLE log DISABLE TRIGGER ALL",
            "UPDATE log SET line = replace(line, '0.125', '0.0') WHERE number = 2",
            "ALTER TABLE log ENABLE TRIGGER ALL",
        )
        file = tmp_path / "repaired.db"
        with pytest.raises(LedgerCorruptedError, match="row 2"):
            backup(ledger.uri, tmp_path / "copy.db")
        assert [*tmp_path.iterdir()] == []
        facts = repair(ledger.uri, file, signed_by="A. Curator", reason="a zero")
        assert (facts["default"]["kept"], facts["default"]["set_aside"]) == (1, 2)
        assert SharedLedger(f"sqlite:///{file}").spent == 0.375  # the third row states the sum


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_five_hundred_kills(ledger: SharedLedger, server: PostgresServer, tmp_path: Path) -> None:
    sample = os.environ.get("PACSKLEARN_SOAK") == "sample"
    kill_clients(ledger, tmp_path, 20 if sample else 400)
    other = SharedLedger.found(ledger.uri, 1.0, dataset="second")
    kill_servers(other, server, 4 if sample else 100)
