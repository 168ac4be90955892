"""SQLite files: write-ahead log, full synchronisation, and never another file by mistake."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import Any, Final, final

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from pacsklearn.accounting.database import Database, waits
from pacsklearn.exceptions import LedgerError

SQLITE: Final = "sqlite:///"
"""What the address of a database in a file begins with."""

# SQLite waits longer and longer, and whoever waits longest loses; short waits of our own are fair.
_BUSY_SECONDS: Final = 0.02
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NO_WRITING: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


@final
class SQLiteDatabase(Database):
    """One open file.

    Parameters
    ----------
    address : str
        ``"sqlite:///"`` and an absolute path.
    """

    errors = sqlite3.Error

    def __init__(self, address: str) -> None:
        self._path = address.removeprefix(SQLITE)
        self._file = (0, 0)
        super().__init__(
            create_engine(
                "sqlite://", creator=self._connect, poolclass=StaticPool, hide_parameters=True
            )
        )

    def is_gone(self, error: Exception) -> bool:
        return False

    def begin(self, *, write: bool, lazily: bool) -> Connection:
        # There is nothing to save: every statement is a call.
        for _ in waits():
            try:
                return self._begin_once(write=write)
            except (DBAPIError, sqlite3.Error) as error:
                if not _is(error, _BUSY):
                    raise
                busy = error
        raise busy

    def _begin_once(self, *, write: bool) -> Connection:
        connection = self._connected()
        driver: Any = connection.connection.driver_connection
        try:
            driver.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            if not write:  # SQLite takes the snapshot with the first row read: it may be busy then
                driver.execute("SELECT 1 FROM sqlite_master LIMIT 1")
            if _file_identity(self._path) != self._file:
                raise LedgerError(
                    f"The ledger at {self._path} was replaced while it was in use; check its "
                    "position against what was released, then start again."
                )
        except BaseException:
            self.roll_back(connection)
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        before = _file_identity(self._path)
        raw = connect_to_read(self._path)
        try:
            self._file = _file_identity(self._path)
            if self._file != before:
                raise LedgerError(f"The ledger at {self._path} was replaced; start again.")
        except BaseException:
            raw.close()
            raise
        return raw


def connect(path: str, mode: str) -> sqlite3.Connection:
    """Connection to a file that exists: one that has vanished must not come back empty."""
    raw = sqlite3.connect(
        f"{Path(path).as_uri()}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if mode.startswith("rw"):
            (log,) = raw.execute("PRAGMA journal_mode = WAL").fetchone()
            raw.execute("PRAGMA synchronous = FULL")
            if log != "wal":
                raise LedgerError(
                    f"The file system of {path} does not allow write-ahead logging; put "
                    "the ledger on a local disk."
                )
        raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except BaseException:
        raw.close()
        raise
    return raw


def connect_to_read(path: str) -> sqlite3.Connection:
    """Connection to a file that may perhaps not be written: that is enough to verify it."""
    try:
        return connect(path, "rw")
    except sqlite3.Error as error:
        if not _is(error, _NO_WRITING):
            raise
    try:
        return connect(path, "ro")
    except sqlite3.Error as error:
        log = Path(path + "-wal")
        if not _is(error, _NO_WRITING) or (log.exists() and log.stat().st_size):
            raise
        # Nobody can write the file, and nothing waits in a log: it may be read as it is.
        return connect(path, "ro&immutable=1")


def _is(error: Exception, codes: tuple[int, ...]) -> bool:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF in codes


def _file_identity(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116 - on the way of every charge
    except OSError:
        raise LedgerError(
            f"There is no ledger at {path}. Name one that was moved by its new place, or found a "
            f"new one: `pacsklearn ledger found {path} --ceiling ...`."
        ) from None
    if stat.S_ISDIR(status.st_mode):
        raise LedgerError(f"{path} is a folder; name the ledger's file.")
    if status.st_size == 0:
        raise LedgerError(f"The file {path} is empty: there is no ledger in it.")
    return status.st_dev, status.st_ino
