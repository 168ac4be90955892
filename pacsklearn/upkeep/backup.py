"""Copies of ledgers: a log is read, verified and written to another database."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from pacsklearn.exceptions import LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.fold import Fold
from pacsklearn.kernel.ledger.founding import append_founding
from pacsklearn.kernel.ledger.high_water import HighWater
from pacsklearn.kernel.ledger.log import Log, MovedError, waits
from pacsklearn.kernel.ledger.row import Founding, Position
from pacsklearn.kernel.ledger.sqlite_file import SQLITE
from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
from pacsklearn.kernel.ledger.writer import run
from pacsklearn.upkeep.log_contents import answers_of, datasets_of
from pacsklearn.upkeep.verification import joined, verified


def backup(source: Path | str, target: Path) -> dict[str, Position]:
    """Copy a database to a file while it is in use, and verify the copy.

    Parameters
    ----------
    source : Path or str
        File, copied by SQLite's backup API with what else is in it (a plain copy may lack what
        still waits in its ``-wal`` file: charges); or address of a PostgreSQL server, whose rows
        are read at one moment.
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
    with SQLiteLog.new(target) as draft:
        run(address_of(source), lambda log: _copy(log, draft))
        return {name: fold.position for name, fold in _verified(draft).items()}


def restore(
    copy: Path,
    target: Path | str,
    heads: Iterable[tuple[str, Position]] = (),
    *,
    new_start: bool = False,
) -> dict[str, Position]:
    """Put a backup in the place of a ledger that was lost.

    What was charged after the backup was made is not in it: budget that was spent would be spent
    again. A ledger that has a high-water file tells, and is restored only up to it.

    Parameters
    ----------
    copy : Path
        From :func:`backup`.
    target : Path or str
        Where the ledger was, and no file is any more; or address of a PostgreSQL server that has
        none of the data sets, with the login that is to own them.
    heads : iterable of (str, Position)
        Data sets and positions that the backup must not be behind: of statements, say.
    new_start : bool, default=False
        Accept on purpose that the backup ends before what the high-water file states, or that the
        file is lost, and write the file anew.

    Returns
    -------
    dict
        Position of each data set.

    Raises
    ------
    LedgerMismatchError
        When the backup is behind one of the positions: what was charged since would be lost.
    LedgerCorruptedError
        When it is behind its high-water file.
    """
    with closing(SQLiteLog(address_of(copy))) as source:
        # Before anything is written: a backup that is behind is not put anywhere.
        for name, position in heads:
            row = source.row(name, position.sequence)
            if row is None or row.hash != position.hash:
                raise LedgerMismatchError(
                    f"The backup {copy} does not hold row {position.sequence} of the dataset "
                    f"{name!r} as it was released: it is older, and what was spent since would "
                    "be spent again. Restore a newer one."
                )
        if isinstance(target, Path):
            with SQLiteLog.new(target) as draft:
                source.copy_file(draft)
                return _settled(draft, _verified(draft), new_start=new_start)
        folds = _verified(source)
        positions = _settled(source, folds, new_start=new_start)
        run(target, Log.migrate)
        run(target, lambda log: _write(source, folds, log))
        return positions


def _settled(log: Log, folds: dict[str, Fold], *, new_start: bool) -> dict[str, Position]:
    """Return the positions, when no high-water file says that there was more."""
    positions = {}
    for name, fold in folds.items():
        if fold.founding.high_water:
            mark = HighWater(fold.founding)
            if new_start:
                mark.create(fold.position)
            else:
                mark.check(log)
        head = log.head(name)
        assert head is not None
        positions[name] = head.position
    return positions


def _copy(source: Log, draft: Log) -> None:
    if not source.copy_file(draft):
        draft.migrate()
        _write(source, _verified(source), draft)


def _verified(log: Log) -> dict[str, Fold]:
    """Return all data sets of a database, verified.

    Raises
    ------
    LedgerCorruptedError
    """
    with log.snapshot():
        log.check()
        return {name: verified(log.table(name), answers_of(log, name)) for name in datasets_of(log)}


def _write(source: Log, folds: dict[str, Fold], target: Log) -> None:
    """Write data sets to another database, each as a whole, where it has none of them."""
    for name in folds:
        if target.head(name) is not None:
            append_founding(target, source.founding(name))  # says that there is one
    for name, fold in folds.items():
        last = fold.last.number  # of a server others may have charged more in the meantime
        rows = (row for row in source.read(name, -1) if row.number <= last)
        answers = (each for each in answers_of(source, name) if each[0] <= last)
        target.append(name, None, [*joined(rows, answers)])


def mark(address: str, dataset: str) -> Position:
    """Write the high-water file of a ledger anew, on purpose: it was lost.

    Raises
    ------
    LedgerError
        When the ledger was founded without one.
    """

    def write(log: Log) -> Position:
        if not Founding.of(log.founding(dataset)).high_water:
            raise LedgerError("The ledger was founded without a high-water file.")
        for _ in waits():
            fold = _verified(log)[dataset]
            create = partial(HighWater(fold.founding).create, fold.position)
            # While nobody can write: the file would state an end that others have moved by now.
            with suppress(MovedError):
                log.append(dataset, fold.position, (), create)
                return fold.position
        raise MovedError

    position: Position = run(address, write)
    return position


def address_of(place: Path | str) -> str:
    """Return the address of a database; a path is an SQLite file's."""
    return SQLITE + str(place.resolve()) if isinstance(place, Path) else place
