"""Transactions in an SQLite file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.sqlite_file import SQLITE, connect
from pacsklearn_service.server.store.connection import Connection


@final
class FileConnection(Connection):
    """Connection to the file that an address names."""

    locked = ""  # a transaction that writes has locked the whole file

    def __init__(self, address: str, patience: float) -> None:
        super().__init__(address, patience)
        with self._errors():
            self._raw = connect(address.removeprefix(SQLITE), "rw")
            self._raw.execute(f"PRAGMA busy_timeout = {1000 * patience:.0f}")
            self._raw.row_factory = _as_dict

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[None]:
        # Locked from the beginning: what is read before writing must still hold when it is written.
        self._run("BEGIN IMMEDIATE" if write else "BEGIN", ())
        try:
            yield
            self._run("COMMIT", ())
        except BaseException:
            with suppress(sqlite3.Error):  # the first error says what is wrong
                self._raw.execute("ROLLBACK")
            raise

    def claim_tables(self) -> None:
        return None  # the transaction has locked the file

    def now(self) -> float:
        return time.time()

    def close(self) -> None:
        self._raw.close()

    def _run(self, statement: str, values: tuple[Any, ...]) -> Any:
        with self._errors():
            return self._raw.execute(statement, values)

    def _run_all(self, statement: str, lines: Sequence[tuple[Any, ...]]) -> None:
        with self._errors():
            self._raw.executemany(statement, lines)

    def end_frozen(self, seconds: float) -> None:
        return None  # the file's locks end with the process that has them

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise LedgerError(f"The database {self.address} cannot be used: {error}.") from None


def _as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}
