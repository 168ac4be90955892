"""The door to the databases: one connection and one thread each, durable transactions."""

from __future__ import annotations

import atexit
import os
import secrets
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, final

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from pacsklearn.accounting.entry import without_password
from pacsklearn.accounting.writer import Job, Writer
from pacsklearn.exceptions import LedgerError

PATIENCE = 120.0
"""Seconds to wait for other processes, or for a server, before giving up."""

_MOST_OPEN = 8
_LAST_WAIT = 5.0

T = TypeVar("T")

_OPEN: dict[str, Database] = {}
_WRITERS: dict[str, Writer] = {}
_MUTEX = threading.Lock()  # of the writers
_PAUSED: list[Any] = []  # locks that a fork holds
# After a fork that Python did not see: even closing the parent's connection would break its locks.
_ABANDONED: list[Database | Writer] = []


class Database(ABC):
    """One open database; used by its thread only.

    Parameters
    ----------
    engine : Engine
        Gives its one connection.
    """

    errors: type[Exception]
    """What the driver raises."""

    def __init__(self, engine: Engine) -> None:
        self.pid = os.getpid()
        self._engine = engine
        self._connection: Connection | None = None

    @abstractmethod
    def begin(self, *, write: bool, lazily: bool) -> Connection:
        """Connection inside a transaction that other processes cannot get between.

        A server may be told lazily, with the first statement: it is in ``info["begin"]`` then.
        """

    def commit(self, connection: Connection) -> None:
        """End the transaction; what was written is on disk then."""
        self._commit(connection.connection.driver_connection)
        if connection.in_transaction():  # SQLAlchemy's own, when it was asked for something
            connection.rollback()

    @staticmethod
    def _commit(driver: Any) -> None:
        driver.commit()

    def roll_back(self, connection: Connection) -> None:
        """Undo the transaction under way; a connection that cannot is closed at the next use."""
        with suppress(SQLAlchemyError, self.errors):  # the first error says what is wrong
            driver: Any = connection.connection.driver_connection
            driver.rollback()
            connection.rollback()

    def close(self) -> None:
        """Give the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None and not connection.invalidated:
            connection.invalidate()  # closes it at once, whatever it was doing
        self._engine.dispose()

    def _connected(self) -> Connection:
        self._connection = self._connection or self._engine.connect()
        return self._connection

    @abstractmethod
    def is_gone(self, error: Exception) -> bool:
        """Whether the error says that the server was lost, and with it the end of a transaction."""


@final
class UnreachableError(LedgerError):
    """The database was lost during a transaction: it may have been committed, or not."""


def run(address: str, work: Callable[[Connection], T], *, write: bool) -> T:
    """Do something inside a transaction, which is on disk when this returns.

    An interrupt ends the wait, never the transaction.

    Parameters
    ----------
    address : str
        URL of an existing database.
    work : callable
        Called with the connection, in the database's thread.
    write : bool
        What is read still holds when it writes: SQLite's only write lock is taken at once; a
        PostgreSQL ledger's row is locked by the book that is opened.

    Raises
    ------
    LedgerError
        When the database cannot be reached, or was replaced while it was in use. Nothing was
        written then, as far as this process can tell.
    """

    def inside() -> T:
        with transaction(address, write=write) as connection:
            return work(connection)

    result: T = perform(address, Job(inside))
    return result


def perform(address: str, job: Job) -> Any:
    """Have a job done by a database's thread, after all that came before it, and wait."""
    with _MUTEX:
        writer = _WRITERS.get(address)
        if writer is None or writer.pid != os.getpid():
            if writer is not None:
                _ABANDONED.append(writer)
            writer = _WRITERS[address] = Writer()
        if writer.is_here:
            raise RuntimeError("A ledger was asked from inside its own transaction.")
        writer.add(job)
        if len(_WRITERS) > _MOST_OPEN:
            _forget_one()
    return writer.wait(job)


@contextmanager
def transaction(address: str, *, write: bool, lazily: bool = False) -> Iterator[Connection]:
    """Transaction of the database's own thread; everybody else calls :func:`run`."""
    database = _database(address)
    try:
        connection = database.begin(write=write, lazily=lazily)
        try:
            yield connection
            database.commit(connection)
        except BaseException:
            database.roll_back(connection)
            raise
    except (DBAPIError, database.errors, OSError) as error:
        _close(address)
        cause = error.orig if isinstance(error, DBAPIError) else error
        name, reason = without_password(address), str(cause).strip()
        if reason == "disk I/O error":
            reason += " (is the disk full?)"
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


def close(address: str) -> None:
    """Give up this process's connection to a database; the next transaction opens another."""
    perform(address, Job(lambda: _close(address)))


def _database(address: str) -> Database:
    if address in _OPEN and _OPEN[address].pid != os.getpid():
        _close(address)
    if address not in _OPEN:
        _OPEN[address] = _opened(address)
    return _OPEN[address]


def _opened(address: str) -> Database:
    if address.startswith("sqlite:"):
        from pacsklearn.accounting.sqlite_database import SQLiteDatabase

        return SQLiteDatabase(address)
    from pacsklearn.accounting.postgres_database import PostgresDatabase

    return PostgresDatabase(address)


def _close(address: str) -> None:
    database = _OPEN.pop(address, None)
    if database is None:
        return
    if database.pid == os.getpid():
        database.close()
    else:
        _ABANDONED.append(database)


def _forget_one() -> None:
    """Close the database that was used longest ago, among those that nobody waits for."""
    idle = [address for address, writer in _WRITERS.items() if writer.is_idle]
    if idle:
        address = min(idle, key=lambda address: _WRITERS[address].used)
        _WRITERS.pop(address).stop()
        _close(address)


def _close_all() -> None:
    for address in list(_OPEN):
        _close(address)


def _at_exit() -> None:
    for address in list(_OPEN):
        writer = _WRITERS.get(address)
        if writer is None or writer.busy.acquire(timeout=_LAST_WAIT):
            _close(address)


def _before_fork() -> None:
    # No connection may be carried across a fork, even to close it, and no transaction be under way.
    _PAUSED.append(_MUTEX)
    _MUTEX.acquire()
    for writer in _WRITERS.values():
        _PAUSED.append(writer.busy)
        writer.busy.acquire()
    _close_all()


def _in_parent() -> None:
    while _PAUSED:
        with suppress(RuntimeError):  # an interrupt came before it was taken
            _PAUSED.pop().release()


def _in_child() -> None:
    global _MUTEX  # noqa: PLW0603 - nobody is left who could release it
    _MUTEX = threading.Lock()
    _PAUSED.clear()
    _WRITERS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
atexit.register(_at_exit)
