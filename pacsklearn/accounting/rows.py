"""Rows of one data set, as its database keeps them: read and appended inside a transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import fields
from typing import Any, ClassVar, Final

from sqlalchemy import Connection

from pacsklearn.accounting.entry import Entry, Founding, types_of
from pacsklearn.exceptions import LedgerMismatchError

COLUMNS: Final = Entry._fields
FOUNDING_COLUMNS: Final = [field.name for field in fields(Founding)]
FEW: Final = 100
"""Others' rows that a charge reads together with everything else."""

_AT_ONCE: Final = 1000


class Rows(ABC):
    """The statements that a ledger is read and written with.

    Parameters
    ----------
    connection : Connection
        Inside a transaction.
    dataset : str
    """

    mark: ClassVar[str]
    """Stands for a value in a statement."""

    def __init__(self, connection: Connection, dataset: str) -> None:
        self.dataset = dataset
        # Statements are the driver's own: on the way of a charge every call counts.
        self.driver: Any = connection.connection.driver_connection

    @abstractmethod
    def founding(self, *, lock: bool) -> tuple[Founding | None, int, str]:
        """First link of the chain, version of the schema, and the time; locks the data set."""

    @abstractmethod
    def to_charge(
        self, sequence: int, keys: list[str]
    ) -> tuple[tuple[Founding | None, int, str], list[Entry], list[Entry]]:
        """:meth:`founding`, the first :data:`FEW` rows after one, and the rows with a key."""

    @abstractmethod
    def write(self, entries: list[Entry]) -> list[Any]:
        """Insert rows, and return them as the database keeps them, in order."""

    def run(self, statement: str, *values: object) -> Any:
        """Cursor of a statement."""
        return self.driver.execute(statement, values)

    def after(self, sequence: int, account: str | None = None) -> Iterator[Entry]:
        """Rows with a larger number, of one account or of all; as they stand, unchecked."""
        of_account = "" if account is None else f"AND account = {self.mark} "
        named = () if account is None else (account,)
        while True:
            rows = self.run(
                f"SELECT * FROM entries WHERE dataset = {self.mark} {of_account}"
                f"AND sequence > {self.mark} ORDER BY sequence LIMIT {_AT_ONCE}",
                self.dataset,
                *named,
                sequence,
            ).fetchall()
            for row in rows:
                yield Entry(*row)
            if len(rows) < _AT_ONCE:
                return
            sequence = rows[-1][1]

    def with_keys(self, keys: list[str]) -> Iterator[Entry]:
        """Rows with any of a few idempotency keys."""
        marks = ", ".join([self.mark] * len(keys))
        question = f"SELECT * FROM entries WHERE dataset = {self.mark} AND key IN ({marks})"
        return (Entry(*row) for row in self.run(question, self.dataset, *keys))

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
            kept = self.write(some)
            if kept != some or [*map(types_of, kept)] != [*map(types_of, some)]:
                raise LedgerMismatchError(
                    "The event cannot be stored as it is; nothing was charged. Give texts and "
                    "numbers of Python's own types."
                )

    def insert_founding(self, founding: Founding) -> None:
        """Insert the first link of the chain."""
        marks = ", ".join([self.mark] * len(FOUNDING_COLUMNS))
        self.run(
            f"INSERT INTO datasets ({', '.join(FOUNDING_COLUMNS)}) VALUES ({marks})",
            *vars(founding).values(),
        )

    def insert(self, table: str, lines: Sequence[tuple[Any, ...]]) -> None:
        """Append lines to a table that stands beside the entries."""
        if lines:
            marks = ", ".join([self.mark] * len(lines[0]))
            with closing(self.driver.cursor()) as cursor:
                cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", lines)

    def beside(self, table: str, owner: str, key: str) -> Iterator[list[Any]]:
        """All lines of a table that stands beside the entries, a part at a time.

        ``owner`` and ``key`` are its columns after the data set, and tell its lines apart.
        """
        last: tuple[Any, ...] = ()
        while True:
            further = f"AND ({owner}, {key}) > ({self.mark}, {self.mark}) " if last else ""
            lines: list[Any] = self.run(
                f"SELECT * FROM {table} WHERE dataset = {self.mark} {further}"
                f"ORDER BY {owner}, {key} LIMIT {_AT_ONCE}",
                self.dataset,
                *last,
            ).fetchall()
            if lines:
                yield lines
            if len(lines) < _AT_ONCE:
                return
            last = lines[-1][1:3]

    def all(self, question: str, *values: object) -> list[Any]:
        """Lines that a question gives; ``{0}`` stands for each value."""
        lines: list[Any] = self.run(question.format(self.mark), *values).fetchall()
        return lines

    def one(self, question: str, *values: object) -> Any:
        """First line that a question gives, or None."""
        return self.run(question.format(self.mark), *values).fetchone()


def open_rows(connection: Connection, dataset: str) -> Rows:
    """Rows of a data set in the database that a connection leads to.

    Parameters
    ----------
    connection : Connection
        Inside a transaction.
    dataset : str
    """
    if connection.dialect.name == "sqlite":
        from pacsklearn.accounting.sqlite_rows import SQLiteRows

        return SQLiteRows(connection, dataset)
    from pacsklearn.accounting.postgres_rows import PostgresRows

    return PostgresRows(connection, dataset)
