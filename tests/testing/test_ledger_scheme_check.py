"""The contract of a ledger scheme: a file keeps it, and each planted fault is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
from pacsklearn.testing import check_ledger_scheme


@pytest.fixture
def make_address(tmp_path: Path) -> Callable[[], str]:
    numbers = iter(range(100))
    return lambda: f"sqlite:///{tmp_path}/{next(numbers)}.db"


def test_files(make_address: Callable[[], str]) -> None:
    check_ledger_scheme(SQLiteLog, make_address)


class PrintsPasswords(SQLiteLog):
    @staticmethod
    def own_address(uri: str) -> str:
        if not str(uri).startswith("sqlite:"):
            from pacsklearn.exceptions import LedgerError

            raise LedgerError(f"{uri} is no address.")
        return SQLiteLog.own_address(uri)


class ComparesNothing(SQLiteLog):
    def append(self, dataset: str, expected: Any, rows: Any, before_commit: Any = None) -> None:
        head = self.head(dataset)
        super().append(dataset, head and head.position, rows, before_commit)


class KeepsNoAnswers(SQLiteLog):
    def append(self, dataset: str, expected: Any, rows: Any, before_commit: Any = None) -> None:
        kept = [row._replace(answers=()) for row in rows]
        super().append(dataset, expected, kept, before_commit)


class ReadsBackwards(SQLiteLog):
    def table(self, dataset: str) -> Iterator[Any]:
        return reversed([*super().table(dataset)])


class ForgottenError(Exception):
    """Rolls a transaction back."""


class ForgetsToCommit(SQLiteLog):
    def append(self, dataset: str, expected: Any, rows: Any, before_commit: Any = None) -> None:
        def forget() -> None:
            if before_commit is not None:
                before_commit()
            if self.head("ward") or self.ask("SELECT count(*) FROM log")[0][0] >= 7:
                raise ForgottenError

        with suppress(ForgottenError):
            super().append(dataset, expected, rows, forget)


class CommitsBefore(SQLiteLog):
    def append(self, dataset: str, expected: Any, rows: Any, before_commit: Any = None) -> None:
        super().append(dataset, expected, rows)
        if before_commit is not None:
            before_commit()


class MayBeRewritten(SQLiteLog):
    def create(self, write: Callable[[Any], Any]) -> Any:
        def unguarded(log: Any) -> Any:
            written = write(log)
            log.ask("DROP TRIGGER IF EXISTS log_no_update")
            return written

        return super().create(unguarded)


class LooksAtNoTrigger(SQLiteLog):
    def check(self) -> None:
        self.check_version()


class SeesTheNewest(SQLiteLog):
    def snapshot(self) -> Any:
        return nullcontext()

    def table(self, dataset: str) -> Iterator[Any]:
        with super().snapshot():
            yield from super().table(dataset)


class HasALocalClock(SQLiteLog):
    def time(self) -> str:
        return "23.11.2026 08:45"


class IsNotRegistered(SQLiteLog):
    pass


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        (PrintsPasswords, "address"),
        (ComparesNothing, "append"),
        (KeepsNoAnswers, "content"),
        (ReadsBackwards, "content"),
        (ForgetsToCommit, "durable"),
        (CommitsBefore, "durable"),
        (MayBeRewritten, "append-only"),
        (LooksAtNoTrigger, "append-only"),
        (SeesTheNewest, "snapshot"),
        (HasALocalClock, "clock"),
        (IsNotRegistered, "registered"),
    ],
)
def test_a_planted_fault_is_named(
    make_address: Callable[[], str], fault: type[SQLiteLog], rule: str
) -> None:
    with pytest.raises(AssertionError, match=f"Rule broken: {rule}"):
        check_ledger_scheme(fault, make_address)
