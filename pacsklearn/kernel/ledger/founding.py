"""Founding a ledger is an act of its own; opening one never founds it."""

from __future__ import annotations

from pathlib import Path

from pacsklearn.exceptions import LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.accounts import Terms
from pacsklearn.kernel.ledger.high_water import HighWater
from pacsklearn.kernel.ledger.log import VERSION, Log, MovedError, without_password
from pacsklearn.kernel.ledger.new_file import TakenError, check_free, new_file
from pacsklearn.kernel.ledger.row import Founding, Row, founding_row
from pacsklearn.kernel.ledger.sqlite_log import SQLITE
from pacsklearn.kernel.ledger.writer import run


def write_founding(address: str, dataset: str, terms: Terms, high_water: str) -> None:
    """Write the first row of a data set's log; makes the file of an SQLite database.

    Raises
    ------
    LedgerError
        When there is one already, or an empty file is in the way.
    """
    mark = str(Path(high_water).expanduser().resolve()) if high_water else ""
    if mark:
        check_free(Path(mark))

    def write(log: Log) -> None:
        log.migrate()
        row = founding_row(dataset, terms, mark, log.time())
        if mark and log.head(dataset) is None:
            # Before the founding: a ledger whose file is missing cannot be opened.
            HighWater(Founding.of(row)).create(row.position)
        append_founding(log, row)

    path = Path(address.removeprefix(SQLITE))
    if address.startswith(SQLITE) and not path.exists():
        try:
            with new_file(path) as draft:
                write(draft)
        except TakenError:  # another process was first
            if not path.exists():
                raise
        else:
            return
    run(address, write)


def append_founding(log: Log, row: Row) -> None:
    """Append the first row of a data set's log, where there is none.

    Raises
    ------
    LedgerError
    """
    try:
        log.append(row.dataset, None, [row])
    except MovedError:
        raise LedgerError(
            f"{without_password(log.address)} has a ledger for the dataset {row.dataset!r} "
            "already, which is left as it is: a ledger is founded once. Found or restore one for "
            "another data set, or in another place."
        ) from None


def migrate(address: str) -> None:
    """Make the tables of ledgers in a database, or bring them to this version; as its owner."""
    run(address, lambda log: log.migrate())


def upgrade(address: str) -> int:
    """Bring a database of ledgers to this version's tables; as its owner.

    Returns
    -------
    int
        Version of the tables it had.

    Raises
    ------
    LedgerError
        When there is no ledger in it.
    """

    def migrate(log: Log) -> int:
        before = log.version()
        if before == 0:
            raise LedgerError(f"There is no ledger at {without_password(address)}.")
        if before != VERSION:
            log.migrate()
        return before

    before: int = run(address, migrate)
    return before


def stored_founding(address: str, dataset: str) -> Founding:
    """First row of a data set's log.

    Raises
    ------
    LedgerError
        When there is none.
    """
    return Founding.of(run(address, lambda log: log.founding(dataset)))


def expected(founding: Founding, ceiling: float | None, unit: str | None) -> Founding:
    """Return the founding, if its ceiling and unit are those that are given.

    Raises
    ------
    LedgerMismatchError
    """
    dataset, terms = founding.dataset, founding.terms
    if ceiling is not None and ceiling != terms.ceiling:
        raise LedgerMismatchError(
            f"The dataset {dataset!r} has the ceiling {terms.ceiling!r}, not {ceiling!r}; a "
            "ceiling is never changed. Leave it out to use the stored one."
        )
    if unit is not None and unit != terms.unit:
        raise LedgerMismatchError(
            f"The dataset {dataset!r} is counted in {terms.unit}, not in {unit}."
        )
    return founding
