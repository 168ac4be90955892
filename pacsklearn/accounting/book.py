"""Rows of one data set, read, verified and appended inside an open transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import fields
from typing import Any, Final, final

from sqlalchemy import Connection

from pacsklearn.accounting.chain import Chain
from pacsklearn.accounting.entry import (
    Entry,
    Founding,
    Position,
    event_from_text,
    event_text,
    is_sound,
    without_password,
)
from pacsklearn.accounting.schema import VERSION, bring_up, check_version
from pacsklearn.core.accounts import Accounts, Posting
from pacsklearn.core.booked_ledger import OpenBook, time_text
from pacsklearn.core.event import Event
from pacsklearn.exceptions import LedgerCorruptedError, LedgerMismatchError

__all__ = ["Book", "Rows"]

_AT_ONCE: Final = 1000
_COLUMNS: Final = [field.name for field in fields(Entry)]
# Statements that a server need read only once, whatever the number of rows.
_ARRAYS: Final = {"sequence": "int8", "charge": "float8"}
_INSERT_ONE: Final = (
    f"INSERT INTO entries ({', '.join(_COLUMNS)}) VALUES "
    f"({', '.join(['%s'] * len(_COLUMNS))}) RETURNING *"
)
_INSERT_MANY: Final = (
    f"INSERT INTO entries ({', '.join(_COLUMNS)}) SELECT * FROM unnest("
    + ", ".join(f"%s::{_ARRAYS.get(name, 'text')}[]" for name in _COLUMNS)
    + ") RETURNING *"
)
_FOUNDING_COLUMNS: Final = [field.name for field in fields(Founding)]
_UTC: Final = (
    "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"+00:00\"')"
)


@final
class Rows:
    """The statements that a ledger is read and written with.

    Parameters
    ----------
    connection : Connection
        Inside a transaction.
    dataset : str
    """

    def __init__(self, connection: Connection, dataset: str) -> None:
        self._dataset = dataset
        self._postgres = connection.dialect.name != "sqlite"
        self._mark = "%s" if self._postgres else "?"
        self._driver: Any = connection.connection.driver_connection
        self._info = connection.info

    def founding(self, *, lock: bool) -> tuple[Founding | None, int, str]:
        """First link of the chain, version of the schema, and the time; locks the data set."""
        if self._postgres:
            row = self._run(self._founding_statement(lock=lock), self._dataset).fetchone()
            return self._stored_founding(row)
        (version,) = self._run("PRAGMA user_version").fetchone()
        check_version(version)
        stored = self._run("SELECT * FROM datasets WHERE name = ?", self._dataset).fetchone()
        return None if stored is None else Founding(*stored), version, time_text()

    def _founding_statement(self, *, lock: bool) -> str:
        return (
            f"SELECT {_UTC}, (SELECT version_num FROM alembic_version), d.* FROM datasets d "
            f"WHERE name = %s{' FOR UPDATE OF d' if lock else ''}"
        )

    def _stored_founding(self, row: Any) -> tuple[Founding | None, int, str]:
        if row is None:
            return None, VERSION, time_text()
        return Founding(*row[2:]), int(row[1]), str(row[0])

    def after(self, sequence: int, account: str | None = None) -> Iterator[Entry]:
        """Rows with a larger number, of one account or of all; as they stand, unchecked."""
        of_account = "" if account is None else f"AND account = {self._mark} "
        named = () if account is None else (account,)
        while True:
            rows = self._run(
                f"SELECT * FROM entries WHERE dataset = {self._mark} {of_account}"
                f"AND sequence > {self._mark} ORDER BY sequence LIMIT {_AT_ONCE}",
                self._dataset,
                *named,
                sequence,
            ).fetchall()
            for row in rows:
                yield Entry(*row)
            if len(rows) < _AT_ONCE:
                return
            sequence = rows[-1][1]

    def _read(self, first: int) -> list[Any]:
        rows: list[Any] = self._run(
            f"SELECT * FROM entries WHERE dataset = {self._mark} AND sequence >= {self._mark}",
            self._dataset,
            first,
        ).fetchall()
        return rows

    def to_charge(
        self, sequence: int, keys: list[str]
    ) -> tuple[tuple[Founding | None, int, str], list[Entry]]:
        """:meth:`founding`, and the rows after one or with a key; in one round trip to a server."""
        if not self._postgres:
            return self.founding(lock=True), self._after_or_with_keys(sequence, keys)
        with self._driver.pipeline():
            begin = self._info.pop("begin", None)
            if begin is not None:
                self._run(begin)
            founding = self._run(self._founding_statement(lock=True), self._dataset)
            rows = self._run(
                "SELECT * FROM entries WHERE dataset = %s AND (sequence > %s OR key = ANY(%s)) "
                f"ORDER BY sequence LIMIT {_AT_ONCE}",
                self._dataset,
                sequence,
                keys,
            )
        return self._stored_founding(founding.fetchone()), [Entry(*row) for row in rows.fetchall()]

    def _after_or_with_keys(self, sequence: int, keys: list[str]) -> list[Entry]:
        marks = ", ".join("?" * len(keys))
        rows = self._run(
            "SELECT * FROM entries WHERE dataset = ? AND (sequence > ? "
            f"OR key IN ({marks})) ORDER BY sequence LIMIT {_AT_ONCE}",
            self._dataset,
            sequence,
            *keys,
        ).fetchall()
        return [Entry(*row) for row in rows]

    def with_keys(self, keys: Iterable[str]) -> Iterator[Entry]:
        """Rows with any of the idempotency keys."""
        wanted = list(keys)
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            marks = ", ".join([self._mark] * len(some))
            for row in self._run(
                f"SELECT * FROM entries WHERE dataset = {self._mark} AND key IN ({marks})",
                self._dataset,
                *some,
            ):
                yield Entry(*row)

    def add(self, entries: list[Entry]) -> None:
        """Insert rows, and read them back.

        Raises
        ------
        LedgerMismatchError
            When the database keeps a value in another type: every later reader would find the
            chain corrupted.
        """
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            if self._postgres:
                rows = self._insert_on_server(some)
            else:
                # SQLite's RETURNING gives whole doubles back as integers, so its rows are read.
                marks = ", ".join("?" * len(_COLUMNS))
                self._driver.executemany(
                    f"INSERT INTO entries ({', '.join(_COLUMNS)}) VALUES ({marks})",
                    [tuple(vars(each).values()) for each in some],
                )
                rows = self._read(some[0].sequence)
            given = [tuple(vars(entry).values()) for entry in some]
            kept = sorted(rows, key=lambda row: row[1])
            if kept != given or [list(map(type, row)) for row in kept] != [
                list(map(type, row)) for row in given
            ]:
                raise LedgerMismatchError(
                    "The event cannot be stored as it is; nothing was charged. Give texts and "
                    "numbers of Python's own types."
                )

    def _insert_on_server(self, entries: list[Entry]) -> list[Any]:
        if len(entries) == 1:
            statement, values = _INSERT_ONE, [*vars(entries[0]).values()]
        else:
            columns = zip(*(vars(each).values() for each in entries), strict=True)
            statement, values = _INSERT_MANY, [*map(list, columns)]
        rows: list[Any] = self._run(statement, *values).fetchall()
        return rows

    def found(self, founding: Founding) -> None:
        """Insert the first link of the chain."""
        marks = ", ".join([self._mark] * len(_FOUNDING_COLUMNS))
        self._run(
            f"INSERT INTO datasets ({', '.join(_FOUNDING_COLUMNS)}) VALUES ({marks})",
            *vars(founding).values(),
        )

    def insert(self, table: str, lines: Sequence[tuple[Any, ...]]) -> None:
        """Append lines to a table that stands beside the entries."""
        if lines:
            marks = ", ".join([self._mark] * len(lines[0]))
            with closing(self._driver.cursor()) as cursor:
                cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", lines)

    def all(self, question: str, *values: object) -> list[Any]:
        """Lines that a question gives; ``{0}`` stands for each value."""
        found: list[Any] = self._run(question.format(self._mark), *values).fetchall()
        return found

    def one(self, question: str, *values: object) -> Any:
        """First line that a question gives, or None."""
        return self._run(question.format(self._mark), *values).fetchone()

    def _run(self, statement: str, *values: object) -> Any:
        # Of the driver itself: on the way of a charge every call counts.
        return self._driver.execute(statement, values)


@final
class Book(OpenBook):
    """A data set whose rows were verified up to the last one.

    Parameters
    ----------
    connection : Connection
        Inside a transaction.
    founding : Founding
        What the handle expects.
    chain : Chain
        Rows that this process verified before; brought up to date.
    write : bool
        Lock the data set.
    where : str
        Name of the database, for messages.
    keys : list of str, optional
        Idempotency keys that will be looked up, for a charge.

    Raises
    ------
    LedgerMismatchError
        When the database holds another ledger, or a newer version's.
    LedgerCorruptedError
        When a row is not what was written.
    """

    def __init__(
        self,
        connection: Connection,
        founding: Founding,
        chain: Chain,
        *,
        write: bool,
        where: str,
        keys: list[str] | None = None,
    ) -> None:
        self._rows = Rows(connection, founding.name)
        self._dataset = founding.name
        self._chain = chain
        self._pending: dict[str, tuple[Entry, Posting]] = {}
        self._known: dict[str, Entry | None] = {}
        self.is_dirty = True  # until all is verified
        some = None
        if keys is not None:
            first = max(chain.position.sequence - 1, 0)
            (stored, version, self._time), some = self._rows.to_charge(first, keys)
        else:
            stored, version, self._time = self._rows.founding(lock=write)
        check_version(version)
        if stored != founding:  # the one expected was checked when the chain began
            if stored is not None and not is_sound(stored):
                raise LedgerCorruptedError(0, "(the account) is not the one that was founded")
            raise LedgerMismatchError(
                f"The database at {without_password(where)} does not hold this ledger any more: it "
                "is another one, or it was founded anew."
            )
        if write:
            bring_up(connection, version)
        self._verify_the_rest(keys or [], some)
        self.is_dirty = False

    @property
    def accounts(self) -> Accounts:
        return self._chain.accounts

    @property
    def time(self) -> str:
        return self._time

    @property
    def position(self) -> Position:
        """Place of the last row."""
        return self._chain.position

    def look_up(self, keys: Iterable[str]) -> None:
        """Read the rows of many keys at once."""
        wanted = {key for key in keys if key not in self._pending}
        self._known = dict.fromkeys(wanted)
        self._known |= {entry.key: entry for entry in self._rows.with_keys(wanted)}

    def find(self, key: str) -> Posting | None:
        if key in self._pending:
            return self._pending[key][1]
        entry = self.entry(key)
        return None if entry is None else entry.posting

    def entry(self, key: str) -> Entry | None:
        """Row with an idempotency key; None for one that this transaction adds."""
        if key not in self._known:
            self.look_up([key])
        return self._known[key]

    def append(self, posting: Posting) -> None:
        self.is_dirty = True
        event, position = posting.event, self._chain.position
        self._chain.accounts.add(posting)
        entry = Entry(
            dataset=self._dataset,
            sequence=position.sequence + 1,
            account=posting.account,
            key=event.key,
            kind=event.kind,
            charge=event.charge,
            unit=event.unit,
            event=event_text(event),
            note=posting.note,
            total=str(self._chain.accounts.total(posting.account)),
            created=self._time,
            previous=position.hash,
            user_id=posting.user,
            project_id=posting.project,
            expires=posting.expires,
        )
        vars(entry)["hash"] = entry.digest()
        self._chain.add(entry)
        self._pending[event.key] = (entry, posting)

    def flush(self) -> None:
        """Write what was appended."""
        if self._pending:
            self._rows.add([entry for entry, _ in self._pending.values()])

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Rows of all accounts."""
        return self._rows.after(after)

    def events(self, account: str, after: int = 0) -> Iterator[Event]:
        return (event_from_text(entry.event) for entry in self._rows.after(after, account))

    def _verify_the_rest(self, keys: list[str], some: list[Entry] | None) -> None:
        position = self._chain.position
        first = max(position.sequence - 1, 0)
        if some is not None and len(some) < _AT_ONCE:  # those are all after the first, or with keys
            self._known = dict.fromkeys(keys)
            self._known |= {entry.key: entry for entry in some if entry.key in self._known}
            rows = iter([entry for entry in some if entry.sequence > first])
        else:
            rows = self._rows.after(first)
        if position.sequence:
            head = next(rows, None)
            if head is None or head.sequence != position.sequence:
                raise LedgerCorruptedError(position.sequence, "is missing")
            if not self._chain.ends_in(head):
                raise LedgerCorruptedError(
                    position.sequence, "does not have the content it was written with"
                )
        for entry in rows:
            self._chain.verify(entry)
