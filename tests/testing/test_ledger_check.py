"""The contract of a ledger: what keeps it passes, what reads and writes back does not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pacsklearn.kernel.ledger.accounts import Posting
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger, _MemoryStore
from pacsklearn.kernel.ledger.ledger_interface import OpenBook
from pacsklearn.kernel.ledger.sqlite_ledger import SQLiteLedger
from pacsklearn.testing import check_ledger
from pacsklearn.testing.ledger_check import _check_concurrency, _event


def test_memory() -> None:
    check_ledger(MemoryLedger)


def test_sqlite(tmp_path: Path) -> None:
    names = iter(range(100))

    def found(ceiling: float, **terms: float) -> Ledger:
        return SQLiteLedger.found(f"sqlite:///{tmp_path}/{next(names)}.db", ceiling, **terms)

    check_ledger(found, requests=16)
    for each in range(next(names)):
        SQLiteLedger(f"sqlite:///{tmp_path}/{each}.db").verify()


class ReadsComparesAndWritesBack(_MemoryStore):  # type: ignore[misc] # final, for good reasons
    """Store without a lock around the question and the answer."""

    def charge(self, posting: Posting) -> bool:
        total = self._book.accounts.total(posting.account)
        self._book.accounts.check(posting)
        time.sleep(0.01)
        self._book.append(posting)
        return total >= 0


class ForgetsKeys(_MemoryStore):  # type: ignore[misc]
    def write(self, change: Callable[[OpenBook], Any]) -> Any:
        self._book._by_key = {}
        return super().write(change)


def broken(store: type[_MemoryStore], ceiling: float, **terms: float) -> Ledger:
    ledger = MemoryLedger(ceiling, **terms)  # type: ignore[arg-type]
    ledger._store = store(ledger._store.terms)
    return ledger


def test_a_store_that_reads_and_writes_back_grants_too_many() -> None:
    ledger = broken(ReadsComparesAndWritesBack, 1.0)
    with pytest.raises(AssertionError, match="concurrency"):
        _check_concurrency(ledger, 4, 2)
    assert len(ledger.events) >= 2  # for a ceiling of 1
    with pytest.raises(AssertionError, match=r"Rule broken: (once|concurrency)"):
        check_ledger(lambda ceiling, **terms: broken(ReadsComparesAndWritesBack, ceiling, **terms))


def test_a_store_that_forgets_is_found() -> None:
    with pytest.raises(AssertionError, match="Rule broken"):
        check_ledger(lambda ceiling, **terms: broken(ForgetsKeys, ceiling, **terms))


def test_events_of_the_check_are_events() -> None:
    assert _event(0.5, key="x").charge == 0.5
