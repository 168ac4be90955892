"""One account for all threads, processes and workers: exactly what fits is charged."""

from __future__ import annotations

import _thread
import multiprocessing
import os
import signal
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Barrier
from threading import Event as Flag
from typing import Any

import pytest
from joblib import Parallel, delayed

from pacsklearn.exceptions import BudgetExhaustedError, LedgerError
from pacsklearn.kernel.ledger import log, writer
from pacsklearn.kernel.ledger.event import Event, LatticeNoise
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.verification import verify_ledger

MakeEvent = Callable[..., Event]
FORK = multiprocessing.get_context("fork")


def event_of(charge: float, key: str) -> Event:
    return LatticeNoise("responses", charge, "nats", "logdet", charge, 8, 5, 4, key=key)


def spend(ledger: Ledger, worker: int, times: int, charge: float = 1 / 64) -> list[str]:
    """Charge as often as allowed; half of the keys are tried by two workers."""
    charged = []
    for i in range(times):
        key = f"shared {worker // 2} {i}" if i % 2 else f"own {worker} {i}"
        try:
            if ledger.charge(event_of(charge, key)):
                charged.append(key)
        except BudgetExhaustedError:
            pass
    return charged


def check(ledger: SharedLedger, charged: list[str], allowed: int) -> None:
    assert len(charged) == len(set(charged)) == allowed
    assert sorted(charged) == sorted(event.key for event in ledger.events)
    assert ledger.spent == ledger.ceiling
    assert verify_ledger(ledger).sequence == allowed


def test_eight_threads(uri: str) -> None:
    ledger = SharedLedger.found(uri, ceiling=50 / 64)
    barrier = Barrier(8)

    def work(worker: int) -> list[str]:
        barrier.wait()
        return spend(ledger, worker, 20)

    with ThreadPoolExecutor(8) as pool:
        charged = [key for keys in pool.map(work, range(8)) for key in keys]
    check(ledger, charged, 50)


def test_four_processes(uri: str) -> None:
    ledger = SharedLedger.found(uri, ceiling=50 / 64)
    with FORK.Pool(4) as pool:
        charged = pool.starmap(spend, [(ledger, worker, 30) for worker in range(4)], chunksize=1)
        pool.close()
        pool.join()
    check(ledger, [key for keys in charged for key in keys], 50)


def test_workers_of_joblib(uri: str) -> None:
    ledger = SharedLedger.found(uri, ceiling=3.0)
    charged = Parallel(n_jobs=2, backend="loky")(
        delayed(spend)(ledger, 2 * worker, 1, 1.0) for worker in range(5)
    )
    assert sum(map(len, charged)) == 3
    check(ledger, [key for keys in charged for key in keys], 3)


def test_a_reservation_is_shared_by_workers(uri: str) -> None:
    ledger = SharedLedger.found(uri, ceiling=1.0)
    reservation = ledger.reserve(20 / 64)
    with FORK.Pool(4) as pool:
        charged = pool.starmap(spend, [(reservation, worker, 12) for worker in range(4)])
        pool.close()
        pool.join()
    assert sum(map(len, charged)) == 20
    assert reservation.spent == reservation.ceiling == ledger.spent == 20 / 64
    verify_ledger(ledger)


def charge_until(ledger: Ledger, flag: Any) -> None:
    for i in range(100_000):
        if flag.is_set():
            return
        ledger.charge(event_of(2.0**-30, f"{os.getpid()} {i}"))


def test_whoever_opens_a_ledger_that_others_charge_finds_nothing_missing(
    uri: str, tmp_path: Path
) -> None:
    # A row is stated in the high-water file a moment before it can be read.
    ledger = SharedLedger.found(uri, ceiling=1.0, high_water=str(tmp_path / "mark"))
    flag = FORK.Event()
    writers = [FORK.Process(target=charge_until, args=(ledger, flag)) for _ in range(2)]
    for each in writers:
        each.start()
    try:
        positions = [verify_ledger(ledger).sequence for _ in range(40)]
    finally:
        flag.set()
        for each in writers:
            each.join()
    assert positions == sorted(positions)
    assert 0 < positions[-1] <= verify_ledger(ledger).sequence == len(list(ledger.events))


def founded(uri: str, dataset: str) -> str:
    try:
        return SharedLedger.found(uri, 1.0, dataset=dataset).dataset
    except LedgerError:
        return ""


def test_of_many_processes_one_founds_a_ledger(uri: str) -> None:
    with FORK.Pool(4) as pool:
        names = pool.starmap(founded, [(uri, f"d{i % 4}") for i in range(12)], chunksize=1)
        pool.close()
        pool.join()
    assert sorted(filter(None, names)) == ["d0", "d1", "d2", "d3"]
    for i in range(4):
        verify_ledger(SharedLedger(uri, 1.0, dataset=f"d{i}"))


def test_a_fork_while_threads_are_charging(uri: str) -> None:
    ledger = SharedLedger.found(uri, ceiling=1.0)
    spend(ledger, 100, 1)
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(spend, ledger, 2 * worker, 15) for worker in range(2)]
        children = []
        for worker in range(3):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    status = 0 if len(spend(ledger, 10 + 2 * worker, 5)) == 5 else 2
                finally:
                    os._exit(status)
            children.append(child)
        assert all(len(future.result()) == 15 for future in running)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 3
    assert verify_ledger(ledger).sequence == 1 + 30 + 15
    assert ledger.spent == 46 / 64


