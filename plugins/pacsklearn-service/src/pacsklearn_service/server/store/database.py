"""The service's tables in the ledger's database: durable transactions behind a lease."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, final

from pacsklearn.exceptions import LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.address import database_address
from pacsklearn.kernel.ledger.log import Log, UnreachableError, scripts
from pacsklearn.kernel.ledger.sqlite_file import SQLITE
from pacsklearn.kernel.ledger.writer import run
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.store.file_connection import FileConnection

_TABLES: Final = Path(__file__).with_name("tables")
_PATIENCE: Final = 30.0
_LEASE: Final = "SELECT holder, token, until FROM service_leases WHERE name = 'coordinator'"
_HOLD: Final = "UPDATE service_leases SET holder = ?, token = ?, until = ?"
_TAKEN: Final = (
    "Another process has taken over this service: this one neither draws nor answers any more."
)


@final
class FencedError(LedgerError):
    """Another process has taken the lease: this one may neither write nor answer any more."""


@final
class ServiceDatabase:
    """Door to the tables of the service.

    Parameters
    ----------
    address : str
        ``"sqlite:///path"`` or ``"postgresql://..."``; made, with the tables, where it is new.

    Attributes
    ----------
    address : str
        What ledgers in it are opened with.
    """

    def __init__(self, address: str) -> None:
        self.address = database_address(address)
        self._lock = threading.RLock()
        self._token: int | None = None
        self._until = 0.0
        self._is_file = self.address.startswith(SQLITE)
        self._make_ledgers()
        self._connection = _connection(self.address, _PATIENCE)
        # Asked again before long: a lock that stands still is taken from who has it only then.
        self._lease = _connection(self.address, 1.0)
        self._lease_lock = threading.Lock()
        try:
            self._make_tables()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection that sees what was committed."""
        with self._lock, self._connection.transaction(write=False):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction of the lease's holder, which is on disk when the block has ended.

        Raises
        ------
        FencedError
            When another process holds the lease; nothing is written then.
        """
        with self._lock, self._connection.transaction(write=True):
            (lease,) = self._connection.ask(_LEASE + self._connection.locked)
            # With the lease's row locked: nobody can take it before this is committed.
            if self._token is None or lease["token"] != self._token:
                raise FencedError(_TAKEN)
            yield self._connection

    @contextmanager
    def adding(self) -> Iterator[Connection]:
        """Open a transaction of whoever has the machine's key, beside the lease's holder."""
        with self._lock, self._connection.transaction(write=True):
            self._connection.ask(_LEASE + self._connection.locked)
            yield self._connection

    @property
    def token(self) -> int | None:
        """Fencing token of the lease; None when it is not held."""
        return self._token

    @property
    def is_held(self) -> bool:
        """Whether the lease certainly lasts now, by this process's own clock."""
        return self._token is not None and time.monotonic() < self._until

    def check_lease(self, connection: Connection) -> None:
        """Refuse when the lease has ended, or when the database says that another one has it.

        Raises
        ------
        FencedError
        """
        (lease,) = connection.ask(_LEASE)
        if not self.is_held or lease["token"] != self._token:
            raise FencedError(_TAKEN)

    def take(self, holder: str, seconds: float, end: Callable[[str], None] | None = None) -> bool:
        """Take the lease if nobody holds it, or hold it longer.

        Each new holder gets a larger token. The local end is counted from before the database was
        asked, so it is never after the one that others see. All this is done on a connection of its
        own, which no other work in this process keeps waiting.

        Parameters
        ----------
        holder : str
        seconds : float
        end : callable, optional
            Called with the name of a holder who has let the lease end without giving it back: it
            may have stopped within a transaction, which locks everybody out.
        """
        requested, own = time.monotonic(), self._lease
        with self._lease_lock:
            with own.transaction(write=False):
                (lease,) = own.ask(_LEASE)
                is_over = lease["until"] <= own.now()
            if lease["token"] != self._token:
                self._token = None
                if not is_over:
                    return False
                if end is not None and lease["holder"]:
                    end(lease["holder"])
                own.end_frozen(seconds / 2)
            with own.transaction(write=True):
                (lease,) = own.ask(_LEASE + own.locked)
                now, token = own.now(), lease["token"]
                if token != self._token:
                    if lease["until"] > now:  # somebody else was faster
                        return False
                    token += 1
                own.change(_HOLD, holder, token, now + seconds)
        self._token, self._until = token, requested + seconds
        return True

    def release(self) -> None:
        """Give the lease back, for a standby to take at once."""
        if self._token is None:
            return
        with self.writing() as connection:
            connection.change("UPDATE service_leases SET holder = '', until = 0")
        self._token = None

    def close(self) -> None:
        """Close the connections."""
        with self._lock, self._lease_lock:
            self._connection.close()
            self._lease.close()

    def _make_ledgers(self) -> None:
        """Make the database and the tables of ledgers, or bring them to this version."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                run(self.address, lambda log: log.create(Log.migrate))
                return
            except UnreachableError:  # a server that starts, or was started anew
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def _make_tables(self) -> None:
        """Make the tables of the service, or bring them to this version, by the scripts."""
        connection = self._connection
        with connection.transaction(write=True):
            # Two processes that start at once must not both make the tables.
            connection.claim_tables()
            connection.change(
                "CREATE TABLE IF NOT EXISTS service_version (number bigint PRIMARY KEY)"
            )
            done = connection.ask("SELECT coalesce(max(number), 0) AS number FROM service_version")
            before, newest = int(done[0]["number"]), len(scripts(_TABLES, 0))
            if before > newest:
                raise LedgerMismatchError(
                    f"The database has version {before} of the service's tables, and this "
                    f"pacsklearn knows up to {newest}: a newer one has changed it. Upgrade "
                    "pacsklearn, then start again."
                )
            for number, script in enumerate(scripts(_TABLES, before), start=before + 1):
                for statement in script.split(";\n"):
                    if statement:
                        connection.change(statement)
                connection.insert("service_version", number=number)

    def __repr__(self) -> str:
        return f"ServiceDatabase({'file' if self._is_file else 'server'}, pid={os.getpid()})"


def _connection(address: str, patience: float) -> Connection:
    if address.startswith(SQLITE):
        return FileConnection(address, patience)
    from pacsklearn_service.server.store.server_connection import ServerConnection

    return ServerConnection(address, patience)
