"""Whether the rows of a ledger are the ones that were written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from pacsklearn.accounting.entry import Entry, Founding, Position, event_from_text, is_sound
from pacsklearn.core.ledger import fits
from pacsklearn.exceptions import LedgerCorruptedError

__all__ = ["sound_rows", "verify_chain"]


def verify_chain(founding: Founding, entries: Iterable[Entry]) -> Position:
    """Recompute every hash, every running total and every ceiling.

    Parameters
    ----------
    founding : Founding
    entries : iterable of Entry
        All rows of the dataset, by sequence number.

    Returns
    -------
    Position
        Of the last row.

    Raises
    ------
    LedgerCorruptedError
        With the number of the first row that is wrong; 0 for the account itself.
    """
    position = Position(0, founding.hash)
    for entry in sound_rows(founding, entries):
        position = Position(entry.sequence, entry.hash)
    return position


def sound_rows(founding: Founding, entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the rows one by one, each when it has been checked; arguments and errors as above."""
    if not is_sound(founding):
        raise LedgerCorruptedError(0, "(the account) does not have the hash it was founded with")
    accounts = _Accounts(founding)
    position = Position(0, founding.hash)
    for entry in entries:
        expected = position.sequence + 1
        if entry.sequence != expected:
            raise LedgerCorruptedError(expected, "is missing")
        wrong = _what_is_wrong(entry, position, accounts)
        if wrong:
            raise LedgerCorruptedError(expected, wrong)
        position = Position(entry.sequence, entry.hash)
        yield entry


def _what_is_wrong(entry: Entry, before: Position, accounts: _Accounts) -> str:
    try:
        if entry.previous != before.hash:
            return "does not follow the row before it"
        if not is_sound(entry):
            return "does not have the content it was written with"
        event = event_from_text(entry.event)
        facts = (event.key, event.kind, event.charge, event.unit)
        if facts != (entry.key, entry.kind, entry.charge, entry.unit):
            return "does not say what its event says"
        return accounts.add(entry)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return "cannot be read"


class _Accounts:
    """The ledger and its reservations, added up from their rows alone."""

    def __init__(self, founding: Founding) -> None:
        self._unit = founding.unit
        self._ceilings = {"": founding.ceiling}
        self._totals = {"": Fraction(0)}
        self._parents: dict[str, str] = {}
        self._closed: set[str] = set()
        self._returned: set[str] = set()

    def add(self, entry: Entry) -> str:
        """Reason why the row may not stand there, or an empty text."""
        wrong = self._place(entry) or self._amount(entry)
        if wrong:
            return wrong
        self._totals[entry.account] += Fraction(entry.charge)
        if entry.exact_total != self._totals[entry.account]:
            return "does not have the sum of the charges"
        if entry.kind == "reservation":
            self._ceilings[entry.key] = entry.charge
            self._totals[entry.key] = Fraction(0)
            self._parents[entry.key] = entry.account
        elif entry.kind == "reservation-closed":
            self._closed.add(entry.account)
        return ""

    def _place(self, entry: Entry) -> str:
        if entry.unit != self._unit:
            return "is in another unit"
        if entry.account not in self._totals:
            return "belongs to a reservation that was never made"
        if entry.account in self._closed:
            return "was charged to a closed reservation"
        return ""

    def _amount(self, entry: Entry) -> str:
        if entry.kind == "reservation-returned":
            return self._return(entry)
        if entry.charge < 0:
            return "has a negative charge"
        if not fits(self._totals[entry.account], entry.charge, self._ceilings[entry.account]):
            return "passes the ceiling"
        return ""

    def _return(self, entry: Entry) -> str:
        reservation = entry.key.removesuffix("/returned")
        if reservation not in self._closed or reservation in self._returned:
            return "returns what was not given back"
        heir = self._parents[reservation]
        while heir in self._closed:
            heir = self._parents[heir]
        if entry.account != heir:
            return "returns a reservation to an account it did not come from"
        unspent = Fraction(self._ceilings[reservation]) - self._totals[reservation]
        if not 0 <= Fraction(-entry.charge) <= max(unspent, Fraction(0)):
            return "returns more than was left"
        self._returned.add(reservation)
        return ""
