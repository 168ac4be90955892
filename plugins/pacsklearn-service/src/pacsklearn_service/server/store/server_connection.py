"""Transactions on a PostgreSQL server."""

from __future__ import annotations

from typing import Any, Final, final

import psycopg
from psycopg.rows import dict_row

from pacsklearn.upkeep.driver_words import hide
from pacsklearn_service.server.store.connection import Connection

_SCHEMA: Final = "pacsklearn_service"


@final
class ServerConnection(Connection):
    """Connection to the server that an address names; made anew when it was lost."""

    locked = " FOR UPDATE"
    errors = psycopg.Error
    mark = "%s"
    begin = ("BEGIN READ ONLY", "BEGIN")
    claim = ("SELECT pg_advisory_xact_lock(470841)", f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")

    def now(self) -> float:
        # The server's clock: those of several machines differ.
        question = "SELECT extract(epoch FROM clock_timestamp())::float8 AS now"
        return float(self.ask(question)[0]["now"])

    def place(self) -> str:
        question = (
            "SELECT system_identifier || ' ' || oid AS place FROM pg_control_system(), pg_database "
            "WHERE datname = current_database()"
        )
        return str(self.ask(question)[0]["place"])

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
        try:
            self._raw = self._connected()
        except psycopg.Error as error:
            raise self._error(self._reason(error)) from None
        self._run(statement)

    def _connected(self) -> Any:
        # Transactions are begun here, by name.
        raw: Any = psycopg.connect(
            self.address, autocommit=True, client_encoding="utf8", row_factory=dict_row
        )
        raw.execute(f"SET search_path = {_SCHEMA}; SET lock_timeout = '{self._patience}s'")
        if raw.execute("SHOW synchronous_commit").fetchall()[0]["synchronous_commit"] == "off":
            # A server that answers before it has written could lose charges of answers that left.
            raw.execute("SET synchronous_commit = on")
        return raw

    def _commit(self) -> None:
        if self._run("COMMIT").statusmessage != "COMMIT":
            raise self._error("it has rolled the transaction back")

    def _reason(self, error: Any) -> str:
        if isinstance(error, psycopg.OperationalError):
            return hide(str(error).strip(), self.address)
        return type(error).__name__  # others' words may quote values
