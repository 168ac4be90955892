"""What was answered is looked up and not loaded, and nobody who stands still keeps others out."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pacsklearn_service.server.answering import lease_keeper
from pacsklearn_service.server.answering.batch import Learned, Share
from pacsklearn_service.server.answering.records import Answer, Records
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.store.database import ServiceDatabase
from pacsklearn_service.server.vault import Vault
from service_house.house import STEP, House, contested_rows

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.ledger.sqlite_file import connect
from pacsklearn.testing.fresh_process import close_ledgers
from tests.kernel.ledger.postgres_server import PostgresServer

VAULT = Vault(bytes(32))


@pytest.fixture
def database(address: str) -> Iterator[ServiceDatabase]:
    found = ServiceDatabase(address)
    found.take("me", 600.0)
    yield found
    found.close()


def test_answers_are_found_by_the_names_of_rows(database: ServiceDatabase) -> None:
    records, learned = Records(VAULT, "risk"), Learned([0.0], (0, 0), 0)
    names = [i.to_bytes(16) for i in range(2000)]
    values: list[Any] = [0.1, [1 / 3, 2 / 3], 3, "a"]
    told = {name: Answer(values[i % 4], bool(i % 3)) for i, name in enumerate(names[:1500])}
    with database.writing() as connection:
        paid = {"ann": names[:1000], "bob": names[500:1500]}
        shares = [Share(user, None, 0.0, own, own) for user, own in paid.items()]
        records.finish(connection, learned, told, shares)
        other = dict.fromkeys(names, Answer(7, True))
        Records(VAULT, "other").finish(connection, learned, other, [])
    with database.reading() as connection:
        asked = [("ann", names), ("bob", names[::-1]), ("eve", names[:1])]
        known = records.look_up(connection, asked)
        assert known.answers == told
        assert known.paid == {"ann": {*names[:1000]}, "bob": {*names[500:1500]}, "eve": set()}
        assert known.new_to("ann", [names[1], names[1200], names[5], names[1200]]) == [names[1200]]
        assert records.look_up(connection, []).answers == {}
        assert len(connection.rows("service_answers", model="risk")) == 1500
        # The tables do not tell that two users have asked the same.
        rows = connection.ask("SELECT name FROM service_paid")
        assert len({bytes(row["name"]) for row in rows}) == 2000
        stored = connection.ask("SELECT answer FROM service_answers WHERE model = 'risk'")
        assert len({bytes(row["answer"]) for row in stored}) == 1500


def test_what_was_learned_is_the_same_in_every_bit(database: ServiceDatabase) -> None:
    records = Records(VAULT, "risk")
    learned = Learned([float("-inf"), 0.1, -1e-300], (5, 2), 3)
    with database.writing() as connection:
        connection.insert("service_progress", model="risk")
        assert records.progress(connection) == (None, None)
        records.finish(connection, learned, {}, [])
        again, batch = records.progress(connection)
    assert batch is None
    assert again is not None
    assert (again.belief, again.counts, again.charged) == ([float("-inf"), 0.1, -1e-300], (5, 2), 3)


def rows_read_by_a_heir(new_house: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    read = []
    real = Connection.ask

    def ask(connection: Any, question: str, *values: Any) -> Any:
        rows = real(connection, question, *values)
        is_own = "service_leases" in question or "service_coordinators" in question
        read.append(0 if is_own else len(rows))
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(Connection, "ask", ask)
        heir: House = new_house(found=False)
        assert heir.wait(60)
        told = sum(read)
    heir.close()
    return told


@pytest.mark.soak
def test_taking_over_reads_no_more_of_a_long_history(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first: House = new_house()
    first.ask(first.user("ann"), contested_rows(2))
    first.close()
    few = rows_read_by_a_heir(new_house, monkeypatch)
    second: House = new_house()
    ann, free = second.user("ann"), contested_rows(300, seed=4) + 50.0
    for at in range(0, 300, 30):
        second.ask(ann, free[at : at + 30])
    assert second.n_answered == 302
    second.close()
    assert rows_read_by_a_heir(new_house, monkeypatch) == few


def test_the_lease_is_kept_while_the_database_is_used(database: ServiceDatabase) -> None:
    kept = threading.Event()

    def keep() -> None:
        database.take("me", 600.0)
        kept.set()

    with database.reading() as connection:
        connection.ask("SELECT * FROM service_leases")
        threading.Thread(target=keep, daemon=True).start()
        assert kept.wait(60)


def test_the_lease_is_kept_beside_somebody_who_writes_without_a_pause(tmp_path: Path) -> None:
    database = ServiceDatabase(f"sqlite:///{tmp_path / 'service.db'}")
    ended = threading.Event()

    def write() -> None:
        own = connect(str(tmp_path / "service.db"), "rw")
        own.execute("PRAGMA busy_timeout = 60000")
        while not ended.is_set():
            own.execute("BEGIN IMMEDIATE")
            time.sleep(0.1)
            own.execute("COMMIT")
            time.sleep(0.008)
        own.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(20):
            time.sleep(0.05)
            database.take("me", 600.0)
    finally:
        ended.set()
        writer.join()
        database.close()


@contextmanager
def frozen_holder(
    address: str, name: str | None, is_inside: bool
) -> Iterator[tuple[int, ServiceDatabase]]:
    """A process that holds the lease and stands still, and who would take its place."""
    first = ServiceDatabase(address)
    first.take("me", 60.0)
    with first.founding("clinic"):
        pass
    first.release()
    first.close()
    close_ledgers()
    go, gone = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            frozen = ServiceDatabase(address)
            os.read(go, 1)
            frozen.take(lease_keeper.own_name() if name is None else name, 0.1)
            if is_inside:
                with frozen.writing("clinic") as connection:
                    connection.insert("service_users", kind="user", name="late", facts="{}")
                    os.kill(os.getpid(), signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(1)
    heir = ServiceDatabase(address)
    try:
        os.write(gone, b".")
        assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
        yield child, heir
    finally:
        for each in (go, gone):
            os.close(each)
        os.kill(child, signal.SIGKILL)  # no more than a zombie where it was killed before
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        heir.close()
        close_ledgers()


def take(heir: ServiceDatabase, end: Any) -> None:
    waited = threading.Event()
    while "clinic" not in heir.led:
        with suppress(LedgerError):  # locked still: asked again, as the keeper does
            heir.take("heir", 20.0, end)
        waited.wait(0.05)
    with heir.writing("clinic"):
        pass


@pytest.mark.product(only=2)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("is_inside", [False, True])
def test_a_holder_that_stands_still_is_replaced(address: str, is_inside: bool) -> None:
    ended = []
    with frozen_holder(address, None, is_inside) as (child, heir):
        take(heir, lambda names: ended.extend(lease_keeper.end(name) for name in names) or 0)
        assert ended[0]
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        with heir.reading() as connection:
            assert connection.ask("SELECT * FROM service_users") == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_session_that_stands_still_on_another_machine_is_ended(server: PostgresServer) -> None:
    with frozen_holder(server.database(), "its-boot pid:[1] 5 1", True) as (_, heir):
        take(heir, lambda names: int(lease_keeper.end(names[0])))


def test_a_copy_leads_nothing_while_the_process_of_the_original_is_alive(new_house: Any) -> None:
    """Whoever looks at a restored copy beside the service does not end it."""
    first: House = new_house()
    first.close()
    with subprocess.Popen(["/bin/sleep", "600"]) as original:
        facts = [lease_keeper._name(original.pid), "", "", "of the original"]
        holder = first.coordinator.vault.seal(json.dumps(facts).encode(), "holder").hex()
        database = ServiceDatabase(first.address)
        with database.writing() as connection:
            lease = {"number": 99, "holder": holder, "until": 0.0, "seconds": 0.1}
            connection.insert("service_coordinators", **lease)
            connection.update("service_leases", {"coordinator": 99}, dataset="clinic")
        database.close()
        copy: House = new_house(found=False, lease=1.0)
        assert not copy.is_ready(3.0)
        assert original.poll() is None
        original.kill()
    assert copy.wait(60)


def test_nobody_else_is_killed() -> None:
    own = lease_keeper.own_name()
    boot, space, began, number = own.split()
    for name in ("", own, f"{boot} {space} 0 {os.getppid()}", f"{boot} other {began} {number}"):
        assert not lease_keeper.end(name)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("n_before", [0, 1])
def test_answers_of_an_older_copy_are_refused(
    new_house: Any, caplog: pytest.LogCaptureFixture, n_before: int
) -> None:
    """The ledger has charged more than what was stored of the answers: they would be drawn anew."""
    house: House = new_house()
    ann, rows = house.user("ann"), contested_rows(n_before + 1)
    if n_before:
        house.ask(ann, rows[:1])
    with house.coordinator.database.reading() as connection:
        (before,) = connection.ask("SELECT learned FROM service_progress")
    house.ask(ann, rows[n_before:])
    with house.coordinator.database.writing() as connection:
        connection.change("UPDATE service_progress SET learned = ?", before["learned"])
        connection.change("DELETE FROM service_answers")
    house.close()
    heir: House = new_house(found=False)
    deadline = time.monotonic() + 60
    while "older copy" not in caplog.text or not heir.coordinator.is_ready:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    with pytest.raises(Problem, match="not be loaded yet"):
        heir.coordinator.hosted("risk")
    assert np.isclose(heir.spent, (n_before + 1) * STEP)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("is_told", [False, True])
def test_what_was_told_is_not_drawn_again_where_its_end_is_lost(
    new_house: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture, is_told: bool,
) -> None:  # fmt: skip
    """A damaged write-ahead log ends between the charge and the answers."""
    house: House = new_house()
    ann, rows = house.user("ann"), contested_rows(2)
    path, copy = tmp_path / "service.db", tmp_path / "copy.db"
    draw = Responder.draw

    def copied(self: Responder, plan: Any) -> Any:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as own:
            source.backup(own)
        if not is_told:
            raise ZeroDivisionError
        return draw(self, plan)

    house.ask(ann, rows[:1])
    with monkeypatch.context() as patch:
        patch.setattr(Responder, "draw", copied)
        with nullcontext() if is_told else pytest.raises(ZeroDivisionError):
            house.ask(ann, rows[1:])
    house.close()
    close_ledgers()
    copy.replace(path)
    with closing(sqlite3.connect(path)) as own, own:
        own.execute("DELETE FROM service_coordinators")  # as once its lease has ended
    heir: House = new_house(found=False)
    if not is_told:  # as after a kill: what was charged is answered by whoever takes over
        assert heir.wait(60)
        assert heir.ask(ann, rows)["charged"] == 0.0
        return
    deadline = time.monotonic() + 60
    while str(tmp_path / "high-water" / "risk.told") not in caplog.text:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    with pytest.raises(Problem, match="not be loaded yet"):
        heir.coordinator.hosted("risk")
    assert heir.spent == 2 * STEP


def test_a_running_service_notices_that_its_last_answers_are_lost(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server takes over that has the charge, and not yet what was stored after the draw."""
    house: House = new_house()
    ann, rows = house.user("ann"), contested_rows(2)
    database, draw, before = house.coordinator.database, Responder.draw, dict[str, Any]()

    def copied(self: Responder, plan: Any) -> Any:
        with database.reading() as connection:
            before.update(*connection.rows("service_progress", model="risk"))
        return draw(self, plan)

    with monkeypatch.context() as patch:
        patch.setattr(Responder, "draw", copied)
        house.ask(ann, rows[:1])
    with database.writing() as connection:
        connection.update("service_progress", before, model="risk")
        for table in ("answers", "paid"):
            connection.delete(f"service_{table}", model="risk")
    for question in (rows[:1], rows[1:], rows[:1]):
        with pytest.raises(LedgerError, match=r"lacks|older copy"):
            house.ask(ann, question)
    assert house.spent == STEP
