"""PostgreSQL servers: one connection a process, and a role that may append and nothing else."""

from __future__ import annotations

from typing import Any, Final, final

import psycopg
from sqlalchemy import Connection, create_engine, event, make_url
from sqlalchemy.engine import RootTransaction
from sqlalchemy.exc import DBAPIError

from pacsklearn.accounting.database import PATIENCE, Database
from pacsklearn.accounting.schema import SCHEMA, WRITER
from pacsklearn.exceptions import LedgerError

__all__ = ["PostgresDatabase"]

_LOST: Final = ("57P01", "57P02", "57P03")  # shut down, crashed, starting up
_STUCK_SECONDS: Final = 60


@final
class PostgresDatabase(Database):
    """One connection to a server.

    Parameters
    ----------
    address : str
        ``"postgresql://user:password@host/database"``, with libpq's options.
    """

    errors = psycopg.Error

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._engine = create_engine(
            make_url(address).set(drivername="postgresql+psycopg"),
            connect_args={"autocommit": True},  # transactions are begun here, by name
            hide_parameters=True,
            max_overflow=0,
            pool_size=1,
        )
        event.listen(self._engine, "connect", _prepare)
        event.listen(self._engine, "begin", _begin)

    def begin(self, *, write: bool) -> tuple[Connection, RootTransaction]:
        try:
            return self._begin_once(write=write)
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
        return self._begin_once(write=write)  # the server was started anew in between

    def close(self) -> None:
        self._engine.dispose()

    def is_gone(self, error: Exception) -> bool:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if not isinstance(cause, psycopg.OperationalError):
            return False
        return cause.sqlstate is None or cause.sqlstate[:2] == "08" or cause.sqlstate in _LOST

    def _begin_once(self, *, write: bool) -> tuple[Connection, RootTransaction]:
        connection = self._engine.connect().execution_options(pacsklearn_write=write)
        try:
            return connection, connection.begin()
        except BaseException:
            connection.close()
            raise


def _begin(connection: Connection) -> None:
    write = connection.get_execution_options()["pacsklearn_write"]
    # A writer locks the data set's row first, and has to see what was committed until then.
    how = "READ COMMITTED" if write else "REPEATABLE READ READ ONLY"
    connection.exec_driver_sql(f"BEGIN ISOLATION LEVEL {how}")


def _prepare(raw: Any, _: Any) -> None:
    with raw.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('fsync'), current_setting('synchronous_commit'), "
            "(SELECT pg_has_role(session_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = %s)",
            (WRITER,),
        )
        durable, synchronous, may_write = cursor.fetchone()
        if durable != "on":
            raise LedgerError(
                "The server runs with fsync=off: a charge could be lost after its answer. Turn "
                "fsync on, or use another server."
            )
        if synchronous == "off":
            cursor.execute("SET synchronous_commit = on")
        cursor.execute(f"SET search_path = {SCHEMA}")
        cursor.execute(f"SET lock_timeout = '{PATIENCE:.0f}s'")
        # A client that hangs inside a transaction must not keep all others waiting.
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{_STUCK_SECONDS}s'")
        if may_write:
            cursor.execute(f"SET ROLE {WRITER}")
