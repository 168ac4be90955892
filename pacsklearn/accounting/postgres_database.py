"""PostgreSQL servers: one connection a process, and a role that may append and nothing else."""

from __future__ import annotations

from typing import Any, Final, final

import psycopg
from psycopg.errors import error_from_result
from psycopg.pq import DiagnosticField, ExecStatus
from sqlalchemy import Connection, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pacsklearn.accounting.database import PATIENCE, Database
from pacsklearn.accounting.schema import SCHEMA, WRITER
from pacsklearn.exceptions import LedgerError

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
        engine = create_engine(
            make_url(address).set(drivername="postgresql+psycopg"),
            # Transactions are begun here, by name; and what psycopg prepares by itself it drops
            # after a rollback, with all that others have prepared.
            connect_args={
                "autocommit": True,
                "prepare_threshold": None,
                "client_encoding": "utf8",
            },
            hide_parameters=True,
            poolclass=NullPool,
        )
        event.listen(engine, "connect", _prepare)
        super().__init__(engine)

    def begin(self, *, write: bool, lazily: bool) -> Connection:
        try:
            return self._begin_once(write=write, lazily=lazily)
        except (DBAPIError, psycopg.OperationalError):
            connection = self._connection
            is_lost = connection is not None and (
                connection.invalidated or _driver(connection).closed
            )
            if not is_lost:
                raise
        self.close()  # the server was started anew in between
        return self._begin_once(write=write, lazily=lazily)

    @staticmethod
    def _commit(driver: Any) -> None:
        if ask(driver, b"COMMIT").command_status != b"COMMIT":
            raise psycopg.OperationalError("the server rolled the transaction back")

    def is_gone(self, error: Exception) -> bool:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if not isinstance(cause, psycopg.OperationalError):
            return False
        return cause.sqlstate is None or cause.sqlstate[:2] == "08" or cause.sqlstate in _LOST

    def _begin_once(self, *, write: bool, lazily: bool) -> Connection:
        connection = self._connected()
        # A writer locks the data set's row first, and has to see what was committed until then.
        how = "READ COMMITTED" if write else "REPEATABLE READ READ ONLY"
        statement = f"BEGIN ISOLATION LEVEL {how}"
        if lazily:
            connection.info["begin"] = statement.encode()
        else:
            _driver(connection).execute(statement, prepare=False)
        return connection


def ask(driver: Any, statements: bytes, values: list[bytes] | None = None) -> Any:
    """Result of the last of some statements, or of a prepared one with values.

    One message there and one back, by the C library itself: on the way of every charge the
    driver's cursor costs more than the server.
    """
    server = driver.pgconn
    result = None
    try:
        result = (
            server.exec_(statements) if values is None else server.exec_prepared(statements, values)
        )
    except MemoryError:  # nothing could be sent: the library has no result then
        if not driver.closed:
            raise
    if result is not None and result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
        return result
    if result is None or result.error_field(DiagnosticField.SQLSTATE) is None:
        raise psycopg.OperationalError(server.error_message.decode(errors="replace"))
    raise error_from_result(result)


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


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
