"""Rows of one data set in an SQLite file."""

from __future__ import annotations

from typing import Any, Final, final

from pacsklearn.accounting.entry import Entry, Founding
from pacsklearn.accounting.rows import COLUMNS, FEW, Rows
from pacsklearn.accounting.schema import check_version
from pacsklearn.core.ledger import time_text

_VERSION: Final = "PRAGMA user_version"
_FOUNDING: Final = "SELECT * FROM datasets WHERE name = ?"
_AFTER: Final = (
    f"SELECT * FROM entries WHERE dataset = ? AND sequence > ? ORDER BY sequence LIMIT {FEW}"
)
_KEPT: Final = "SELECT * FROM entries WHERE dataset = ? AND sequence >= ? ORDER BY sequence"
_INSERT: Final = (
    f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
)


@final
class SQLiteRows(Rows):
    """Rows in a file; a statement is a call."""

    mark = "?"

    def founding(self, *, lock: bool) -> tuple[Founding | None, int, str]:
        (version,) = self.run(_VERSION).fetchone()
        check_version(version)
        stored = self.run(_FOUNDING, self.dataset).fetchone()
        return None if stored is None else Founding(*stored), version, time_text()

    def to_charge(
        self, sequence: int, keys: list[str]
    ) -> tuple[tuple[Founding | None, int, str], list[Entry], list[Entry]]:
        founding = self.founding(lock=True)
        after = self.run(_AFTER, self.dataset, sequence).fetchall()
        return founding, [Entry(*row) for row in after], [*self.with_keys(keys)]

    def write(self, entries: list[Entry]) -> list[Any]:
        # SQLite's RETURNING gives whole doubles back as integers, so its rows are read.
        self.driver.executemany(_INSERT, entries)
        rows: list[Any] = self.run(_KEPT, self.dataset, entries[0].sequence).fetchall()
        return rows
