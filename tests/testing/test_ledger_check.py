"""The contract of a ledger: what keeps it passes, what reads and writes back does not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pacsklearn.kernel.ledger.accounts import Posting
from pacsklearn.kernel.ledger.book import Book
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryBook, MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing import check_ledger
from pacsklearn.upkeep.verification import verify_ledger


def test_memory() -> None:
    check_ledger(MemoryLedger)


def test_sqlite(tmp_path: Path) -> None:
    names = iter(range(100))

    def found(ceiling: float, **terms: float) -> Ledger:
        return SharedLedger.found(f"sqlite:///{tmp_path}/{next(names)}.db", ceiling, **terms)

    check_ledger(found, requests=16)
    for each in range(next(names)):
        verify_ledger(SharedLedger(f"sqlite:///{tmp_path}/{each}.db"))


class ReadsComparesAndWritesBack(MemoryBook):
    """Book without a lock around the question and the answer."""

    def write(self, change: Callable[[Book], Any]) -> Any:
        return change(self)

    def charge(self, posting: Posting) -> bool:
        total = self.accounts.total(posting.account)
        self.accounts.check(posting)
        time.sleep(0.01)
        self.append(posting)
        return total >= 0


class ForgetsKeys(MemoryBook):
    def find(self, key: str) -> Posting | None:
        return None


def broken(store: type[MemoryBook], ceiling: float, **terms: float) -> Ledger:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pacsklearn.kernel.ledger.ledger.MemoryBook", store)
        return MemoryLedger(ceiling, **terms)  # type: ignore[arg-type]


def test_a_store_that_reads_and_writes_back_grants_too_many() -> None:
    with pytest.raises(AssertionError, match=r"Rule broken: (once|concurrency)"):
        check_ledger(lambda ceiling, **terms: broken(ReadsComparesAndWritesBack, ceiling, **terms))


def test_a_store_that_forgets_is_found() -> None:
    with pytest.raises(AssertionError, match="broken"):
        check_ledger(lambda ceiling, **terms: broken(ForgetsKeys, ceiling, **terms))
