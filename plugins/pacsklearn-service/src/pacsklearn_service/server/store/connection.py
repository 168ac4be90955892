"""Transactions in the database of a service, which is a file or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar


class Connection(ABC):
    """One connection, of one thread at a time.

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
    """

    locked: ClassVar[str]

    def __init__(self, address: str, patience: float) -> None:
        self.address, self._patience = address, patience

    @abstractmethod
    def transaction(self, *, write: bool) -> AbstractContextManager[None]:
        """Block in one transaction, on disk when it has ended well and undone when it has not.

        Raises
        ------
        LedgerError
            When the database cannot be used; its words quote neither values nor a password.
        """

    @abstractmethod
    def claim_tables(self) -> None:
        """Keep others from making tables until the transaction ends."""

    @abstractmethod
    def now(self) -> float:
        """Seconds since 1970, by the clock that all who write here share."""

    @abstractmethod
    def close(self) -> None:
        """Give the connection back."""

    @abstractmethod
    def _run(self, statement: str, values: tuple[Any, ...]) -> Any:
        """Cursor of a statement that was executed; ``?`` stands for each value."""

    @abstractmethod
    def _run_all(self, statement: str, lines: Sequence[tuple[Any, ...]]) -> None:
        """Execute a statement with the values of each line."""

    @abstractmethod
    def end_frozen(self, seconds: float) -> None:
        """End transactions of a process that has stood still for so long, where they lock us out.

        Only for who takes the lease: whoever had it has let it end.
        """

    def ask(self, question: str, *values: Any) -> list[dict[str, Any]]:
        """Rows that a question gives; ``?`` stands for each value."""
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
            self._run_all(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)  # noqa: S608

    def delete(self, table: str, **where: Any) -> int:
        """Delete rows; how many there were."""
        which = " AND ".join(f'"{name}" = ?' for name in where)
        return self.change(f"DELETE FROM {table} WHERE {which}", *where.values())  # noqa: S608
