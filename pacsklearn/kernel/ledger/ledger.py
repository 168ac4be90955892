"""Append-only accounts of what has been released: handles to a book, and the book in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn, Self, TypeVar, final

from pacsklearn._validation import check_budget
from pacsklearn.exceptions import BudgetExhaustedError, ForeignProcessError, LedgerMismatchError
from pacsklearn.kernel.ledger.accounts import Accounts, LedgerTerms, Limit, Posting, check_event
from pacsklearn.kernel.ledger.book import Book, Store, time_text
from pacsklearn.kernel.ledger.event import (
    LONGEST_NOTE,
    Bookkeeping,
    Event,
    ledger_amount,
    ledger_seconds,
    ledger_text,
)
from pacsklearn.kernel.ledger.exact_sum import fits, largest_refund, nearest
from pacsklearn.kernel.secret.owner_process import OwnerProcess

T = TypeVar("T")


class Ledger:
    """A ceiling and the events charged against it.

    ``charge`` is atomic and comes before the noise: a crash can lose an answer, never a charge.

    Parameters
    ----------
    store : Store
    account : str, default=""
        Empty for the ledger itself, else the key of a reservation.
    user, project : str, optional
        On whose behalf charges are made, and for which project.

    Notes
    -----
    Charges are summed exactly (every double is a fraction), so the order of the charges does not
    matter and no error builds up. A charge fits when the exact sum, rounded to the nearest double,
    is not above the ceiling: the true sum passes the ceiling by half a unit in the last place at
    most, once, however many charges there are. Rounding the sum up instead would refuse the tenth
    of ten charges of 0.1 under a ceiling of 1.
    """

    def __init__(
        self, store: Store, account: str = "", user: str | None = None, project: str | None = None
    ) -> None:
        self._store = store
        self._account = account
        self.user = user
        self.project = project

    @property
    def unit(self) -> str:
        """Unit of the ceiling and of every charge."""
        return self._store.terms.unit

    @property
    def ceiling(self) -> float:
        """Most that may ever be charged."""
        if not self._account:
            return self._store.terms.ceiling
        return float(self._store.read(lambda book: book.accounts.ceiling(self._account)))

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything charged so far, in order."""
        return self._store.read(lambda book: tuple(book.events(self._account)))

    @property
    def spent(self) -> float:
        """Sum of the charges, the nearest double to the exact one."""
        return self._store.read(lambda book: nearest(book.accounts.total(self._account)))

    @property
    def remaining(self) -> float:
        """What may still be charged, rounded down; :meth:`allows` is exact."""
        limits = self._settled(self._limits)
        return min((largest_refund(each.ceiling, each.total) for each in limits), default=0.0)

    @property
    def reservations(self) -> tuple[Reservation, ...]:
        """Open reservations in this account, for instance of a search that was killed."""
        open_rows = self._settled(
            lambda book: [
                book.accounts.made(key) for key in book.accounts.open_reservations(self._account)
            ]
        )
        return tuple(self._reservation(made) for made in open_rows)

    @property
    def head(self) -> str:
        """``"<dataset> <rows>:<digest of the last one>"`` when this process last looked.

        For a statement; empty for a ledger that is in no database.
        """
        return self._store.head

    def allows(self, amount: float) -> bool:
        """Return whether a charge of ``amount`` would fit now.

        ``amount <= remaining`` asks for less than that: after nine charges of 0.1 under a ceiling
        of 1 what remains is a little below 0.1, and a tenth one fits.
        """
        amount = ledger_amount("amount", amount)
        limits = self._settled(self._limits)
        return bool(limits) and all(fits(each.total, amount, each.ceiling) for each in limits)

    def check(self, amount: float) -> None:
        """Raise BudgetExhaustedError, with the ceiling that is in the way, where it would not."""
        amount = ledger_amount("amount", amount)
        limits = self._settled(self._limits)
        for each in limits:
            each.check(amount)
        if not limits:
            raise BudgetExhaustedError(self.spent, amount, self.ceiling)

    def charge(self, event: Event) -> bool:
        """Append ``event`` if its charge fits under the ceiling.

        Returns
        -------
        bool
            False when this very event had been charged before; nothing changes then, and nothing
            new may be released for it.

        Raises
        ------
        BudgetExhaustedError
            When it does not fit; nothing changes then.
        LedgerMismatchError
            When the event is in another unit, or its key was charged for something else.
        """
        check_event(event, self.unit)
        posting = Posting(self._account, event, user=self.user, project=self.project)
        is_new: bool = self._store.write(lambda book: book.charge(posting))
        return is_new

    def find(self, key: str) -> Event | None:
        """Return the event that was charged under an idempotency key, None when there is none."""
        key = ledger_text("key", key)
        row: Posting | None = self._store.read(lambda book: book.find(key))
        return None if row is None else row.event

    def reserve(
        self, amount: float, *, note: str = "", seconds: float | None = None
    ) -> Reservation:
        """Charge ``amount`` at once, to be spent later through the returned account.

        Parameters
        ----------
        amount : float
            Ceiling of the reservation, in the ledger's unit.
        note : str
            What it is for.
        seconds : float, optional
            After this time the reservation takes no more charges, and the next charge to the
            ledger gives back what was not spent. Without it a reservation stays until it is closed.

        Raises
        ------
        BudgetExhaustedError
            When it does not fit; nothing changes then.
        """
        amount = check_budget(budget=amount, name="amount")
        note = ledger_text("note", note, LONGEST_NOTE)
        event = Bookkeeping("reservation", amount, self.unit)
        made = Posting(self._account, event, note, self.user, self.project)
        lasting = None if seconds is None else ledger_seconds("seconds", seconds)

        def reserve(book: Book) -> None:
            # By the clock of the store: those of its clients differ.
            expires = None if lasting is None else time_text(lasting, book.time)
            book.charge(made._replace(expires=expires))

        self._store.write(reserve)
        return self._reservation(made)

    def on_behalf_of(self, *, user: str | None = None, project: str | None = None) -> Self:
        """Return a handle whose charges count for a user, a project or both.

        Parameters
        ----------
        user, project : str, optional
            What is not given stays as it is here.

        Returns
        -------
        Ledger
            Its ``remaining`` and ``allows`` heed the ceilings of the user and of the project too.
        """
        if self._account:
            raise LedgerMismatchError(
                "A reservation is charged on behalf of whoever made it; call on_behalf_of on the "
                "ledger, then reserve."
            )
        # Not by __init__, which would open the ledger, and read its terms, a second time.
        handle: Self = type(self).__new__(type(self))
        vars(handle).update(vars(self))
        handle.user = self.user if user is None else ledger_text("user", user)
        handle.project = self.project if project is None else ledger_text("project", project)
        return handle

    def _reservation(self, made: Posting) -> Reservation:
        return Reservation(self._store, made.event.key, made.user, made.project)

    def _limits(self, book: Book) -> list[Limit]:
        """Return every ceiling of this account; none for one that is closed."""
        if book.accounts.is_closed(self._account):
            return []
        return book.accounts.limits(self._account, self.user, self.project)

    def _settled(self, question: Callable[[Book], T]) -> T:
        """Return the answer of a book in which no reservation is open whose time is over."""

        def settle_first(book: Book) -> tuple[T]:
            book.settle()
            return (question(book),)

        # Writing needs the store's lock: only where some reservation's time is over.
        answer: tuple[T] | None = self._store.read(
            lambda book: None if book.accounts.expired(book.time) else (question(book),)
        )
        return (answer or self._store.write(settle_first))[0]

    def _identity(self) -> tuple[object, ...]:
        return self._store, self._account, self.user, self.project

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        key = f", key={self._account!r}" if self._account else ""
        return f"{type(self).__name__}({self._store!r}{key})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@final
