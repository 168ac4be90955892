"""Answers a second with the ledger in SQLite, beside the ledger in memory.

100,000 private labels (m = 128, 10 classes, 10 % of the rows contested) in batches. Each batch
takes exact noise from the background pool, runs the compiled label engine, and charges one event;
with SQLite the charge is on disk (synchronous = FULL) before the answers leave. Labels are given:
with real models a batch costs more, and the ledger weighs less. Afterwards a replay of all charges
must change nothing, and the chain of hashes must verify.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from report import Figures, print_table

from pacsklearn.accounting.sqlite_ledger import SQLiteLedger
from pacsklearn.core.event import Event, Provenance
from pacsklearn.core.ledger import Ledger, MemoryLedger
from pacsklearn.information.belief import uniform_belief
from pacsklearn.noise.noise_pool import NoisePool
from pacsklearn.noise.sampler import SecureSampler
from pacsklearn.responses.label_engine import answer_labels

N, M, CLASSES, CONTESTED = 100_000, 128, 10, 0.1
STEP_BUDGET = 2.0**-20
BATCHES = (500, 1000, 5000)
PROMISED = 1000
ROUNDS = 3
PLUGINS = (Provenance("labels", "pacsklearn.session:label_engine", "pacsklearn", "0.1"),)


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
        told = answer_labels(part, 3, belief, STEP_BUDGET, pool.take(2 * contested))
        charge = float(told.charges.sum())
        event = Event(
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

        def on_disk() -> SQLiteLedger:
            return SQLiteLedger.found(f"sqlite:///{folder}/{next(count)}.db", ceiling=1.0)

        for batch in BATCHES:
            memory, _, account, _ = measure(codes, lambda: MemoryLedger(1.0), batch)
            disk, in_ledger, ledger, events = measure(codes, on_disk, batch)
            assert isinstance(ledger, SQLiteLedger)
            position = ledger.verify()
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
                figures.add("replay changes nothing", "always", str(idempotent), idempotent)
        floor = synchronisation(folder)
    print_table(
        f"{N:,} private labels, one durable charge a batch (a bare fsync here: {floor:.2f} ms)",
        ("", "memory, answers/s", "SQLite, answers/s", "ratio", "a charge", "replay is free"),
        rows,
    )
    figures.show()


if __name__ == "__main__":
    main()
