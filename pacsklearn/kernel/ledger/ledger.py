"""Append-only accounts of what has been released: handles to a book, and the book in memory."""

from __future__ import annotations

import threading
import uuid
from abc import abstractmethod
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn, Self, TypeVar, final

from pacsklearn._validation import check_budget
from pacsklearn.exceptions import BudgetExhaustedError, LedgerMismatchError
from pacsklearn.kernel.ledger.accounts import (
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
from pacsklearn.kernel.ledger.event import LONGEST_NOTE, Event, ledger_number, ledger_text
from pacsklearn.kernel.ledger.ledger_interface import Ledger, OpenBook, Reservation, Store
from pacsklearn.kernel.secret.home_process import HomeProcess

__all__ = ["Ledger", "MemoryLedger", "MemoryReservation", "Reservation", "checked_terms"]

T = TypeVar("T")
_LONGEST: Final = 1e10
"""Seconds that a reservation may last."""


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
    def user(self) -> str | None:
        """On whose behalf charges are made, if on anybody's."""
        return self._user

    @property
    def project(self) -> str | None:
        """For which project, if for any."""
        return self._project

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
        amount = _amount(amount)
        limits = self._settled(self._limits)
        return bool(limits) and all(fits(each.total, amount, each.ceiling) for each in limits)

    def check(self, amount: float) -> None:
        amount = _amount(amount)
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
        made = Posting(self._account, event, note, self._user, self._project)
        lasting = _lasting(seconds)

        def reserve(book: OpenBook) -> None:
            # By the clock of the store: those of its clients differ.
            expires = None if lasting is None else time_text(lasting, book.time)
            charge_posting(book, made._replace(expires=expires))

        self._store.write(reserve)
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


def time_text(seconds: float = 0.0, after: str | None = None) -> str:
    """Time in UTC, so many seconds from now, or after another; texts sort as times do."""
    start = datetime.now(UTC) if after is None else datetime.fromisoformat(after)
    return (start + timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def _close(book: OpenBook, account: str) -> float:
    closed, returned = book.accounts.closing(account)
    # In this order: a return is right only for a reservation that is closed.
    book.append(closed)
    book.append(returned)
    return 0.0 - returned.event.charge


def _amount(amount: object) -> float:
    number = ledger_number("amount", amount)
    if number < 0:
        raise LedgerMismatchError(f"amount must be a number, finite and >= 0, got {number!r}.")
    return number


def _lasting(seconds: float | None) -> float | None:
    if seconds is None:
        return None
    number = ledger_number("seconds", seconds)
    if not 0 < number <= _LONGEST:
        raise LedgerMismatchError(
            f"seconds must be None or a positive number, at most {_LONGEST:.0e}, got {number!r}."
        )
    return number


@final
class _MemoryBook(OpenBook):
    def __init__(self, terms: Terms) -> None:
        self.lock = threading.RLock()
        self.home = HomeProcess("This account")
        self._accounts = Accounts(terms)
        self._by_key: dict[str, Posting] = {}
        self._is_adding = False

    @property
    def accounts(self) -> Accounts:
        if self._is_adding and self.lock.acquire(blocking=False):
            try:
                self._add_up_again()
            finally:
                self.lock.release()
        return self._accounts

    @property
    def time(self) -> str:
        return time_text()

    def find(self, key: str) -> Posting | None:
        return self._by_key.get(key)

    def append(self, posting: Posting) -> None:
        # A posting counts from when it has its key; an interrupt after that leaves sums that do
        # not hold it, or half of it, and a mark that says so.
        accounts = self.accounts
        self._is_adding = True
        self._by_key[posting.event.key] = posting
        accounts.add(posting)
        self._is_adding = False

    def _add_up_again(self) -> None:
        accounts = Accounts(self._accounts.terms)
        for posting in list(self._by_key.values()):
            accounts.add(posting)
        self._accounts, self._is_adding = accounts, False

    def events(self, account: str) -> Iterable[Event]:
        self.home.check()
        with self.lock:
            return [each.event for each in self._by_key.values() if each.account == account]


@final
class _MemoryStore(Store):
    def __init__(self, terms: Terms) -> None:
        self._terms, self._book = terms, _MemoryBook(terms)

    @property
    def terms(self) -> Terms:
        return self._terms

    def read(self, question: Callable[[OpenBook], T]) -> T:
        # A single number may be read whatever the lock's owner does.
        return question(self._book)

    def write(self, change: Callable[[OpenBook], T]) -> T:
        self._book.home.check()
        with self._book.lock:
            return change(self._book)

    def charge(self, posting: Posting) -> bool:
        return self.write(lambda book: charge_posting(book, posting))


class _OfOneProcess(BookedLedger):
    """Account in memory, which cannot be pickled."""

    def _reservation(self, made: Posting) -> Reservation:
        return MemoryReservation(self._store, made.event.key, made.user, made.project)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(ceiling={self.ceiling:.6g}, unit={self.unit!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"A {type(self).__name__} lives in one process and cannot be pickled: a copy could "
            "spend the budget a second time. Processes share a ledger in a database: "
            "ledger='sqlite:///path'."
        )


@final
class MemoryLedger(_OfOneProcess):
    """Ledger of one process.

    It is a handle: ``copy``, ``deepcopy`` and ``clone`` give the same account, and it cannot be
    pickled, so that no copy of an account can be spent twice.

    Parameters
    ----------
    ceiling : float
        Positive.
    unit : str, default="nats"
    per_user, per_project : float, optional
        Ceiling of each user and of each project (see :meth:`Ledger.on_behalf_of`).
    """

    def __init__(
        self,
        ceiling: float,
        unit: str = "nats",
        *,
        per_user: float | None = None,
        per_project: float | None = None,
    ) -> None:
        super().__init__(_MemoryStore(checked_terms(ceiling, unit, per_user, per_project)))


@final
class MemoryReservation(_OfOneProcess, BookedReservation):
    """Reservation in a :class:`MemoryLedger`; made by its ``reserve``."""


def checked_terms(
    ceiling: float, unit: str, per_user: float | None, per_project: float | None
) -> Terms:
    """Terms from a user's arguments."""
    return Terms(
        check_budget(budget=ceiling, name="ceiling"),
        ledger_text("unit", unit),
        None if per_user is None else check_budget(budget=per_user, name="per_user"),
        None if per_project is None else check_budget(budget=per_project, name="per_project"),
    )


def ledger_head(ledger: Ledger | None) -> str:
    """Where a session's shared ledger stood, for a statement; empty where there is none."""
    return "" if ledger is None else ledger.head
