"""Transactions in the database of a service, which is a file or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.address import without_password


class Connection(ABC):
    """One connection, of one thread at a time.

    Tables and columns are named by the code alone ("our names"); values are bound.

    Parameters
    ----------
    address : str
        As ledgers in the database are opened with.
    patience : float
        Seconds to wait for others' locks.

    Attributes
    ----------
    locked : str
        Ends a question whose rows nobody else may change before the transaction ends.
    errors : type
        What the driver raises.
    mark : str
        What stands for a value in a statement of the driver.
    begin : tuple of str
        Statements that begin a transaction: one that reads, and one that writes.
    claim : tuple of str
        Statements that keep others from making tables until the transaction ends.
    """

    locked: ClassVar[str]
    errors: ClassVar[type[Exception]]
    mark: ClassVar[str]
    begin: ClassVar[tuple[str, str]]
    claim: ClassVar[tuple[str, ...]]

    def __init__(self, address: str, patience: float) -> None:
        self.address, self._patience = address, patience
        self._raw: Any = None

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[None]:
        """Run the block in one transaction: on disk if it ends well, else undone.

        Raises
        ------
        LedgerError
            When the database cannot be used; its words quote neither values nor a password.
        """
        self._begin(self.begin[write])
        try:
            yield
            self._commit()
        except BaseException:
            if self._raw is not None:
                with suppress(self.errors):  # the first error says what is wrong
                    self._raw.rollback()
            raise

    @abstractmethod
    def now(self) -> float:
        """Return the seconds since 1970, by the clock that all who write here share."""

    @abstractmethod
    def place(self) -> str:
        """Return what tells this database from a copy of it."""

    @abstractmethod
    def _begin(self, statement: str) -> None:
        """Begin a transaction, on a connection that is made where there is none."""

    @abstractmethod
    def _commit(self) -> None:
        """Have the transaction on disk."""

    @abstractmethod
    def _reason(self, error: Any) -> str:
        """Return what an error of the driver says; neither values nor a password."""

    @abstractmethod
    def end_frozen(self, seconds: float) -> None:
        """End transactions of a process that has stood still for so long, where they lock us out.

        Only for who takes the lease: whoever had it has let it end.
        """

    def close(self) -> None:
        """Give the connection back."""
        raw, self._raw = self._raw, None
        if raw is not None:
            with suppress(self.errors):
                raw.close()

    def ask(self, question: str, *values: Any) -> list[dict[str, Any]]:
        """Return the rows that a question gives; ``?`` stands for each value."""
        rows: list[dict[str, Any]] = self._run(question, values).fetchall()
        return rows

    def change(self, statement: str, *values: Any) -> int:
        """Execute a statement; how many rows it has changed."""
        return int(self._run(statement, values).rowcount)

    def insert(self, table: str, **values: Any) -> None:
        """Insert one row."""
        self.insert_all(table, tuple(values), [tuple(values.values())])

    def insert_all(
        self, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
    ) -> None:
        """Insert rows."""
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join("?" * len(columns))
        if rows:
            statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - our names
            self._run(statement, rows, many=True)

    def rows(self, table: str, **where: Any) -> list[dict[str, Any]]:
        """Return rows as they stand."""
        question = f"SELECT * FROM {table} WHERE {_equal(where)}"  # noqa: S608 - our names
        return self.ask(question, *where.values())

    def update(self, table: str, values: Mapping[str, Any], **where: Any) -> int:
        """Set values of rows; how many there were."""
        which, new = _equal(where), _equal(values, ", ")
        statement = f"UPDATE {table} SET {new} WHERE {which}"  # noqa: S608 - our names
        return self.change(statement, *values.values(), *where.values())

    def delete(self, table: str, **where: Any) -> int:
        """Delete rows; how many there were."""
        statement = f"DELETE FROM {table} WHERE {_equal(where)}"  # noqa: S608 - our names
        return self.change(statement, *where.values())

    def _run(self, statement: str, values: Sequence[Any] = (), *, many: bool = False) -> Any:
        """Execute a statement, with each of several lines of values if many."""
        if self._raw is None:
            raise self._error("it was lost")
        try:
            cursor = self._raw.cursor()
            run = cursor.executemany if many else cursor.execute
            run(statement.replace("?", self.mark), *([values] if values else []))
        except self.errors as error:
            raise self._error(self._reason(error)) from None
        return cursor

    def _error(self, reason: str) -> LedgerError:
        name = without_password(self.address)
        return LedgerError(f"The database {name} cannot be used: {reason}.")


def _equal(names: Iterable[str], between: str = " AND ") -> str:
    return between.join(f'"{name}" = ?' for name in names)
