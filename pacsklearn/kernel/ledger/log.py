"""An append-only log in a database: its head, compare-and-append, and reading."""

from __future__ import annotations

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar, final

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.address import without_password
from pacsklearn.kernel.ledger.row import Position, Row

T = TypeVar("T")

PATIENCE = 120.0
"""Seconds to wait for other processes, or for a server, before giving up."""

VERSION: Final = 1
"""Of the tables: the last script of the folders ``sqlite`` and ``postgresql``."""

_AT_ONCE: Final = 1000
_ROW: Final = "SELECT dataset, number, key, line FROM log"
_NEW_ROW: Final = "INSERT INTO log (dataset, number, key, line) VALUES (?, ?, ?, ?)"
_NEW_ANSWER: Final = "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)"


@final
class MovedError(LedgerError):
    """Others appended first: read their rows, and try again."""

    def __init__(self) -> None:
        super().__init__("Others append to the ledger without end; try again.")


@final
class UnreachableError(LedgerError):
    """The database was lost before anything was written."""


@final
class DoubtError(LedgerError):
    """The end of a transaction was not seen: it may have been committed, or not.

    Parameters
    ----------
    error : LedgerError
        What is wrong, if it was not.
    """

    def __init__(self, error: LedgerError) -> None:
        super().__init__(str(error))
        self.error = error


