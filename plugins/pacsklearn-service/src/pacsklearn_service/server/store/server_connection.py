"""Transactions on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, final

import psycopg
from psycopg.rows import dict_row

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.address import hide, without_password
from pacsklearn_service.server.store.connection import Connection

_SCHEMA: Final = "pacsklearn_service"


@final
class ServerConnection(Connection):
    """Connection to the server that an address names; made anew when it was lost."""

    locked = " FOR UPDATE"

    def __init__(self, address: str, patience: float) -> None:
        super().__init__(address, patience)
        self._raw: psycopg.Connection[dict[str, Any]] | None = None

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[None]:
        self._begin("BEGIN" if write else "BEGIN READ ONLY")
        try:
            yield
            done = self._run("COMMIT", ()).statusmessage
        except BaseException:
            if self._raw is not None:
                with suppress(psycopg.Error):  # the first error says what is wrong
                    self._raw.execute("ROLLBACK")
            raise
        if done != "COMMIT":
            raise self._error("it has rolled the transaction back")

    def claim_tables(self) -> None:
        self._run("SELECT pg_advisory_xact_lock(470841)", ())
        self._run(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}", ())

    def now(self) -> float:
        # The server's clock: those of several machines differ.
        question = "SELECT extract(epoch FROM clock_timestamp())::float8 AS now"
        return float(self.ask(question)[0]["now"])

    def close(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            with suppress(psycopg.Error):
                raw.close()

    def end_frozen(self, seconds: float) -> None:
        # Of this login in this database: a service's own sessions, and those of its ledgers.
        question = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user "
            "AND datname = current_database() AND state LIKE 'idle in transaction%%' "
            "AND clock_timestamp() - state_change > make_interval(secs => ?)"
        )
        self.ask(question, seconds)

    def _begin(self, statement: str) -> None:
        if self._raw is not None:
            try:
                self._raw.execute(statement)
                return
            except psycopg.OperationalError:  # the server was started anew in between
                self.close()
        self._connect()
        self._run(statement, ())

    def _connect(self) -> None:
        with self._errors():
            # Transactions are begun here, by name.
            raw = psycopg.connect(
                self.address, autocommit=True, client_encoding="utf8", row_factory=dict_row
            )
            self._raw = raw
            raw.execute(f"SET search_path = {_SCHEMA}; SET lock_timeout = '{self._patience}s'")
            if raw.execute("SHOW synchronous_commit").fetchall()[0]["synchronous_commit"] == "off":
                # A server that answers before it has written could lose charges of answers that
                # left.
                raw.execute("SET synchronous_commit = on")

    def _run(self, statement: str, values: tuple[Any, ...]) -> Any:
        if self._raw is None:
            raise self._error("it was lost")
        with self._errors():
            return self._raw.execute(statement.replace("?", "%s"), values or None)

    def _run_all(self, statement: str, lines: Sequence[tuple[Any, ...]]) -> None:
        if self._raw is None:
            raise self._error("it was lost")
        with self._errors(), self._raw.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s"), lines)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.OperationalError as error:
            raise self._error(hide(str(error).strip(), self.address)) from None
        except psycopg.Error as error:  # whose words may quote values
            raise self._error(type(error).__name__) from None

    def _error(self, reason: str) -> LedgerError:
        return LedgerError(
            f"The database {without_password(self.address)} cannot be used: {reason}."
        )
