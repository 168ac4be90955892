"""Founding a ledger is an act of its own; opening one never founds it."""

from __future__ import annotations

from pathlib import Path

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.accounts import LedgerTerms
from pacsklearn.kernel.ledger.address import without_password
from pacsklearn.kernel.ledger.high_water import HighWater
from pacsklearn.kernel.ledger.log import Log, MovedError
from pacsklearn.kernel.ledger.row import Founding, Row, founding_row
from pacsklearn.kernel.ledger.sqlite_file import check_free
from pacsklearn.kernel.ledger.writer import run


def write_founding(address: str, dataset: str, terms: LedgerTerms, mark: Path | None) -> None:
    """Write the first row of a data set's log, and make what it needs.

    Raises
    ------
    LedgerError
        When there is one already, or an empty file is in the way.
    """
    if mark:
        check_free(mark)

    def write(log: Log) -> None:
        log.migrate()
        row = founding_row(dataset, terms, str(mark or ""), log.time())
        if mark and log.head(dataset) is None:
            # Before the founding: a ledger whose file is missing cannot be opened.
            HighWater(Founding.of(row)).create(row.position)
        append_founding(log, row)

    run(address, lambda log: log.create(write))


def append_founding(log: Log, row: Row) -> None:
    """Append the first row of a data set's log, where there is none.

    Raises
    ------
    LedgerError
    """
    # After no row at all: of two that found one ledger at the same time the second one fails.
    try:
        log.append(row.dataset, None, [row])
    except MovedError:
        raise LedgerError(
            f"{without_password(log.address)} has a ledger for the dataset {row.dataset!r} "
            "already, which is left as it is: a ledger is founded once. Found or restore one for "
            "another data set, or in another place."
        ) from None


def stored_founding(address: str, dataset: str) -> Founding:
    """Return the first row of a data set's log.

    Raises
    ------
    LedgerError
        When there is none.
    """
    return Founding.of(run(address, lambda log: log.founding(dataset)))
