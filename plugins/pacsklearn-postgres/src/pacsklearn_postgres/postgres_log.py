"""Logs on a PostgreSQL server: one connection a process, and a role that may append only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, final

import psycopg
import psycopg.conninfo

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger import log as patience
from pacsklearn.kernel.ledger.address import without_password
from pacsklearn.kernel.ledger.log import VERSION, Log, UnreachableError, scripts
from pacsklearn.kernel.ledger.row import Position, Row
from pacsklearn.upkeep.driver_words import hide

SCHEMA: Final = "pacsklearn"
"""Where the tables are."""
WRITER: Final = "pacsklearn_ledger_writer"
"""Role that may append to ledgers, and nothing else."""

_HOST: Final = r"(\[[^\]]*\]|[^@:,\[]*)(:\d*)?"
# Users and passwords end at the first @ or /, as libpq reads them, and hosts hold none.
_READ: Final = re.compile(rf"([^@/]*@)?{_HOST}(,{_HOST})*([/?]|$)")
_LOST: Final = ("57P01", "57P02", "57P03")  # shut down, crashed, starting up
_STUCK_SECONDS: Final = 60
_UTC: Final = (
    "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"+00:00\"')"
)
# Triggers on the tables, with the state in which they fire and the code they run.
_TRIGGERS: Final = (
    "SELECT pg_get_triggerdef(t.oid), t.tgenabled::text, p.prosrc FROM pg_trigger t "
    "JOIN pg_proc p ON p.oid = t.tgfoid "
    f"WHERE t.tgrelid IN ('{SCHEMA}.log'::regclass, '{SCHEMA}.answers'::regclass) "
    "AND NOT t.tgisinternal"
)
_MADE: Final = re.compile(r"^(CREATE TRIGGER .*);$", re.MULTILINE)
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
    "ORDER BY 2 DESC, 3"  # the tables first: an index is compared with them
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
    mark = "%s"
    begin = (
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "BEGIN ISOLATION LEVEL READ COMMITTED",
    )
    # Of what an operator gives there is no index.
    scan = "WHERE dataset || '' = ? ORDER BY number + 0"

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._has_tables = False

    @staticmethod
    def own_address(uri: str) -> str:
        scheme, mark, rest = str(uri).partition("://")
        if not mark or scheme not in ("postgresql", "postgresql+psycopg"):
            raise LedgerError(
                "A ledger's address is 'postgresql://user:password@host/database', got "
                f"{without_password(str(uri))!r}."
            )
        if "@" in rest and not _READ.match(rest):
            # The driver would ask the network for a host by the end of the password, and print it.
            raise LedgerError(
                f"The address {without_password(str(uri))!r} cannot be read: write @ as %40, / as "
                "%2F and % as %25 in its user and password, and its port as a number."
            )
        return f"postgresql://{rest}"

    def settle(self, dataset: str) -> None:
        # Whoever appends holds the lock until the end: a transaction in doubt has one then.
        self.ask("SELECT pacsklearn.lock_dataset(?)", dataset)

    def table(self, dataset: str) -> Iterator[Row]:
        rows = f"SELECT dataset, number, key, line FROM log {self.scan}"
        # By name: a cursor of the driver would ask the server when it is garbage, and wait for a
        # question in whose middle that is.
        self.ask(f"DECLARE log_rows CURSOR FOR {rows}", dataset)
        while lines := self.ask("FETCH 1000 FROM log_rows"):
            for line in lines:
                yield Row(*line)
        self.ask("CLOSE log_rows")

    def check(self) -> None:
        self.check_version()
        code = "\n".join(scripts(self.scripts))
        triggers = self.ask(_TRIGGERS)
        if (
            {definition for definition, _, _ in triggers} != {*_MADE.findall(code)}
            or any(state != "O" or source not in code for _, state, source in triggers)
            or self.ask(_KINDS) != [(name, "r", False, False) for name in ("answers", "log")]
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
        number = self.ask("SELECT coalesce(max(number), 0) FROM pacsklearn.version")[0][0]
        if number < 1:  # the table was made with one, in one transaction
            raise LedgerMismatchError(
                f"{self._title} has lost the version of its tables (pacsklearn.version); let their "
                "owner write it again, or restore a backup."
            )
        return int(number)

    def time(self) -> str:
        return str(self.ask(f"SELECT {_UTC}")[0][0])

    def _insert(self, dataset: str, expected: Position | None, rows: Sequence[Row]) -> None:
        self.settle(dataset)  # holds the lock until the end of the transaction
        if expected is None:
            self.ask("SET LOCAL ROLE NONE")  # the writers' role may not found
        super()._insert(dataset, expected, rows)

    def _make_tables(self) -> None:
        self.ask("SET LOCAL ROLE NONE")
        self.ask("SELECT pg_advisory_xact_lock(1346454323)")  # two may start at once
        self.ask(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        for script in scripts(self.scripts, self.version()):
            self.ask(script)
        self.ask("DELETE FROM version")
        self.ask("INSERT INTO version VALUES (?)", VERSION)

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

    def _connected(self) -> Any:
        if self._raw is None or self._raw.closed:
            self.close()
            self._has_tables = False
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
    """Prepare a new connection with our settings.

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
    """Return whether the error says that the server was lost."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate[:2] == "08" or error.sqlstate in _LOST