def test_a_fork_that_python_did_not_see(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = SharedLedger.found(uri, ceiling=1.0)
    spend(ledger, 0, 1)
    (before,) = [each for path, each in writer._WRITERS.items() if path in ledger.uri]
    monkeypatch.setattr(before, "pid", os.getpid() + 1)
    spend(ledger, 2, 1)
    assert before in writer._ABANDONED
    writer._ABANDONED.remove(before)
    before.close()
    assert verify_ledger(ledger).sequence == 2


def test_a_database_that_stays_busy(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = SharedLedger.found(uri, ceiling=1.0)
    monkeypatch.setattr(log, "PATIENCE", 0.2)
    with closing(
        sqlite3.connect(ledger.uri.removeprefix("sqlite:///"), isolation_level=None)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="database"):
            spend(ledger, 0, 1)
        assert ledger.spent == 0  # readers do not wait for writers
        other.execute("ROLLBACK")
    assert spend(ledger, 0, 1) == ["own 0 0"]


def test_an_interrupt_ends_the_wait_and_not_the_transaction(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = SharedLedger.found(uri, ceiling=1.0)
    append, go_on, main = SQLiteLog.append, Flag(), threading.get_ident()

    def slowly(self: SQLiteLog, *arguments: Any) -> None:
        append(self, *arguments)
        if not go_on.is_set():
            signal.pthread_kill(main, signal.SIGINT)  # Ctrl-C in the main thread, while it waits
        go_on.wait(60)

    monkeypatch.setattr(SQLiteLog, "append", slowly)
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            ledger.charge(event_of(1 / 64, "interrupted"))
    finally:
        signal.signal(signal.SIGINT, earlier)
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(spend, ledger, 2 * i, 3) for i in range(4)]
        go_on.set()
        assert ledger.find("interrupted") is not None  # whatever is asked next comes after it
        assert sum(len(other.result()) for other in others) == 12
    assert verify_ledger(ledger).sequence == 13


def test_a_database_waits_for_no_other(uri: str, tmp_path: Path) -> None:
    busy = SharedLedger.found(uri, ceiling=1.0)
    free = SharedLedger.found(f"sqlite:///{tmp_path}/other.db", ceiling=1.0)
    with (
        ThreadPoolExecutor(1) as pool,
        closing(sqlite3.connect(uri.removeprefix("sqlite:///"), isolation_level=None)) as raw,
    ):
        raw.execute("BEGIN IMMEDIATE")
        waiting = pool.submit(spend, busy, 0, 1)
        assert spend(free, 0, 1) == ["own 0 0"]
        assert not waiting.done()
        raw.execute("ROLLBACK")
        assert waiting.result() == ["own 0 0"]


def test_idle_databases_are_closed(tmp_path: Path) -> None:
    ledgers = [SharedLedger.found(f"sqlite:///{tmp_path}/{i}.db", 1.0) for i in range(20)]
    for turn in range(2):
        assert all(spend(ledger, 0, 1, charge=1 / 64) for ledger in ledgers) == (turn == 0)
    files = {each.resolve() for each in Path("/proc/self/fd").iterdir()}
    n_open = sum(each.suffix == ".db" and each.parent == tmp_path for each in files)
    assert 0 < n_open <= writer.MOST_OPEN + 1
    assert all(verify_ledger(ledger).sequence == 1 for ledger in ledgers)


def test_charges_when_no_thread_can_be_started(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    ledger = SharedLedger.found(uri, ceiling=1.0)
    assert spend(ledger, 0, 3) == ["own 0 0", "shared 0 1", "own 0 2"]
    assert verify_ledger(ledger).sequence == 3


def test_a_question_inside_a_transaction_is_refused(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a finalizer, say: it would wait for itself."""
    ledger, connect, asked = SharedLedger.found(uri, ceiling=1.0), sqlite3.connect, Flag()

    class Asking(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> Any:
            if statement == "COMMIT" and not asked.is_set():
                asked.set()
                assert ledger.spent
            return super().execute(statement, *values)

    close_ledgers()
    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=Asking))
    with pytest.raises(RuntimeError, match="transaction"):
        ledger.charge(event_of(1 / 64, "k"))
    assert asked.is_set()
    assert ledger.spent == 0


def test_a_transaction_that_loses_its_connection_is_begun_anew(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another connection the rest of it would be written row by row."""
    ledger, connect, begun = SharedLedger.found(uri, ceiling=1.0), sqlite3.connect, []

    class Losing(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> Any:
            if statement.startswith("SELECT") and self.in_transaction and len(begun) == 1:
                begun.append("lost")
                raise sqlite3.OperationalError("lost")
            begun.extend(["begun"] * (statement == "BEGIN IMMEDIATE"))
            return super().execute(statement, *values)

    close_ledgers()
    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=Losing))
    monkeypatch.setattr(SQLiteLog, "_named", lambda _, error: log.UnreachableError(str(error)))
    assert ledger.charge(event_of(1 / 64, "k"))
    assert begun == ["begun", "lost", "begun"]
    assert verify_ledger(ledger).sequence == 1


def test_an_interrupted_thread_start_loses_nothing(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, interrupts = _thread.start_new_thread, iter([KeyboardInterrupt])

    def interrupted_start(*arguments: Any) -> None:
        for error in interrupts:
            raise error
        start(*arguments)

    ledger = SharedLedger.found(uri, ceiling=1.0)
    for number in range(writer.MOST_OPEN + 1):  # its thread is given up for these
        SharedLedger.found(f"sqlite:///{tmp_path}/{number}.db", 1.0)
    monkeypatch.setattr(_thread, "start_new_thread", interrupted_start)
    with pytest.raises(KeyboardInterrupt):
        ledger.charge(event_of(1 / 64, "interrupted"))
    assert ledger.find("interrupted") is not None
    assert ledger.spent == 1 / 64