class Reservation(Ledger):
    """Part of a ledger's budget, set aside: what is charged here was charged there before.

    A handle as well; made by :meth:`Ledger.reserve`. Once closed its ceiling is what had been
    spent.
    """

    @property
    def note(self) -> str:
        """What it is for."""
        return self._store.read(lambda book: str(book.accounts.made(self._account).note))

    @property
    def is_closed(self) -> bool:
        """Whether it refuses every charge."""
        return self._settled(lambda book: book.accounts.is_closed(self._account))

    def release_unspent(self) -> float:
        """Close the reservation for good and give back what was never charged.

        Sound because charges come before answers and closing is atomic: whatever was released
        under the reservation has been charged by then, and nothing can be charged afterwards.

        Returns
        -------
        float
            What the ledger got back; 0 when the reservation was closed already.
        """
        return float(self._store.write(lambda book: book.close(self._account)))


@final
class MemoryLedger(Ledger):
    """Ledger of one process.

    It is a handle: ``copy``, ``deepcopy`` and ``clone`` give the same account, and what comes out
    of a pickle refuses every charge, so that no copy of an account can be spent twice.

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
        super().__init__(MemoryBook(LedgerTerms.checked(ceiling, unit, per_user, per_project)))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was charged so far: at once, where ``events`` lists all there is."""
        return self._store.read(lambda book: not book._by_key)


class MemoryBook(Book, Store):
    """Book of one process, which is its own store; a pickle leaves it behind."""

    def __init__(self, terms: LedgerTerms) -> None:
        self._lock = threading.RLock()
        self._owner = OwnerProcess("This account")
        self._terms, self._accounts = terms, Accounts(terms)
        self._by_key: dict[str, Posting] = {}
        self._is_adding = False

    @property
    def terms(self) -> LedgerTerms:
        return self._terms

    def read(self, question: Callable[[Book], T]) -> T:
        # A single number may be read whatever the lock's owner does.
        return question(self)

    def write(self, change: Callable[[Book], T]) -> T:
        self._owner.check()
        with self._lock:
            return change(self)

    @property
    def accounts(self) -> Accounts:
        if self._is_adding and self._lock.acquire(blocking=False):
            try:  # to add up again, after an interrupt
                accounts = Accounts(self._terms)
                for posting in list(self._by_key.values()):
                    accounts.add(posting)
                self._accounts, self._is_adding = accounts, False
            finally:
                self._lock.release()
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

    def events(self, account: str) -> Iterable[Event]:
        self._owner.check()
        with self._lock:
            posted = list(self._by_key.values())
        return [each.event for each in posted if each.account == account]

    def __repr__(self) -> str:
        return f"ceiling={self._terms.ceiling:.6g}, unit={self._terms.unit!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _LeftBehind, (self._terms,)


@dataclass(frozen=True)
class _LeftBehind(Store):
    """Store of a ledger out of a pickle: who asks more than its terms is told what to do."""

    terms: Any = None

    def read(self, question: object) -> NoReturn:
        raise ForeignProcessError("A ledger in memory is in no pickle: it")

    write = read  # type: ignore[assignment]  # nobody names their argument
