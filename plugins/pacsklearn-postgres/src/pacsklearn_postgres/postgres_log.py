"""Logs on a PostgreSQL server: one connection a process, and a role that may append only."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, final

import psycopg
import psycopg.conninfo

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError
from pacsklearn.kernel.ledger import log as patience
from pacsklearn.kernel.ledger.book import time_text
from pacsklearn.kernel.ledger.log import (
    VERSION,
    DoubtError,
    Log,
    MovedError,
    UnreachableError,
    hide,
    scripts,
    without_password,
)
from pacsklearn.kernel.ledger.row import Position, Row

SCHEMA: Final = "pacsklearn"
"""Where the tables are."""
WRITER: Final = "pacsklearn_ledger_writer"
"""Role that may append to ledgers, and nothing else."""

_LOST: Final = ("57P01", "57P02", "57P03")  # shut down, crashed, starting up
_MOVED: Final = ("23000", "23505", "40001", "40P01")
_STUCK_SECONDS: Final = 60
_CLOCK_SECONDS: Final = 60.0
_UTC: Final = (
    "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"+00:00\"')"
)
# Triggers on the tables, with the state in which they fire and the code they run.
_TRIGGERS: Final = (
    "SELECT c.relname, t.tgname, t.tgenabled::text, p.prosrc FROM pg_trigger t "
    "JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
    f"WHERE c.oid IN ('{SCHEMA}.log'::regclass, '{SCHEMA}.answers'::regclass) "
    "AND NOT t.tgisinternal ORDER BY 1, 2"
)
_KINDS: Final = (
    "SELECT relname, relkind::text, relhasrules, relrowsecurity FROM pg_class "
    f"WHERE oid IN ('{SCHEMA}.log'::regclass, '{SCHEMA}.answers'::regclass) ORDER BY 1"
)
# What the extension amcheck can check, where the server has it and the login may.
_CHECKS: Final = (
    "SELECT e.extnamespace::regnamespace::text, p.proname::text, c.oid::regclass::text "
    "FROM pg_extension e JOIN pg_proc p ON p.pronamespace = e.extnamespace "
    f"JOIN pg_class t ON t.oid IN ('{SCHEMA}.log'::regclass, '{SCHEMA}.answers'::regclass) "
    "LEFT JOIN pg_index i ON i.indrelid = t.oid AND p.proname = 'bt_index_check' "
    "JOIN pg_class c ON c.oid = coalesce(i.indexrelid, t.oid) "
    "WHERE e.extname = 'amcheck' AND has_function_privilege(p.oid, 'EXECUTE') "
    "AND (p.proname = 'verify_heapam' OR p.proname = 'bt_index_check' AND p.pronargs = 2) "
    "ORDER BY 2, 3"
)
# A server that is gone without a word is noticed within a minute; what the address says counts.
_KEPT_ALIVE: Final = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


@final
class PostgresLog(Log):
    """Logs on one server.

    Parameters
    ----------
    address : str
        ``"postgresql://user:password@host/database"``, with libpq's options.
    """

    name = "postgresql"
    description = "a PostgreSQL server, shared by machines"
    scripts = Path(__file__).with_name("postgresql")
    errors = (psycopg.Error, OSError, ValueError, OverflowError)

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._raw: psycopg.Connection[Any] | None = None
        self._clock: tuple[float, str] | None = None
        self._has_tables = False

    @staticmethod
    def own_address(uri: str) -> str:
        scheme, mark, rest = str(uri).partition("://")
        if not mark or scheme not in ("postgresql", "postgresql+psycopg"):
            raise LedgerError(
                "A ledger's address is 'postgresql://user:password@host/database', got "
                f"{without_password(str(uri))!r}."
            )
        return f"postgresql://{rest}"

    def ask(self, question: str, *values: object) -> list[Any]:
        with self._errors():
            inside = self._raw is not None and self._raw.info.transaction_status.name != "IDLE"
            try:
                return self._run(question, values)
            except psycopg.OperationalError as error:
                if (inside and self._raw is not None) or not _is_lost(error):
                    raise
            self.close()  # the server was started anew in between
            return self._run(question, values)

    def settle(self, dataset: str) -> None:
        # Whoever appends holds the lock until the end: a transaction in doubt has one then.
        self.ask("SELECT pacsklearn.lock_dataset(%s)", dataset)

    def table(self, dataset: str) -> Iterator[Row]:
        with self._errors():
            raw = self._connected()
            for way in ("indexscan", "indexonlyscan", "bitmapscan"):
                raw.execute(f"SET LOCAL enable_{way} = off")
            with raw.cursor(name="log") as cursor:
                cursor.itersize = 1000
                cursor.execute(
                    "SELECT dataset, number, key, line FROM log WHERE dataset = %s ORDER BY number",
                    (dataset,),
                )
                for row in cursor:
                    yield Row(*row)
            for way in ("indexscan", "indexonlyscan", "bitmapscan"):
                raw.execute(f"SET LOCAL enable_{way} = on")

    def check(self) -> None:
        self.check_version()
        code = "\n".join(scripts(self.scripts))
        made = {("answers", name) for name in ("answers_no_change", "answers_no_truncate")}
        made |= {("log", name) for name in ("log_no_change", "log_no_truncate", "log_at_its_end")}
        triggers = self.ask(_TRIGGERS)
        kinds = self.ask(_KINDS)
        if (
            {(table, name) for table, name, _, _ in triggers} != made
            or any(state != "O" or source not in code for _, _, state, source in triggers)
            or kinds != [(name, "r", False, False) for name in ("answers", "log")]
        ):
            raise LedgerCorruptedError(
                0, "may be another one: a table or a trigger is not as it was made"
            )
        # As the login itself: nobody grants the writers' role what amcheck needs.
        ((role,),) = self.ask("SELECT current_setting('role')")
        self.ask("SELECT set_config('role', 'none', true)")
        for schema, function, relation in self.ask(_CHECKS):
            how = "check_toast =>" if function == "verify_heapam" else "heapallindexed =>"
            # A damaged index is an error of the server; what is wrong in a table is listed.
            defects = self.ask(
                f"SELECT {schema}.{function}(?::regclass, {how} true)::text", relation
            )
            if function == "verify_heapam" and defects:
                raise LedgerCorruptedError(0, f"may be missing, or another one ({defects[0][0]})")
        self.ask("SELECT set_config('role', ?, true)", role)

    def version(self) -> int:
        if (
            not self._has_tables
            and self.ask("SELECT to_regclass('pacsklearn.version')")[0][0] is None
        ):
            return 0
        self._has_tables = True
        rows = self.ask("SELECT number FROM pacsklearn.version")
        return int(rows[0][0]) if rows else 0

    def time(self) -> str:
        if self._clock is None or time.monotonic() - self._clock[0] > _CLOCK_SECONDS:
            now = time.monotonic()
            self._clock = now, str(self.ask(f"SELECT {_UTC}")[0][0])
        since, text = self._clock
        return time_text((timedelta(seconds=time.monotonic() - since)).total_seconds(), text)

    def rest(self) -> None:
        return None

    def close(self) -> None:
        raw, self._raw = self._raw, None
        self._clock, self._has_tables = None, False
        if raw is not None:
            with suppress(psycopg.Error):
                raw.close()

    def _begin(self, *, write: bool) -> None:
        how = "READ COMMITTED" if write else "REPEATABLE READ READ ONLY"
        if self._raw is not None and not write:
            self.ask("SELECT 1")  # a connection that was lost is made anew
        self._connected().execute(f"BEGIN ISOLATION LEVEL {how}")

    def _insert(self, dataset: str, expected: Position | None, rows: Sequence[Row]) -> None:
        raw = self._connected()
        if not rows or expected is None:
            raw.execute("SELECT pacsklearn.lock_dataset(%s)", (dataset,))
            head = self.head(dataset)
            if (head and head.position) != expected:
                raise MovedError
        if expected is None:
            raw.execute("SET LOCAL ROLE NONE")  # the writers' role may not found
        if not rows:
            return
        columns = [[row[n] for row in rows] for n in range(1, 4)]
        try:  # the trigger compares with the head
            kept = raw.execute(
                "INSERT INTO log SELECT %s, r.* FROM unnest(%s::bigint[], %s::text[], %s::text[]) "
                "AS r(number, key, line) ORDER BY number RETURNING number, key, line",
                (dataset, *columns),
            ).fetchall()
        except psycopg.Error as error:
            if error.sqlstate in _MOVED:
                raise MovedError from None
            raise
        if kept != [row[1:4] for row in rows]:
            raise LedgerCorruptedError(rows[-1].number, "is not kept by the database")
        answers = [(dataset, row.number, *each) for row in rows for each in row.answers]
        if answers:
            with raw.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO answers VALUES (%s, %s, %s, %s, %s, %s, %s)", answers
                )

    def _commit(self) -> None:
        try:
            done = self._connected().execute("COMMIT").statusmessage
        except psycopg.Error as error:
            self.close()
            raise DoubtError(str(self._named(error)), again=_is_lost(error)) from None
        except BaseException:
            self.close()
            raise
        if done != "COMMIT":
            raise LedgerError(f"{self._title} rolled the transaction back: nothing was charged.")

    def _roll_back(self) -> None:
        with suppress(psycopg.Error):
            if self._raw is not None:
                self._raw.rollback()

    def _make_tables(self) -> None:
        raw = self._connected()
        raw.execute("SET LOCAL ROLE NONE")
        raw.execute("SELECT pg_advisory_xact_lock(1346454323)")  # two may start at once
        raw.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        for script in scripts(self.scripts, self.version()):
            raw.execute(script.encode())
        raw.execute("DELETE FROM version")
        raw.execute("INSERT INTO version VALUES (%s)", (VERSION,))

    def _named(self, error: Exception) -> LedgerError:
        if isinstance(error, psycopg.DataError | psycopg.InternalError) and error.sqlstate in (
            "XX001",
            "XX002",
        ):
            return LedgerCorruptedError(0, f"cannot be read ({error})")
        words = hide(str(error).strip(), self.address)
        kind = UnreachableError if _is_lost(error) else LedgerError
        return kind(f"{self._title} cannot be used: {words}.")

    @property
    def _title(self) -> str:
        return f"The ledger at {without_password(self.address)}"

    def _run(self, question: str, values: tuple[object, ...]) -> list[Any]:
        cursor = self._connected().execute(question.replace("?", "%s"), values or None)
        return cursor.fetchall() if cursor.description else []

    def _connected(self) -> psycopg.Connection[Any]:
        if self._raw is None or self._raw.closed:
            self.close()
            # Transactions are begun here, by name.
            options: dict[str, Any] = _KEPT_ALIVE | psycopg.conninfo.conninfo_to_dict(self.address)
            raw = psycopg.connect(**options | {"client_encoding": "utf8"}, autocommit=True)
            try:
                prepare(raw)
            except BaseException:
                raw.close()
                raise
            self._raw = raw
        return self._raw


def prepare(raw: Any) -> None:
    """Settings of a new connection.

    Raises
    ------
    LedgerError
        When the server may lose what it has committed.
    """
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
        cursor.execute(f"SET lock_timeout = '{patience.PATIENCE:.0f}s'")
        # A client that hangs inside a transaction must not keep all others waiting.
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{_STUCK_SECONDS}s'")
        if may_write:
            cursor.execute(f"SET ROLE {WRITER}")


def _is_lost(error: Exception) -> bool:
    """Whether the error says that the server was lost."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate[:2] == "08" or error.sqlstate in _LOST
