"""Logs in an SQLite file: write-ahead log, full synchronisation, never another file by mistake."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.book import time_text
from pacsklearn.kernel.ledger.log import VERSION, Log, scripts, waits
from pacsklearn.kernel.ledger.sqlite_file import (
    SQLITE,
    TakenError,
    connect,
    file_identity,
    file_state,
    ledger_path,
    new_file,
)

T = TypeVar("T")
_APPLICATION: Final = 0x50414332  # "PAC2", in the header of the file
_VERSION: Final = (
    "SELECT user_version, application_id FROM pragma_user_version, pragma_application_id"
)
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NO_WRITING: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class SQLiteLog(Log):
    """Logs in one file.

    Parameters
    ----------
    address : str
        ``"sqlite:///"`` and an absolute path.
    """

    name = "sqlite"
    description = "a file on a local disk"
    scripts = Path(__file__).with_name("sqlite")
    errors = (sqlite3.Error, OSError, UnicodeDecodeError)
    # The write lock first: nobody moves the head between comparing and appending.
    begin = ("BEGIN", "BEGIN IMMEDIATE")
    scan = "NOT INDEXED WHERE dataset = ? ORDER BY rowid"

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.path = address.removeprefix(SQLITE)
        self._file = (0, 0)
        self._mode = "rw"
        self._seen: tuple[object, ...] = ()

    @staticmethod
    def own_address(uri: str) -> str:
        return SQLITE + str(ledger_path(uri))

    def settle(self, dataset: str) -> None:
        # After a failed synchronisation the kernel may take for written what is in memory only:
        # a checkpoint writes it again, to the file itself.
        for _ in waits():
            if not self.ask("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
                return
        raise LedgerError(f"The ledger at {self.path} is busy: the end of a charge is not known.")

    def check(self) -> None:
        # Of what is read here, with its indices: what else is in the file may be far larger.
        for table in ("sqlite_schema", "log", "answers"):
            defects = self.ask(f"PRAGMA integrity_check('{table}')")
            if defects != [("ok",)]:  # a damaged page is named by itself: no content is quoted
                raise LedgerCorruptedError(0, f"may be missing, or another one ({defects[0][0]})")
        self.check_version()
        with closing(sqlite3.connect(":memory:")) as new:
            for script in scripts(self.scripts):
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
        ((version, application),) = self.ask(_VERSION)
        if version and application == _APPLICATION:
            return int(version)
        if self.ask("SELECT count(*) FROM sqlite_master")[0][0]:
            raise LedgerMismatchError(
                f"The database {self.path} holds something else than ledgers of this version; give "
                "the path of another file."
            )
        return 0

    def create(self, write: Callable[[Log], T]) -> T:
        path = Path(self.path)
        if not path.exists():
            try:
                with type(self).new(path) as draft:
                    return write(draft)
            except TakenError:  # another process was first
                if not path.exists():
                    raise
        return write(self)

    def copy_file(self, draft: Log) -> bool:
        self.check_version()
        # Its errors are of the draft, and named by whoever makes that: this file was just read.
        with closing(sqlite3.connect(draft.address.removeprefix(SQLITE))) as copy:
            self._connected().backup(copy)
            copy.execute("PRAGMA journal_mode = WAL")
        self.rest()
        return True

    @classmethod
    @contextmanager
    def new(cls, target: Path) -> Iterator[SQLiteLog]:
        """Return a log of a file that appears as a whole when block has ended well, or not at all.

        Raises
        ------
        LedgerError
            When a file is there, or it cannot be written; nothing is left of it then.
        """
        with new_file(target) as draft:
            log = cls(SQLITE + str(draft))
            try:
                yield log
            finally:
                log.close()  # the last connection moves the log into the file

    def time(self) -> str:
        return time_text()

    def rest(self) -> None:
        if self._raw is not None and self._mode != "rw":
            self.close()
            if self._mode != "ro" and file_state(self.path) != self._seen:
                raise LedgerError(
                    f"The ledger at {self.path} was written while it was read; try again."
                )

    def _connected(self) -> Any:
        if self._raw is None:
            self._file = file_identity(self.path)
            for self._mode in ("rw", "ro", "ro&immutable=1"):
                # Read without locks only what nobody is writing: it may change any moment.
                self._seen, last = file_state(self.path), self._mode.endswith("1")
                if last and self._seen[-1]:
                    raise LedgerError(
                        f"The ledger at {self.path} has rows in its -wal file, which this user may "
                        "not read as they change; ask for the right to write, or read a backup."
                    )
                try:
                    self._raw = connect(self.path, self._mode)
                    break
                except sqlite3.Error as error:
                    if last or not _is(error, _NO_WRITING):
                        raise
        # Its name may lead to another file by now.
        if file_identity(self.path) != self._file:
            self.close()
            raise LedgerError(
                f"The ledger at {self.path} was replaced while it was in use; check its position "
                "against what was released, then start again."
            )
        return self._raw

    def _lines(self, question: str, values: tuple[object, ...]) -> list[Any]:
        for _ in waits():
            try:
                return super()._lines(question, values)
            except sqlite3.Error as error:
                if not _is(error, _BUSY):
                    raise
                busy = error
        raise busy

    def _make_tables(self) -> None:
        # Another process may have been first.
        for script in scripts(self.scripts, self.version()):
            for statement in script.split(";\n"):
                self.ask(statement)
        self.ask(f"PRAGMA application_id = {_APPLICATION}")
        self.ask(f"PRAGMA user_version = {VERSION}")

    def _named(self, error: Exception) -> LedgerError:
        # What is no text was never written by us; the driver's words would show it.
        words = "no text" if "decode" in str(error) else str(error)
        if words == "no text" or _is(error, _DAMAGED):
            return LedgerCorruptedError(0, f"cannot be read ({words})")
        full = " (is the disk full?)" if str(error) == "disk I/O error" else ""
        return LedgerError(f"The ledger at {self.path} cannot be used: {error}{full}.")


def _is(error: Exception, codes: tuple[int, ...]) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in codes
