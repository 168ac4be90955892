"""Whether the rows of a ledger are the ones that were written, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from pacsklearn.accounting.entry import Entry, Founding, Position, is_sound, types_of
from pacsklearn.core.accounts import Accounts, exact_text
from pacsklearn.exceptions import LedgerCorruptedError


@final
class Chain:
    """Rows that were verified, one after the other from the founding on.

    Parameters
    ----------
    founding : Founding

    Raises
    ------
    LedgerCorruptedError
        When the founding does not have the content it was written with.
    """

    def __init__(self, founding: Founding) -> None:
        if not is_sound(founding):
            raise LedgerCorruptedError(0, "(the account) is not the one that was founded")
        self.accounts = Accounts(founding.terms)
        self.position = Position(0, founding.hash)
        self._last: Entry | None = None

    def add(self, entry: Entry) -> None:
        """Add a row that was made from the ones before it, whose posting was added."""
        self.position = Position(entry.sequence, entry.hash)
        self._last = entry

    def ends_in(self, entry: Entry) -> bool:
        """Whether this is the last row, as it was checked, down to the types of its values."""
        return self._last == entry and types_of(self._last) == types_of(entry)

    def verify(self, entry: Entry) -> None:
        """Check the next row and add it.

        Raises
        ------
        LedgerCorruptedError
            With the number of the row that is wrong or missing.
        """
        expected = self.position.sequence + 1
        if entry.sequence != expected:
            raise LedgerCorruptedError(expected, "is missing")
        wrong = self._what_is_wrong(entry)
        if wrong:
            raise LedgerCorruptedError(expected, wrong)
        self.add(entry)

    def _what_is_wrong(self, entry: Entry) -> str:
        try:
            if entry.previous != self.position.hash:
                return "does not follow the row before it"
            if not is_sound(entry):
                return "does not have the content it was written with"
            posting = entry.posting
            event = posting.event
            facts = (event.key, event.kind, event.charge, event.unit)
            if facts != (entry.key, entry.kind, entry.charge, entry.unit):
                return "does not say what its event says"
            wrong = self.accounts.wrong(posting)
            if wrong:
                return wrong
            total = self.accounts.total(entry.account) + posting.exact_charge
            if entry.total != exact_text(total):
                return "does not have the sum of the charges"
            self.accounts.add(posting)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
            return "cannot be read"
        return ""


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
    chain = Chain(founding)
    for entry in entries:
        chain.verify(entry)
    return chain.position
