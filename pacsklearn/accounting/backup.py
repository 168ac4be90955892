"""Copies of a ledger, made while it is in use, and put back only when they are whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from pacsklearn.accounting.chain import verify_chain
from pacsklearn.accounting.database import run
from pacsklearn.accounting.entry import Position
from pacsklearn.accounting.founding import foundings
from pacsklearn.accounting.new_file import new_file
from pacsklearn.accounting.rows import open_rows
from pacsklearn.accounting.schema import check_version, schema_version
from pacsklearn.accounting.sqlite_database import SQLITE, connect, connect_to_read
from pacsklearn.accounting.transfer import move
from pacsklearn.exceptions import LedgerError, LedgerMismatchError


def backup(source: Path | str, target: Path) -> dict[str, Position]:
    """Copy a database to a file while it is in use, and verify the copy.

    Parameters
    ----------
    source : Path or str
        File, copied by SQLite's backup API (a plain copy may lack what still waits in its ``-wal``
        file: charges); or address of a PostgreSQL server, whose rows are read at one moment.
    target : Path
        New file; an SQLite ledger with the same rows.

    Returns
    -------
    dict
        Position of each data set in the copy.

    Raises
    ------
    LedgerError
        When the target exists, or there is no ledger.
    LedgerCorruptedError
        When a row is wrong; no copy is left then.
    """
    with new_file(target) as draft:
        if isinstance(source, Path):
            _copy_file(source, draft)
        else:
            connect(str(draft), "rwc").close()
            move(source, SQLITE + str(draft))
        return verify_file(draft)


def restore(
    copy: Path, target: Path | str, heads: Iterable[tuple[str, Position]] = ()
) -> dict[str, Position]:
    """Put a backup in the place of a ledger that was lost.

    Parameters
    ----------
    copy : Path
        From :func:`backup`.
    target : Path or str
        Where the ledger was, and no file is any more; or address of a PostgreSQL server that has
        none of the data sets, with the login that is to own them.
    heads : iterable of (str, Position)
        Data sets and positions that the backup must not be behind: of statements, say.

    Returns
    -------
    dict
        Position of each data set.

    Raises
    ------
    LedgerMismatchError
        When the backup is behind one of the positions: what was charged since would be lost.
    """
    for name, position in heads:
        hash_then = partial(_hash_at, name, position.sequence)
        if run(SQLITE + str(copy), hash_then, write=False) != position.hash:
            raise LedgerMismatchError(
                f"The backup {copy} does not hold row {position.sequence} of the dataset {name!r} "
                "as it was released: it is older, and what was spent since would "
                "be spent again. Restore a newer one."
            )
    if isinstance(target, Path):
        return backup(copy, target)
    return move(SQLITE + str(copy), target)


def _copy_file(path: Path, draft: Path) -> None:
    if not path.exists():
        raise LedgerError(f"There is no ledger at {path}.")
    try:
        with closing(connect_to_read(str(path))) as source, closing(sqlite3.connect(draft)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = WAL")
    except sqlite3.Error as error:
        raise LedgerError(f"The ledger at {path} cannot be copied: {error}.") from None


def verify_file(path: Path) -> dict[str, Position]:
    """Verify all data sets of a database; their positions.

    Raises
    ------
    LedgerCorruptedError
    """
    return run(SQLITE + str(path), _verify_all, write=False)


def _verify_all(connection: Connection) -> dict[str, Position]:
    check_version(schema_version(connection))
    return {
        founding.name: verify_chain(founding, open_rows(connection, founding.name).after(0))
        for founding in foundings(connection)
    }


def _hash_at(name: str, sequence: int, connection: Connection) -> str | None:
    if sequence == 0:
        return {each.name: each.hash for each in foundings(connection)}.get(name)
    row = next(open_rows(connection, name).after(sequence - 1), None)
    return None if row is None else row.hash
