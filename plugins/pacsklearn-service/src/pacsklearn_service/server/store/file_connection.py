"""Transactions in an SQLite file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from typing import Any, final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.log import waits
from pacsklearn.kernel.ledger.sqlite_file import SQLITE, connect, file_identity
from pacsklearn_service.server.store.connection import Connection


@final
class FileConnection(Connection):
    """Connection to the file that an address names."""

    locked = ""  # a transaction that writes has locked the whole file
    errors = sqlite3.Error
    mark = "?"
    # Locked from the beginning: what is read before writing must still hold when it is written.
    begin = ("BEGIN", "BEGIN IMMEDIATE")
    claim = ()

    def __init__(self, address: str, patience: float) -> None:
        super().__init__(address, patience)
        try:
            self._raw = connect(address.removeprefix(SQLITE), "rw")
            self._raw.row_factory = _as_dict
        except sqlite3.Error as error:
            raise self._error(self._reason(error)) from None

    def now(self) -> float:
        return time.time()

    def place(self) -> str:
        return "{} {}".format(*file_identity(self.address.removeprefix(SQLITE)))

    def end_frozen(self, seconds: float) -> None:
        return None  # the file's locks end with the process that has them

    def _begin(self, statement: str) -> None:
        self._run(statement)

    def _commit(self) -> None:
        self._run("COMMIT")

    def _run(self, statement: str, values: Sequence[Any] = (), *, many: bool = False) -> Any:
        # Asked as often as a ledger's writer asks: SQLite's own waits grow to a tenth of a second,
        # and beside somebody who writes without a pause no lease would be kept.
        for _ in waits(self._patience):
            try:
                return super()._run(statement, values, many=many)
            except LedgerError as error:
                code = getattr(error.__context__, "sqlite_errorcode", 0)
                if code & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                busy = error
        raise busy

    def _reason(self, error: Any) -> str:
        return str(error)


def _as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}