class Log(ABC):
    """Logs of the data sets of one database; used by the thread of that database only.

    A kind of database is a subclass, found by the word that its addresses begin with. Its driver is
    a module of Python's database interface (PEP 249) whose connections execute statements.

    Parameters
    ----------
    address : str
        As :meth:`own_address` gives it.

    Attributes
    ----------
    name : str
        What comes before ``://``.
    description : str
    scripts : Path
        Folder of the numbered scripts that make the tables.
    errors : tuple of type
        What the driver raises when the database cannot be used.
    mark : str
        What stands for a value in a statement of the driver.
    begin : tuple of str
        Statements that begin a transaction: one that reads, and sees everything as of one moment,
        and one that writes.
    scan : str
        What a question for the rows of a data set ends in that reads the table through no index, in
        their order.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    scripts: ClassVar[Path]
    errors: ClassVar[tuple[type[Exception], ...]]
    mark: ClassVar[str] = "?"
    begin: ClassVar[tuple[str, str]]
    scan: ClassVar[str]

    def __init__(self, address: str) -> None:
        self.address = address
        self._raw: Any = None
        self._is_inside = False

    @staticmethod
    @abstractmethod
    def own_address(uri: str) -> str:
        """Return the one address of a database that its connections are kept by.

        Raises
        ------
        LedgerError
            When it is none.
        """

    @abstractmethod
    def settle(self, dataset: str) -> None:
        """Wait for the end of a transaction in doubt; what can be read then is durable."""

    @abstractmethod
    def check(self) -> None:
        """Have the database check itself, and compare tables and triggers with the scripts.

        Raises
        ------
        LedgerCorruptedError
        """

    @abstractmethod
    def version(self) -> int:
        """Return the version of the tables, 0 for none."""

    @abstractmethod
    def time(self) -> str:
        """Return the time by the clock that all who write here share."""

    @abstractmethod
    def _connected(self) -> Any:
        """Return the connection of the driver, made where there is none.

        Transactions are begun by name.
        """

    @abstractmethod
    def _make_tables(self) -> None:
        """Run the scripts that are missing, inside a transaction."""

    @abstractmethod
    def _named(self, error: Exception) -> LedgerError:
        """Return what an error of the driver says about the ledger."""

    def ask(self, question: str, *values: object) -> list[Any]:
        """Return the lines that a question gives; ``?`` stands for each value."""
        with self._errors():
            try:
                return self._lines(question, values)
            except self.errors as error:
                if self._is_inside or not isinstance(self._named(error), UnreachableError):
                    raise
            self.close()  # the server was started anew in between
            return self._lines(question, values)

    def append(
        self,
        dataset: str,
        expected: Position | None,
        rows: Sequence[Row],
        before_commit: Callable[[], None] | None = None,
    ) -> None:
        """Append rows after the expected head; they are on disk when this returns.

        Parameters
        ----------
        dataset : str
        expected : Position or None
            None for a data set that is founded.
        rows : sequence of Row
        before_commit : callable, optional
            Called when nothing but the commit is left to do.

        Raises
        ------
        MovedError
            When the head is another one; nothing is written then.
        DoubtError
            When the commit may have taken effect, or not.
        LedgerError
            When it cannot be written; nothing is.
        """
        with self._transaction(write=True):
            self._insert(dataset, expected, rows)
            if before_commit is not None:
                before_commit()

    def snapshot(self) -> AbstractContextManager[None]:
        """Return the block in which everything is read as of one moment."""
        return self._transaction(write=False)

    def migrate(self) -> int:
        """Make the tables, or bring them to this version, as their owner; the version they had."""
        before = self.version()
        if before > VERSION:
            self.check_version()
        if before != VERSION:
            with self._transaction(write=True):
                self._make_tables()
            self.close()  # the connection is older than the tables
        return before

    def create(self, write: Callable[[Log], T]) -> T:
        """Write to the database; a file that is not there appears with it, as a whole."""
        return write(self)

    def copy_file(self, draft: Log) -> bool:
        """Copy the database as it is, with what else is in it, to a file; whether that is done."""
        return False

    def rest(self) -> None:
        """Close what may not be kept open while nothing is asked."""
        return

    def close(self) -> None:
        """Give the connection back."""
        raw, self._raw = self._raw, None
        if raw is not None:
            with suppress(*self.errors):
                raw.close()

    def _lines(self, question: str, values: tuple[object, ...]) -> list[Any]:
        bound = [values] if values else []
        cursor = self._connected().execute(question.replace("?", self.mark), *bound)
        return cursor.fetchall() if cursor.description else []

    def _insert(self, dataset: str, expected: Position | None, rows: Sequence[Row]) -> None:
        """Write rows after the expected head, in a transaction that keeps others from moving it."""
        head = self.head(dataset)
        if (head and head.position) != expected:
            raise MovedError
        self._write(_NEW_ROW, [row[:4] for row in rows])
        answers = [(dataset, row.number, *each) for row in rows for each in row.answers]
        self._write(_NEW_ANSWER, answers)
        # A trigger may have changed them, or swallowed them, without an error.
        if rows and self.head(dataset) != rows[-1]._replace(answers=()):
            raise LedgerCorruptedError(rows[-1].number, "is not kept by the database")

    def _write(self, statement: str, lines: Sequence[tuple[object, ...]]) -> None:
        if lines:
            self._raw.cursor().executemany(statement.replace("?", self.mark), lines)

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[None]:
        with self._errors():
            self.ask(self.begin[write])
            self._is_inside = True
            try:
                yield
                if write:
                    self._commit()
            finally:
                self._is_inside = False
                with suppress(*self.errors):  # the first error says what is wrong
                    if self._raw is not None:
                        self._raw.rollback()

    def _commit(self) -> None:
        try:
            self._raw.execute("COMMIT")
        except BaseException as error:
            # It may be on disk all the same, and be read by whoever connects next.
            self.close()
            if not isinstance(error, self.errors):
                raise
            raise DoubtError(self._named(error)) from None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except LedgerError:
            raise
        except self.errors as error:
            self.close()
            raise self._named(error) from None

    def check_version(self) -> None:
        """Refuse tables of another version.

        Raises
        ------
        LedgerMismatchError
        """
        if (version := self.version()) > VERSION:
            raise LedgerMismatchError(
                f"The database has version {version} of the tables, and this pacsklearn knows up "
                f"to {VERSION}: a newer one has changed it. Upgrade pacsklearn, then start again."
            )
        if version != VERSION:
            name = without_password(self.address)
            raise LedgerError(
                f"There is no ledger at {name}."
                if version == 0
                else f"The database {name} has version {version} of the tables; let its owner run "
                f"`pacsklearn ledger migrate {name}`."
            )

    def founding(self, dataset: str) -> Row:
        """Return the first row.

        Raises
        ------
        LedgerError
            When there is no such ledger: one that was lost must not come back with nothing spent.
        """
        self.check_version()
        if (row := self.row(dataset, 0)) is None:
            name = without_password(self.address)
            others = self.ask("SELECT dataset FROM log WHERE number = 0 ORDER BY 1 LIMIT 5")
            listed = ", ".join(repr(other) for (other,) in others)
            held = f" (it has {listed}: name one by dataset= or --dataset)" * bool(others)
            raise LedgerError(
                f"{name} has no ledger for the dataset {dataset!r}{held}; found it first: "
                f"`pacsklearn ledger found {name} --ceiling ... --dataset {dataset!r}`."
            )
        return row

    def head(self, dataset: str) -> Row | None:
        """Return the last row."""
        return self._one("dataset = ? ORDER BY number DESC LIMIT 1", dataset)

    def row(self, dataset: str, number: int) -> Row | None:
        """Return the row with a number."""
        return self._one("dataset = ? AND number = ?", dataset, number)

    def find(self, dataset: str, key: str) -> Row | None:
        """Return the row with a key."""
        return self._one("dataset = ? AND key = ?", dataset, key)

    def _one(self, where: str, *values: object) -> Row | None:
        lines = self.ask(f"{_ROW} WHERE {where}", *values)
        return Row(*lines[0]) if lines else None

    def read(self, dataset: str, after: int) -> Iterator[Row]:
        """Yield the rows after one, in order; as they stand, unchecked."""
        question = f"{_ROW} WHERE dataset = ? AND number > ? ORDER BY number LIMIT {_AT_ONCE}"
        # By parts: no transaction stays open, and no other waits, while a long log is read.
        while True:
            rows = self.ask(question, dataset, after)
            yield from (Row(*row) for row in rows)
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1][1]

    def table(self, dataset: str) -> Iterator[Row]:
        """Yield all rows, read from the table and through no index, inside a snapshot."""
        question = f"{_ROW} {self.scan}".replace("?", self.mark)
        with self._errors():
            # Nothing is asked when this ends early: that may be in the middle of another question,
            # where garbage is collected.
            yield from (Row(*row) for row in self._connected().execute(question, (dataset,)))


def waits(seconds: float | None = None) -> Iterator[None]:
    """Yield again and again, after short waits, until patience is at its end."""
    # At random: those who wait together do not come back together.
    deadline = time.monotonic() + (PATIENCE if seconds is None else seconds)
    while True:
        yield
        if time.monotonic() > deadline:
            return
        time.sleep(0.001 * (1 + secrets.randbelow(10)))


def scripts(folder: Path, after: int = 0) -> list[str]:
    """Return the numbered scripts of a folder that come after a version."""
    files = sorted(folder.glob("*.sql"))
    return [file.read_text(encoding="utf-8") for file in files if int(file.name[:3]) > after]
