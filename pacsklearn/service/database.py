"""The service's tables in the ledger's database: durable transactions behind a lease."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, final

import sqlalchemy as sa

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.founding import migrate as migrate_ledger
from pacsklearn.kernel.ledger.log import UnreachableError
from pacsklearn.kernel.ledger.open_ledger import database_address
from pacsklearn.kernel.ledger.sqlite_log import SQLITE, connect
from pacsklearn.service.tables import LEASES

_SCHEMA: Final = "pacsklearn_service"
_MIGRATIONS: Final = Path(__file__).with_name("migrations")
_PATIENCE: Final = 30.0
_LEASE: Final = "coordinator"
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
        self._engine = self._file_engine() if self._is_file else self._server_engine()
        self._migrate()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Connection that sees what was committed."""
        with self._lock, self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Transaction that is on disk when the block has ended, of the holder of the lease only.

        Raises
        ------
        FencedError
            When another process holds the lease; nothing is written then.
        """
        with self._lock, self._to_write() as connection:
            held = sa.select(LEASES.c.token).where(LEASES.c.name == _LEASE)
            token = connection.execute(held.with_for_update()).scalar_one_or_none()
            # With the lease's row locked: nobody can take it before this is committed.
            if self._token is None or token != self._token:
                raise FencedError(_TAKEN)
            yield connection

    @property
    def token(self) -> int | None:
        """Fencing token of the lease; None when it is not held."""
        return self._token

    @property
    def is_held(self) -> bool:
        """Whether the lease certainly lasts now, by this process's own clock."""
        return self._token is not None and time.monotonic() < self._until

    def check_lease(self) -> None:
        """Refuse when the lease has ended, or when the database says that another one has it.

        Raises
        ------
        FencedError
        """
        with self.reading() as connection:
            token = connection.execute(
                sa.select(LEASES.c.token).where(LEASES.c.name == _LEASE)
            ).scalar_one()
        if not self.is_held or token != self._token:
            raise FencedError(_TAKEN)

    def take(self, holder: str, seconds: float) -> bool:
        """Take the lease if nobody holds it, or hold it longer.

        Each new holder gets a larger token. The local end is counted from before the database was
        asked, so it is never after the one that others see.
        """
        requested = time.monotonic()
        with self._lock, self._to_write() as connection:
            lease = connection.execute(
                sa.select(LEASES).where(LEASES.c.name == _LEASE).with_for_update()
            ).one()
            now = self._now(connection)
            mine = lease.token == self._token
            if not mine and lease.until > now:
                self._token = None
                return False
            token = lease.token if mine else lease.token + 1
            connection.execute(
                sa.update(LEASES)
                .where(LEASES.c.name == _LEASE)
                .values(holder=holder, token=token, until=now + seconds)
            )
        self._token, self._until = token, requested + seconds
        return True

    def release(self) -> None:
        """Give the lease back, for a standby to take at once."""
        if self._token is None:
            return
        with self.writing() as connection:
            connection.execute(sa.update(LEASES).where(LEASES.c.name == _LEASE).values(until=0.0))
        self._token = None

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def _to_write(self) -> Iterator[sa.Connection]:
        with self._engine.connect() as plain:
            connection = plain.execution_options(pacsklearn_write=True)
            with connection.begin():
                yield connection

    def _now(self, connection: sa.Connection) -> float:
        if self._is_file:
            return time.time()
        # The server's clock: those of several machines differ.
        return float(
            connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
        )

    def _file_engine(self) -> sa.Engine:
        path = self.address.removeprefix(SQLITE)
        if not Path(path).exists():
            connect(path, "rwc").close()
            Path(path).chmod(0o600)
        engine = sa.create_engine(
            f"sqlite:///{path}",
            # Else errors quote a statement's values, and are logged.
            hide_parameters=True,
            connect_args={"check_same_thread": False, "timeout": _PATIENCE},
            poolclass=sa.pool.StaticPool,
        )
        sa.event.listen(engine, "connect", _prepare_file)
        sa.event.listen(engine, "begin", _begin_in_file)
        return engine

    def _server_engine(self) -> sa.Engine:
        engine = sa.create_engine(
            sa.make_url(self.address).set(drivername="postgresql+psycopg"),
            hide_parameters=True,
            pool_pre_ping=True,
            pool_size=1,
            max_overflow=0,
        )
        sa.event.listen(engine, "connect", _prepare_server)
        return engine

    def _migrate(self) -> None:
        """Bring the ledger's tables and the service's to this version."""
        from alembic import command
        from alembic.config import Config

        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                migrate_ledger(self.address)
                break
            except UnreachableError:  # a server that starts, or was started anew
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        with self._lock, self._to_write() as connection:
            if not self._is_file:
                # Two processes that start at once must not both make the tables.
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(470841)")
                connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
            config = Config(attributes={"connection": connection})
            config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
            command.upgrade(config, "head")

    def __repr__(self) -> str:
        return f"ServiceDatabase({'file' if self._is_file else 'server'}, pid={os.getpid()})"


def _prepare_file(raw: Any, _: Any) -> None:
    raw.isolation_level = None
    raw.execute("PRAGMA journal_mode = WAL")
    # In WAL mode the default would lose the last commits with the power, and charges with them.
    raw.execute("PRAGMA synchronous = FULL")


def _begin_in_file(connection: sa.Connection) -> None:
    write = connection.get_execution_options().get("pacsklearn_write", False)
    # Locked from the beginning: what is read before writing must still hold when it is written.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _prepare_server(raw: Any, _: Any) -> None:
    with raw.cursor() as cursor:
        cursor.execute(f"SET search_path = {_SCHEMA}")
        cursor.execute("SELECT current_setting('synchronous_commit')")
        if cursor.fetchone()[0] == "off":
            # A server that answers before it has written could lose charges of answers that left.
            cursor.execute("SET synchronous_commit = on")
    raw.commit()
