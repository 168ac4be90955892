"""The door to the database files: one connection a file and process, durable transactions."""

from __future__ import annotations

import atexit
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import RootTransaction
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from pacsklearn.exceptions import LedgerError

__all__ = ["transaction"]

PATIENCE = 120.0
"""Seconds to wait for other processes before giving up."""

# SQLite waits longer and longer, and whoever waits longest loses; short waits of our own are fair.
_BUSY_SECONDS = 0.02
_MOST_OPEN = 8
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

# One lock for everything: a fork may happen only while no transaction is under way.
_LOCK = threading.RLock()
_OPEN: dict[str, _Database] = {}
# After a fork that Python did not see: even closing the parent's connection would break its locks.
_ABANDONED: list[_Database] = []


@contextmanager
def transaction(path: str, *, write: bool) -> Iterator[Connection]:
    """Connection inside a transaction, which is on disk when the block has ended.

    Parameters
    ----------
    path : str
        An existing file.
    write : bool
        Take the database's only write lock at once (``BEGIN IMMEDIATE``): what is read in the
        block still holds when it writes.

    Raises
    ------
    LedgerError
        When the database cannot be reached, or was replaced while it was in use. Nothing was
        written then, as far as this process can tell.
    """
    with _LOCK:
        try:
            database = _database(path)
            connection, current = database.begin(write=write)
            with connection, current:
                yield connection
        except (DBAPIError, sqlite3.Error) as error:
            _close(path)
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise LedgerError(f"The ledger at {path} cannot be used: {cause}.") from None


@final
class _Database:
    """One open file; used under the lock only."""

    def __init__(self, path: str) -> None:
        self.pid = os.getpid()
        self._path = path
        self._file = (0, 0)
        self._engine = create_engine(
            "sqlite://", creator=self._connect, poolclass=StaticPool, hide_parameters=True
        )
        event.listen(self._engine, "begin", _begin)

    def begin(self, *, write: bool) -> tuple[Connection, RootTransaction]:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self._begin_once(write=write)
            except (DBAPIError, sqlite3.Error) as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.001 * (1 + secrets.randbelow(10)))

    def close(self) -> None:
        self._engine.dispose()

    def _begin_once(self, *, write: bool) -> tuple[Connection, RootTransaction]:
        connection = self._engine.connect().execution_options(pacsklearn_write=write)
        try:
            current = connection.begin()
            if _file_identity(self._path) != self._file:
                raise LedgerError(
                    f"The ledger at {self._path} was replaced while it was in use; check its "
                    "position against what was released, then start again."
                )
        except BaseException:
            connection.close()
            raise
        return connection, current

    def _connect(self) -> sqlite3.Connection:
        # mode=rw: a file that has vanished must not come back as an empty ledger.
        before = _file_identity(self._path)
        raw = sqlite3.connect(
            f"{Path(self._path).as_uri()}?mode=rw",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            (mode,) = raw.execute("PRAGMA journal_mode = WAL").fetchone()
            raw.execute("PRAGMA synchronous = FULL")
            if mode != "wal":
                raise LedgerError(
                    f"The file system of {self._path} does not allow write-ahead logging; put "
                    "the ledger on a local disk."
                )
            self._file = _file_identity(self._path)
            if self._file != before:
                raise LedgerError(f"The ledger at {self._path} was replaced; start again.")
        except BaseException:
            raw.close()
            raise
        return raw


def _begin(connection: Connection) -> None:
    write = connection.get_execution_options()["pacsklearn_write"]
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
    if not write:  # SQLite takes the snapshot with the first row read; until then it may be busy
        connection.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1")


def _is_busy(error: Exception) -> bool:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF in _BUSY


def _file_identity(path: str) -> tuple[int, int]:
    try:
        status = Path(path).stat()
    except OSError:
        raise LedgerError(f"There is no ledger at {path}.") from None
    return status.st_dev, status.st_ino


def _database(path: str) -> _Database:
    if path in _OPEN and _OPEN[path].pid != os.getpid():
        _close(path)
    database = _OPEN.pop(path, None) or _Database(path)
    _OPEN[path] = database
    if len(_OPEN) > _MOST_OPEN:
        _close(next(iter(_OPEN)))
    return database


def _close(path: str) -> None:
    database = _OPEN.pop(path, None)
    if database is None:
        return
    if database.pid == os.getpid():
        database.close()
    else:
        _ABANDONED.append(database)


def _close_all() -> None:
    for path in list(_OPEN):
        _close(path)


def _before_fork() -> None:
    # SQLite forbids carrying a connection across a fork, even to close it.
    _LOCK.acquire()
    _close_all()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
    )
atexit.register(_close_all)
