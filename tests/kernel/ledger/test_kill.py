"""Kill -9 at random moments: no answer without its charge, no charge lost."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pacsklearn.kernel.ledger.event import Event, LatticeNoise
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
from pacsklearn.upkeep.verification import verify_ledger

FORK = multiprocessing.get_context("fork")
KILLS = 40
ANSWERS = 5


def event_of(key: str) -> Event:
    return LatticeNoise("responses", 2.0**-20, "nats", "logdet", 2.0**-20, 8, ANSWERS, 4, key=key)


def answer_batches(ledger: Ledger, answers: Path, run: str, start: int) -> None:
    """Charge a batch, then write its answers one by one, for ever."""
    with answers.open("ab", buffering=0) as file:
        for batch in count(start):
            if ledger.charge(event_of(f"{run}/{batch}")):
                for answer in range(ANSWERS):
                    file.write(f"{run}/{batch} {answer}\n".encode())


def answered_batches(answers: Path) -> list[str]:
    text = answers.read_bytes() if answers.exists() else b""
    return [line.split(b" ")[0].decode() for line in text.splitlines()]


def kill_again_and_again(ledger: Ledger, folder: Path, kills: int) -> tuple[int, int]:
    """Two processes at a time, each killed at a random moment of its work."""
    generator = random.Random(7)
    files = [folder / "first", folder / "second"]
    starts = [0, 0]
    charged: list[str] = []
    lost = 0
    for _ in range(kills // 2):
        sizes = [len(answered_batches(file)) for file in files]
        children = [
            FORK.Process(target=answer_batches, args=(ledger, file, file.name, start))
            for file, start in zip(files, starts, strict=True)
        ]
        for child in children:
            child.start()
        deadline = time.monotonic() + 60
        while any(
            len(answered_batches(file)) <= size for file, size in zip(files, sizes, strict=True)
        ):
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(generator.uniform(0, 0.03))
        for child in children:
            assert child.pid is not None
            os.kill(child.pid, signal.SIGKILL)
            child.join()
            assert child.exitcode == -signal.SIGKILL

        before = charged
        charged = [event.key for event in ledger.events]
        assert charged[: len(before)] == before, "a charge was lost"
        assert len(charged) == len(set(charged))
        assert ledger.spent == len(charged) * 2.0**-20
        answered = [key for file in files for key in answered_batches(file)]
        assert set(answered) <= set(charged), "an answer left without its charge"
        lost = len(set(charged) - set(answered))
        # The two newest batches are tried again: charged ones are not charged twice.
        starts = [max(0, sum(key.startswith(file.name) for key in charged) - 2) for file in files]
    return len(charged), lost


def test_no_answer_without_its_charge(ledger: SharedLedger, tmp_path: Path) -> None:
    charged, lost = kill_again_and_again(ledger, tmp_path, KILLS)
    assert charged >= KILLS
    assert lost <= KILLS  # at most the batch under way, for each kill
    assert verify_ledger(ledger).sequence == charged


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_five_hundred_kills(ledger: SharedLedger, tmp_path: Path) -> None:
    kills = 60 if os.environ.get("PACSKLEARN_SOAK") == "sample" else 500
    charged, lost = kill_again_and_again(ledger, tmp_path, kills)
    assert charged >= kills
    assert lost <= kills
    assert verify_ledger(ledger).sequence == charged


def test_the_same_inside_a_reservation(ledger: SharedLedger, tmp_path: Path) -> None:
    reservation = ledger.reserve(0.5)
    charged, _ = kill_again_and_again(reservation, tmp_path, 10)
    assert verify_ledger(ledger).sequence == charged + 1
    assert ledger.spent == 0.5
    assert reservation.release_unspent() == 0.5 - charged * 2.0**-20
    assert ledger.spent == charged * 2.0**-20
    verify_ledger(ledger)


def test_a_crash_between_charge_and_answer_loses_the_answer(ledger: SharedLedger) -> None:
    child = os.fork()
    if child == 0:
        ledger.charge(event_of("lost"))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert [event.key for event in ledger.events] == ["lost"]
    assert not ledger.charge(event_of("lost"))
    assert ledger.spent == 2.0**-20


def test_a_crash_inside_the_transaction_charges_nothing(
    ledger: SharedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = SQLiteLog.append

    def half(self: SQLiteLog, dataset: str, expected: Any, rows: Any, _: Any = None) -> None:
        append(self, dataset, expected, rows, lambda: os.kill(os.getpid(), signal.SIGKILL))

    child = os.fork()
    if child == 0:
        monkeypatch.setattr(SQLiteLog, "append", half)
        ledger.charge(event_of("half"))
    os.waitpid(child, 0)
    assert ledger.events == ()
    assert ledger.charge(event_of("half"))
    verify_ledger(ledger)
