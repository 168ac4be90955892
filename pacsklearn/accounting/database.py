"""The door to the databases: one connection a database and process, durable transactions."""

from __future__ import annotations

import atexit
import os
import secrets
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from sqlalchemy import Connection
from sqlalchemy.engine import RootTransaction
from sqlalchemy.exc import DBAPIError

from pacsklearn.accounting.entry import without_password
from pacsklearn.exceptions import LedgerError

__all__ = [
    "LOCK",
    "PATIENCE",
    "Database",
    "UnreachableError",
    "close",
    "transaction",
    "waits",
]

PATIENCE = 120.0
"""Seconds to wait for other processes, or for a server, before giving up."""

_MOST_OPEN = 8

# One lock for everything: a fork may happen only while no transaction is under way.
LOCK = threading.RLock()
_OPEN: dict[str, Database] = {}
# After a fork that Python did not see: even closing the parent's connection would break its locks.
_ABANDONED: list[Database] = []


class Database(ABC):
    """One open database; used under the lock only."""

    errors: type[Exception]
    """What the driver raises."""

    def __init__(self, address: str) -> None:
        self.pid = os.getpid()
        self.address = address

    @abstractmethod
    def begin(self, *, write: bool) -> tuple[Connection, RootTransaction]:
        """Connection inside a transaction that other processes cannot get between."""

    @abstractmethod
    def close(self) -> None:
        """Give the connection back."""

    @abstractmethod
    def is_gone(self, error: Exception) -> bool:
        """Whether the error says that the server was lost, and with it the end of a transaction."""


@final
class UnreachableError(LedgerError):
    """The database was lost during a transaction: it may have been committed, or not."""


@contextmanager
def transaction(address: str, *, write: bool) -> Iterator[Connection]:
    """Connection inside a transaction, which is on disk when the block has ended.

    Parameters
    ----------
    address : str
        URL of an existing database.
    write : bool
        What is read in the block still holds when it writes: SQLite's only write lock is taken at
        once; a PostgreSQL ledger's row is locked by the book that is opened.

    Raises
    ------
    LedgerError
        When the database cannot be reached, or was replaced while it was in use. Nothing was
        written then, as far as this process can tell.
    """
    with LOCK:
        database = _database(address)
        try:
            connection, current = database.begin(write=write)
            with connection, current:
                yield connection
        except (DBAPIError, database.errors, OSError) as error:
            close(address)
            cause = error.orig if isinstance(error, DBAPIError) else error
            name, reason = without_password(address), str(cause).strip()
            words = f"The ledger at {name} cannot be used: {reason}."
            if database.is_gone(error):
                raise UnreachableError(words) from None
            raise LedgerError(words) from None


def waits() -> Iterator[None]:
    """Yield again and again, after short waits, until patience is at its end."""
    deadline = time.monotonic() + PATIENCE
    while True:
        yield
        if time.monotonic() > deadline:
            return
        time.sleep(0.001 * (1 + secrets.randbelow(10)))


def _database(address: str) -> Database:
    if address in _OPEN and _OPEN[address].pid != os.getpid():
        close(address)
    database = _OPEN.pop(address, None) or _opened(address)
    _OPEN[address] = database
    if len(_OPEN) > _MOST_OPEN:
        close(next(iter(_OPEN)))
    return database


def _opened(address: str) -> Database:
    if address.startswith("sqlite:"):
        from pacsklearn.accounting.sqlite_database import SQLiteDatabase

        return SQLiteDatabase(address)
    from pacsklearn.accounting.postgres_database import PostgresDatabase

    return PostgresDatabase(address)


def close(address: str) -> None:
    """Give up this process's connection to a database; the next transaction opens another."""
    database = _OPEN.pop(address, None)
    if database is None:
        return
    if database.pid == os.getpid():
        database.close()
    else:
        _ABANDONED.append(database)


def _close_all() -> None:
    for address in list(_OPEN):
        close(address)


def _before_fork() -> None:
    # No connection may be carried across a fork, even to close it.
    LOCK.acquire()
    _close_all()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=LOCK.release, after_in_child=LOCK.release
    )
atexit.register(_close_all)
