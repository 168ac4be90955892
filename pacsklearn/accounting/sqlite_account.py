"""Accounts in an SQLite file: what a ledger and its reservations have in common."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self, final

from pacsklearn._validation import check_budget
from pacsklearn.accounting.chain import verify_chain
from pacsklearn.accounting.entry import Founding, Position, event_from_text, event_text
from pacsklearn.core.event import LONGEST_NOTE, Event, ledger_number, ledger_text
from pacsklearn.core.ledger import (
    Ledger,
    Reservation,
    bookkeeping_event,
    check_event,
    fits,
    largest_refund,
)
from pacsklearn.exceptions import BudgetExhaustedError, LedgerError, LedgerMismatchError

if TYPE_CHECKING:  # SQLAlchemy is loaded when a ledger is opened
    from pacsklearn.accounting.book import Book

__all__ = ["ADDRESS", "SQLiteAccount", "SQLiteReservation", "opened"]

ADDRESS = "sqlite:///"
"""What the address of a database begins with."""


class SQLiteAccount(Ledger):
    """Handle to an account: only strings and numbers, so every copy is the same account."""

    def __init__(self, path: str, founding: Founding, account: str, amount: float) -> None:
        self._path = path
        self._founding = founding
        self._account = account
        self._amount = amount

    @property
    def uri(self) -> str:
        """Address of the database."""
        return ADDRESS + self._path

    @property
    def dataset(self) -> str:
        """Data set whose ceiling this is."""
        return self._founding.name

    @property
    def unit(self) -> str:
        return self._founding.unit

    @property
    def spent(self) -> float:
        with self._book(write=False) as book:
            return float(book.state(self._account).total)

    @property
    def remaining(self) -> float:
        with self._book(write=False) as book:
            state = book.state(self._account)
        return 0.0 if state.closed else largest_refund(state.amount, state.total)

    def allows(self, amount: float) -> bool:
        amount = ledger_number("amount", amount)
        with self._book(write=False) as book:
            state = book.state(self._account)
        return not state.closed and fits(state.total, amount, state.amount)

    @property
    def events(self) -> tuple[Event, ...]:
        with self._book(write=False) as book:
            return tuple(event_from_text(entry.event) for entry in book.entries(self._account))

    @property
    def reservations(self) -> tuple[SQLiteReservation, ...]:
        """Open reservations in this account, for instance of a search that was killed."""
        with self._book(write=False) as book:
            made = book.reservations(self._account)
            keys = [(row.key, row.charge) for row in made if not book.state(row.key).closed]
        return tuple(
            SQLiteReservation(self._path, self._founding, key, amount) for key, amount in keys
        )

    @property
    def position(self) -> Position:
        """Place of the dataset's last row, reservations included.

        Keep it outside the database: :meth:`verify` finds rows that were changed, only a position
        finds a database that was put back to an earlier state.
        """
        with self._book(write=False) as book:
            return book.position()

    def is_ahead_of(self, position: Position) -> bool:
        """Whether the database still holds everything written up to ``position``.

        False means that it is an older copy, another ledger, or one that was rewritten.
        """
        with self._book(write=False) as book:
            return book.holds(position)

    def events_since(self, position: Position) -> tuple[Event, ...]:
        """What was charged to this account after ``position``.

        Raises
        ------
        LedgerMismatchError
            When the database is not ahead of ``position``.
        """
        with self._book(write=False) as book:
            if not book.holds(position):
                raise LedgerMismatchError(
                    f"The ledger does not hold row {position.sequence} as it was: the database "
                    "is an older copy, or another one."
                )
            rows = book.entries(self._account, after=position.sequence)
            return tuple(event_from_text(entry.event) for entry in rows)

    def verify(self) -> Position:
        """Recompute the whole dataset's chain of hashes, sums and ceilings.

        Returns
        -------
        Position
            Of the last row.

        Raises
        ------
        LedgerCorruptedError
            Naming the first row that is wrong.
        """
        with self._book(write=False) as book:
            return verify_chain(self._founding, book.entries())

    def charge(self, event: Event) -> bool:
        check_event(event, self.unit)
        with self._book(write=True) as book:
            known = book.find(event.key)
            if known is None:
                self._append(book, event, "")
                return True
            if (known.account, known.event) != (self._account, event_text(event)):
                raise LedgerMismatchError(
                    f"The key {event.key!r} was charged for another event or another account."
                )
            return False

    def reserve(self, amount: float, *, note: str = "") -> SQLiteReservation:
        amount = check_budget(budget=amount, name="amount")
        note = ledger_text("note", note, LONGEST_NOTE)
        key = uuid.uuid4().hex
        with self._book(write=True) as book:
            self._append(book, bookkeeping_event("reservation", amount, self.unit, key), note)
        return SQLiteReservation(self._path, self._founding, key, amount)

    def _append(self, book: Book, event: Event, note: str) -> None:
        state = book.state(self._account)
        if state.closed:
            raise LedgerError("The reservation is closed and takes no more charges.")
        if not fits(state.total, event.charge, state.amount):
            raise BudgetExhaustedError(float(state.total), float(event.charge), state.amount)
        book.append(self._account, event, state.total + Fraction(float(event.charge)), note)

    @contextmanager
    def _book(self, *, write: bool) -> Iterator[Book]:
        with opened(self._path, self.dataset, write=write) as book:
            founding = book.founding()
            if founding != self._founding:
                raise LedgerMismatchError(
                    f"The database at {self._path} does not hold this ledger any more: it is "
                    "another one, or it was founded anew."
                )
            yield book

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SQLiteAccount):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[str, str, str]:
        return self._path, self._founding.hash, self._account

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@final
class SQLiteReservation(SQLiteAccount, Reservation):
    """Reservation in an :class:`SQLiteLedger`; made by its ``reserve``, a handle as well."""

    @property
    def ceiling(self) -> float:
        with self._book(write=False) as book:
            state = book.state(self._account)
        return float(state.total) if state.closed else state.amount

    @property
    def note(self) -> str:
        with self._book(write=False) as book:
            return book.state(self._account).note

    @property
    def is_closed(self) -> bool:
        with self._book(write=False) as book:
            return book.state(self._account).closed

    def release_unspent(self) -> float:
        with self._book(write=True) as book:
            state = book.state(self._account)
            if state.closed:
                return 0.0
            refund = largest_refund(state.amount, state.total)
            closing = bookkeeping_event(
                "reservation-closed", 0.0, self.unit, f"{self._account}/closed"
            )
            book.append(self._account, closing, state.total)
            # A closed account gave this reservation back as spent; the one above it has not.
            account = state.parent
            while (heir := book.state(account)).closed:
                account = heir.parent
            returned = bookkeeping_event(
                "reservation-returned", 0.0 - refund, self.unit, f"{self._account}/returned"
            )
            book.append(account, returned, heir.total - Fraction(refund))
        return refund

    def __repr__(self) -> str:
        return f"SQLiteReservation({self.uri!r}, dataset={self.dataset!r}, key={self._account!r})"


@contextmanager
def opened(path: str, dataset: str, *, write: bool) -> Iterator[Book]:
    """One dataset of a database, in a transaction that is on disk when the block has ended."""
    from pacsklearn.accounting.book import Book
    from pacsklearn.accounting.database import transaction

    with transaction(path, write=write) as connection:
        yield Book(connection, dataset)
