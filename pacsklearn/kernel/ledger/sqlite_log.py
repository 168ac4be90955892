"""Logs in an SQLite file: write-ahead log, full synchronisation, never another file by mistake."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, final

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.ledger import time_text
from pacsklearn.kernel.ledger.log import VERSION, DoubtError, Log, MovedError, scripts, waits
from pacsklearn.kernel.ledger.row import Position, Row

SQLITE: Final = "sqlite:///"
"""What the address of a database in a file begins with."""

_SCRIPTS: Final = Path(__file__).with_name("sqlite")
_APPLICATION: Final = 0x50414332  # "PAC2", in the header of the file
# SQLite waits longer and longer, and whoever waits longest loses; short waits of our own are fair.
_BUSY_SECONDS: Final = 0.02
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NO_WRITING: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SIDES: Final = ("-wal", "-shm", "-journal")


@final
class SQLiteLog(Log):
    """Logs in one file.

    Parameters
    ----------
    address : str
        ``"sqlite:///"`` and an absolute path.
    """

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.path = address.removeprefix(SQLITE)
        self._raw: sqlite3.Connection | None = None
        self._file = (0, 0)
        self._mode = ""
        self._seen: object = None

    def ask(self, question: str, *values: object) -> list[Any]:
        with self._errors():
            lines: list[Any] = self._patiently(
                lambda: self._connected().execute(question, values).fetchall()
            )
            return lines

    def append(
        self,
        dataset: str,
        expected: Position | None,
        rows: Sequence[Row],
        before_commit: Callable[[], None] | None = None,
    ) -> None:
        with self._errors():
            raw = self._connected()
            # The write lock first: nobody moves the head between comparing and appending.
            self._patiently(lambda: raw.execute("BEGIN IMMEDIATE"))
            try:
                # And the file: its name may lead to another one by now.
                self._check_file()
                head = self.head(dataset)
                if (head and head.position) != expected:
                    raise MovedError
                raw.executemany(
                    "INSERT INTO log (dataset, number, key, line) VALUES (?, ?, ?, ?)",
                    [row[:4] for row in rows],
                )
                raw.executemany(
                    "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(dataset, row.number, *each) for row in rows for each in row.answers],
                )
                # A trigger may have changed them, or swallowed them, without an error.
                if rows and self.head(dataset) != rows[-1]._replace(answers=()):
                    raise LedgerCorruptedError(rows[-1].number, "is not kept by the database")
                if before_commit is not None:
                    before_commit()
            except BaseException:
                self._roll_back()
                raise
            try:
                raw.execute("COMMIT")
            except BaseException as error:
                # It may be on disk all the same, and be read by whoever opens the file next.
                self.close()
                if not isinstance(error, sqlite3.Error):
                    raise
                raise DoubtError(self._words(error), again=False) from None

    def settle(self, dataset: str) -> None:
        # After a failed synchronisation the kernel may take for written what is in memory only:
        # a checkpoint writes it again, to the file itself.
        for _ in waits():
            if not self.ask("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
                return
        raise LedgerError(f"The ledger at {self.path} is busy: the end of a charge is not known.")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._errors():
            raw = self._connected()
            raw.execute("BEGIN")
            try:
                self._patiently(lambda: raw.execute("SELECT 1 FROM sqlite_master LIMIT 1"))
                self._check_file()
                yield
            finally:
                self._roll_back()

    def table(self, dataset: str) -> Iterator[Row]:
        with self._errors():
            question = (
                "SELECT dataset, number, key, line FROM log NOT INDEXED WHERE dataset = ? "
                "ORDER BY rowid"
            )
            for row in self._connected().execute(question, (dataset,)):
                yield Row(*row)

    def check(self) -> None:
        # A damaged page is named by itself: its words hold no content.
        defects = self.ask("PRAGMA integrity_check(1)")
        if defects != [("ok",)]:
            raise LedgerCorruptedError(0, f"may be missing, or another one ({defects[0][0]})")
        self.check_version()
        with closing(sqlite3.connect(":memory:")) as new:
            for script in scripts(_SCRIPTS, 0):
                new.executescript(script)
            own = (
                "SELECT type, name, tbl_name, sql FROM sqlite_master "
                "WHERE lower(tbl_name) IN ('log', 'answers') ORDER BY 1, 2"
            )
            expected = new.execute(own).fetchall()
        if self.ask(own) != expected:
            raise LedgerCorruptedError(
                0, "may be another one: a table, an index or a trigger is not as it was made"
            )

    def version(self) -> int:
        with self._errors():
            self._connected()
        self._check_file()
        version = int(self.ask("PRAGMA user_version")[0][0])
        if version and self.ask("PRAGMA application_id")[0][0] == _APPLICATION:
            return version
        if self.ask("SELECT count(*) FROM sqlite_master")[0][0]:
            raise LedgerMismatchError(
                f"The database {self.path} holds something else than ledgers of this version; give "
                "the path of another file."
            )
        return 0

    def migrate(self) -> None:
        before = self.version()
        if before > VERSION:
            self.check_version()
        if before == VERSION:
            return
        with self._errors():
            raw = self._connected()
            self._patiently(lambda: raw.execute("BEGIN IMMEDIATE"))
            try:
                # Another process may have been first.
                for script in scripts(_SCRIPTS, self.version()):
                    for statement in _statements(script):
                        raw.execute(statement)
                raw.execute(f"PRAGMA application_id = {_APPLICATION}")
                raw.execute(f"PRAGMA user_version = {VERSION}")
                raw.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def copy_to(self, copy: sqlite3.Connection) -> None:
        """Copy the whole file, with what waits in its log, by SQLite's own means."""
        with self._errors():
            self._connected().backup(copy)

    def time(self) -> str:
        return time_text()

    def rest(self) -> None:
        if self._mode == "rw":
            return
        if "immutable" in self._mode and _state(self.path) != self._seen:
            self.close()
            raise LedgerError(
                f"The ledger at {self.path} was written while it was read; try again."
            )
        self.close()

    def close(self) -> None:
        raw, self._raw, self._mode = self._raw, None, "rw"
        if raw is not None:
            raw.close()

    def _connected(self) -> sqlite3.Connection:
        if self._raw is None:
            self._file = file_identity(self.path)
            for mode in ("rw", "ro", "ro&immutable=1"):
                # Read without locks only what nobody is writing: it may change any moment.
                self._seen = _state(self.path)
                if mode.endswith("1") and self._seen[-1]:
                    raise LedgerError(
                        f"The ledger at {self.path} has rows in its -wal file, which this user may "
                        "not read as they change; ask for the right to write, or read a backup."
                    )
                try:
                    self._raw, self._mode = connect(self.path, mode), mode
                    break
                except sqlite3.Error as error:
                    if not _is(error, _NO_WRITING) or mode.endswith("1"):
                        raise
            self._check_file()
        assert self._raw is not None
        return self._raw

    def _check_file(self) -> None:
        if file_identity(self.path) != self._file:
            self.close()
            raise LedgerError(
                f"The ledger at {self.path} was replaced while it was in use; check its position "
                "against what was released, then start again."
            )

    def _patiently(self, work: Callable[[], Any]) -> Any:
        for _ in waits():
            try:
                return work()
            except sqlite3.Error as error:
                if not _is(error, _BUSY):
                    raise
                busy = error
        raise busy

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):  # the first error says what is wrong
            if self._raw is not None and self._raw.in_transaction:
                self._raw.rollback()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self.close()
            if _is(error, _DAMAGED):
                raise LedgerCorruptedError(0, f"cannot be read ({error})") from None
            raise LedgerError(self._words(error)) from None
        except OSError as error:
            self.close()
            raise LedgerError(self._words(error)) from None

    def _words(self, error: Exception) -> str:
        reason = str(error)
        if reason == "disk I/O error":
            reason += " (is the disk full?)"
        return f"The ledger at {self.path} cannot be used: {reason}."


