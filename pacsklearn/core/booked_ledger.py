"""Ledgers and reservations as handles to an account book, in memory or in a database."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self, TypeVar

from pacsklearn._validation import check_budget
from pacsklearn.core.accounts import (
    Accounts,
    Limit,
    Posting,
    Terms,
    bookkeeping_event,
    check_event,
    fits,
    largest_refund,
    nearest,
)
from pacsklearn.core.event import LONGEST_NOTE, Event, ledger_number, ledger_text
from pacsklearn.core.ledger_interface import Ledger, Reservation
from pacsklearn.exceptions import BudgetExhaustedError, LedgerMismatchError

T = TypeVar("T")
_LONGEST: Final = 1e10
"""Seconds that a reservation may last."""


class OpenBook(ABC):
    """All postings of one ledger, while nobody else can add any."""

    @property
    @abstractmethod
    def accounts(self) -> Accounts:
        """What the postings add up to."""

    @property
    @abstractmethod
    def time(self) -> str:
        """Time now, as :func:`time_text` writes it."""

    @abstractmethod
    def find(self, key: str) -> Posting | None:
        """Posting with an idempotency key."""

    @abstractmethod
    def append(self, posting: Posting) -> None:
        """Add a posting that was checked."""

    @abstractmethod
    def events(self, account: str) -> Iterable[Event]:
        """Events of one account, in order."""


class Store(ABC):
    """Where a ledger is written; a handle, equal to every other one of the same ledger."""

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """What the ledger was founded with."""

    @abstractmethod
    def read(self, question: Callable[[Any], T]) -> T:
        """Answer that a function finds in the book; perhaps in another thread."""

    @abstractmethod
    def write(self, change: Callable[[Any], T]) -> T:
        """As :meth:`read`; what the function adds is on disk when this returns."""

    @abstractmethod
    def charge(self, posting: Posting) -> bool:
        """Add a posting in a transaction of its own, or one shared with other callers."""


class BookedLedger(Ledger):
    """Account of a store.

    Parameters
    ----------
    store : Store
    account : str
        Empty for the ledger itself, else the key of a reservation.
    user, project : str, optional
        On whose behalf charges are made.
    """

    def __init__(
        self,
        store: Store,
        account: str = "",
        user: str | None = None,
        project: str | None = None,
    ) -> None:
        self._store = store
        self._account = account
        self._user = user
        self._project = project

    @property
    def unit(self) -> str:
        return self._store.terms.unit

    @property
    def ceiling(self) -> float:
        if not self._account:
            return self._store.terms.ceiling
        ceiling: float = self._store.read(lambda book: book.accounts.ceiling(self._account))
        return ceiling

    @property
    def spent(self) -> float:
        return self._store.read(lambda book: nearest(book.accounts.total(self._account)))

    @property
    def remaining(self) -> float:
        limits = self._settled(self._limits)
        return min((largest_refund(each.ceiling, each.total) for each in limits), default=0.0)

    def allows(self, amount: float) -> bool:
        amount = ledger_number("amount", amount)
        limits = self._settled(self._limits)
        return bool(limits) and all(fits(each.total, amount, each.ceiling) for each in limits)

    def check(self, amount: float) -> None:
        amount = ledger_number("amount", amount)
        limits = self._settled(self._limits)
        for each in limits:
            each.check(amount)
        if not limits:
            raise BudgetExhaustedError(self.spent, amount, self.ceiling)

    @property
    def events(self) -> tuple[Event, ...]:
        return self._store.read(lambda book: tuple(book.events(self._account)))

    @property
    def reservations(self) -> tuple[Reservation, ...]:
        """Open reservations in this account, for instance of a search that was killed."""
        open_rows = self._settled(
            lambda book: [
                book.accounts.made(key) for key in book.accounts.open_reservations(self._account)
            ]
        )
        return tuple(self._reservation(made) for made in open_rows)

    def find(self, key: str) -> Event | None:
        key = ledger_text("key", key)
        row: Posting | None = self._store.read(lambda book: book.find(key))
        return None if row is None else row.event

    def charge(self, event: Event) -> bool:
        check_event(event, self.unit)
        return self._store.charge(
            Posting(self._account, event, user=self._user, project=self._project)
        )

    def reserve(
        self, amount: float, *, note: str = "", seconds: float | None = None
    ) -> Reservation:
        amount = check_budget(budget=amount, name="amount")
        note = ledger_text("note", note, LONGEST_NOTE)
        event = bookkeeping_event("reservation", amount, self.unit, uuid.uuid4().hex)
        made = Posting(self._account, event, note, self._user, self._project, _expiry(seconds))
        self._store.charge(made)
        return self._reservation(made)

    def on_behalf_of(self, *, user: str | None = None, project: str | None = None) -> Self:
        if self._account:
            raise LedgerMismatchError(
                "A reservation is charged on behalf of whoever made it; call on_behalf_of on the "
                "ledger, then reserve."
            )
        # Not by __init__, which would open the ledger, and read its terms, a second time.
        handle: Self = type(self).__new__(type(self))
        vars(handle).update(vars(self))
        handle._user = self._user if user is None else ledger_text("user", user)
        handle._project = self._project if project is None else ledger_text("project", project)
        return handle

    @abstractmethod
    def _reservation(self, made: Posting) -> Reservation:
        """Handle to a reservation."""

    def _limits(self, book: OpenBook) -> list[Limit]:
        """Every ceiling of this account; none for one that is closed."""
        if book.accounts.is_closed(self._account):
            return []
        return book.accounts.limits(self._account, self._user, self._project)

    def _settled(self, question: Callable[[OpenBook], T]) -> T:
        """Answer of a book in which no reservation is open whose time is over."""

        def settle_first(book: OpenBook) -> tuple[T]:
            settle(book)
            return (question(book),)

        # Writing needs the store's lock: only where some reservation's time is over.
        answer: tuple[T] | None = self._store.read(
            lambda book: None if book.accounts.expired(book.time) else (question(book),)
        )
        return (answer or self._store.write(settle_first))[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BookedLedger):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        return self._store, self._account, self._user, self._project

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class BookedReservation(BookedLedger, Reservation):
    """Reservation of a store."""

    @property
    def note(self) -> str:
        return self._store.read(lambda book: str(book.accounts.made(self._account).note))

    @property
    def is_closed(self) -> bool:
        return self._settled(lambda book: book.accounts.is_closed(self._account))

    def release_unspent(self) -> float:
        return self._store.write(
            lambda book: (
                0.0 if book.accounts.is_closed(self._account) else _close(book, self._account)
            )
        )


def charge_posting(book: OpenBook, posting: Posting) -> bool:
    """Charge inside a transaction; False when this very posting is in the book.

    Raises
    ------
    BudgetExhaustedError
        When it does not fit; nothing changes then.
    LedgerMismatchError
        When the key was charged for something else.
    """
    # Before any ceiling: a charge repeated because its reply was lost must not be refused.
    known = book.find(posting.event.key)
    if known is not None:
        if known != posting:
            raise LedgerMismatchError(
                f"The key {posting.event.key!r} was charged for another event or another account."
            )
        return False
    settle(book)
    # After expired reservations gave back what they held.
    book.accounts.check(posting)
    book.append(posting)
    return True


def settle(book: OpenBook) -> None:
    """Close the reservations whose time is over."""
    for key in book.accounts.expired(book.time):
        _close(book, key)


def time_text(seconds: float = 0.0) -> str:
    """Time in UTC, so many seconds from now; texts sort as times do."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def _close(book: OpenBook, account: str) -> float:
    closed, returned = book.accounts.closing(account)
    # In this order: a return is right only for a reservation that is closed.
    book.append(closed)
    book.append(returned)
    return 0.0 - returned.event.charge


def _expiry(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    number = ledger_number("seconds", seconds)
    if not 0 < number <= _LONGEST:
        raise LedgerMismatchError(
            f"seconds must be None or a positive number, at most {_LONGEST:.0e}, got {number!r}."
        )
    return time_text(number)
