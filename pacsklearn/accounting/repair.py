"""A damaged database, written anew without the rows that are wrong; what they charged is kept."""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, final

from sqlalchemy import Connection

from pacsklearn.accounting.book import Book
from pacsklearn.accounting.chain import Chain, verify_chain
from pacsklearn.accounting.database import run
from pacsklearn.accounting.entry import Entry, Founding, without_password
from pacsklearn.accounting.new_file import check_free, new_file
from pacsklearn.accounting.rows import open_rows
from pacsklearn.accounting.schema import migrate
from pacsklearn.accounting.sqlite_database import SQLITE, connect
from pacsklearn.accounting.transfer import all_rows
from pacsklearn.core.accounts import Posting, bookkeeping_event, fits, largest_refund
from pacsklearn.core.event import ledger_text
from pacsklearn.core.ledger import time_text
from pacsklearn.core.replacement_file import replacement_file
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError

_LONGEST_WORDS: Final = 500


def repair(source: Path | str, target: Path, *, signed_by: str, reason: str) -> dict[str, Any]:
    """Copy a database up to its first wrong row, and charge what the rows after it charged.

    The damaged database is read, never changed. The rows from the first wrong one on are written as
    they stand to ``<target>.aside.json``, and the copy ends in rows of the kind ``"repair"`` that
    name who signed for it and the digest of that file. What the rows set aside charged is charged
    again, account by account: all that is left where an amount cannot be read. Refunds among them
    are not.

    Parameters
    ----------
    source : Path or str
        SQLite file, or address of a PostgreSQL server.
    target : Path
        New file.
    signed_by, reason : str
        Who answers for it, and why; both go into the ledger.

    Returns
    -------
    dict
        For each data set, the rows kept, the rows set aside and what was charged for them.

    Raises
    ------
    LedgerError
        When there is nothing to repair, or the target exists.
    LedgerCorruptedError
        When the account itself (its ceiling) was altered: no row can be trusted then.
    """
    signed_by = ledger_text("signed_by", signed_by, _LONGEST_WORDS).strip()
    reason = ledger_text("reason", reason, _LONGEST_WORDS).strip()
    if not (signed_by and reason):
        raise LedgerError(
            "A repair is signed: say who answers for it (signed_by) and why (reason)."
        )
    aside = target.with_name(target.name + ".aside.json")
    for file in (target, aside):
        check_free(file)
    address = SQLITE + str(source) if isinstance(source, Path) else source
    name = without_password(str(source))
    datasets = [_Dataset(*each) for each in all_rows(address)]
    if all(dataset.is_sound for dataset in datasets):
        raise LedgerError(f"The ledger at {name} is as it was written: there is nothing to repair.")
    document = {
        "ledger": name,
        "signed_by": signed_by,
        "reason": reason,
        "time": time_text(),
        "rows": [row._asdict() for dataset in datasets for row in dataset.aside],
    }
    text = json.dumps(document, indent=1, default=_readable)
    digest = hashlib.sha256(text.encode()).hexdigest()

    def write(connection: Connection) -> dict[str, Any]:
        migrate(connection)
        report = {}
        for dataset in datasets:
            rows = open_rows(connection, dataset.founding.name)
            rows.insert_founding(dataset.founding)
            rows.add(dataset.kept)
            book = Book(
                connection, dataset.founding, Chain(dataset.founding), write=True, where=str(target)
            )
            note = (
                f"{len(dataset.aside)} rows from row {len(dataset.kept) + 1} on were set aside by "
                f"{signed_by}: {reason}; SHA-256 of {aside.name}: {digest}"
            )
            report[dataset.founding.name] = {
                "kept": len(dataset.kept),
                "set_aside": len(dataset.aside),
                "charged": dataset.charge_again(book, note) if dataset.aside else 0.0,
            }
            book.flush()
        return report

    with new_file(target) as draft:
        connect(str(draft), "rwc").close()
        report = run(SQLITE + str(draft), write, write=True)
        # Last of all, and before the copy appears: there is never one without the other.
        with replacement_file(aside) as content:
            content.write(text.encode())
    return report


@final
class _Dataset:
    """Rows of one data set: those before the first wrong one, and the others."""

    def __init__(self, founding: Founding, rows: list[Entry]) -> None:
        self.founding = founding
        self.kept, self.aside = rows, []
        try:
            verify_chain(founding, rows)
        except LedgerCorruptedError as error:
            if error.sequence == 0:
                raise
            self.kept, self.aside = rows[: error.sequence - 1], rows[error.sequence - 1 :]

    @property
    def is_sound(self) -> bool:
        return not self.aside

    def charge_again(self, book: Book, note: str) -> float:
        """Append what the rows set aside charged; returns what the ledger itself was charged."""
        keys = {row.key for row in self.kept if row.kind == "reservation"}
        keys -= {row.account for row in self.kept if row.kind == "reservation-closed"}
        owed: dict[str, Fraction | None] = {"": Fraction(0)}
        made = {row.key: row.charge for row in self.aside if row.kind == "reservation"}
        for row in self.aside:
            if row.account in made:  # charged where the reservation was made
                continue
            account = row.account if row.account in keys else ""
            before, amount = owed.get(account, Fraction(0)), _amount(row)
            owed[account] = None if before is None or amount is None else before + amount
        ledger_charge = 0.0
        for account, total in owed.items():
            limit = book.accounts.limits(account, None, None)[0]
            charge = math.inf if total is None else float(total)
            if charge == math.inf or not fits(limit.total, charge, limit.ceiling):
                charge = largest_refund(limit.ceiling, limit.total)
            event = bookkeeping_event("repair", charge, self.founding.unit, uuid.uuid4().hex)
            book.append(Posting(account, event, note))
            if account == "":
                ledger_charge = charge
        return ledger_charge


def _amount(row: Entry) -> Fraction | None:
    """What a row charged: the most that it says, in its column or in its event."""
    charges = [row.charge]
    with suppress(TypeError, ValueError, KeyError):  # the column is left
        charges.append(json.loads(row.event)["charge"])
    if not all(type(each) in (int, float) and math.isfinite(each) for each in charges):
        return None
    return max(Fraction(0), *map(Fraction, charges))


def _readable(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else repr(value)