def connect(path: str, mode: str) -> sqlite3.Connection:
    """Connection to a file that exists: one that has vanished must not come back empty."""
    raw = sqlite3.connect(
        f"{Path(path).as_uri()}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if mode.startswith("rw"):
            (log,) = raw.execute("PRAGMA journal_mode = WAL").fetchone()
            raw.execute("PRAGMA synchronous = FULL")
            if log != "wal":
                raise LedgerError(
                    f"The file system of {path} does not allow write-ahead logging; put "
                    "the ledger on a local disk."
                )
        raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except BaseException:
        raw.close()
        raise
    return raw


def check_no_sides(path: str | Path) -> None:
    """Refuse a place where a file that is gone has left its log: it would be read into a new one.

    Raises
    ------
    LedgerError
    """
    for end in _SIDES:
        side = Path(f"{path}{end}")
        if side.exists():
            raise LedgerError(
                f"There is a {side} of a ledger that is not there any more, and it may hold "
                "charges: put the ledger back beside it, or move it away."
            )


def file_identity(path: str) -> tuple[int, int]:
    """Device and inode of a ledger's file.

    Raises
    ------
    LedgerError
        When there is none, or it has several names: each name has a write-ahead log of its own.
    """
    for _ in waits(1.0):  # a file that is just being founded has two for a moment
        try:
            status = os.stat(path)  # noqa: PTH116 - on the way of every charge
        except OSError:
            raise LedgerError(
                f"There is no ledger at {path}. Name one that was moved by its new place, or found "
                f"a new one: `pacsklearn ledger found {path} --ceiling ...`."
            ) from None
        if stat.S_ISDIR(status.st_mode):
            raise LedgerError(f"{path} is a folder; name the ledger's file.")
        if status.st_size == 0:
            raise LedgerError(f"The file {path} is empty: there is no ledger in it.")
        if status.st_nlink == 1:
            return status.st_dev, status.st_ino
    raise LedgerError(
        f"The file {path} has {status.st_nlink} names (hard links), and each has a log of its own: "
        "charges to one are not seen by the other. Remove all but one, with a symbolic link in the "
        "place of each."
    )


def _state(path: str) -> tuple[object, ...]:
    status, log = os.stat(path), Path(path + "-wal")  # noqa: PTH116
    return status.st_ino, status.st_mtime_ns, status.st_size, log.exists() and log.stat().st_size


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _is(error: Exception, codes: tuple[int, ...]) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in codes
