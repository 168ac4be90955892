"""Append-only account of what has been released: the interface, and the ledger of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import NoReturn, TypeVar, final

from pacsklearn._validation import check_budget
from pacsklearn.core.accounts import Accounts, Posting, Terms
from pacsklearn.core.booked_ledger import (
    BookedLedger,
    BookedReservation,
    OpenBook,
    Store,
    charge_posting,
    time_text,
)
from pacsklearn.core.event import Event, ledger_text
from pacsklearn.core.home_process import HomeProcess
from pacsklearn.core.ledger_interface import Ledger, Reservation

__all__ = [
    "Ledger",
    "MemoryLedger",
    "MemoryReservation",
    "Reservation",
    "checked_terms",
    "ledger_head",
]

T = TypeVar("T")


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


class _OfOneProcess:
    """What cannot be pickled."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"A {type(self).__name__} lives in one process and cannot be pickled: a copy could "
            "spend the budget a second time. Processes share a ledger in a database: "
            "ledger='sqlite:///path'."
        )


@final
class MemoryLedger(_OfOneProcess, BookedLedger):
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

    def _reservation(self, made: Posting) -> Reservation:
        return MemoryReservation(self._store, made.event.key, made.user, made.project)

    def __repr__(self) -> str:
        return f"MemoryLedger(ceiling={self.ceiling:.6g}, unit={self.unit!r})"


@final
class MemoryReservation(_OfOneProcess, BookedReservation):
    """Reservation in a :class:`MemoryLedger`; made by its ``reserve``."""

    def _reservation(self, made: Posting) -> Reservation:
        return MemoryReservation(self._store, made.event.key, made.user, made.project)

    def __repr__(self) -> str:
        return f"MemoryReservation(ceiling={self.ceiling:.6g}, unit={self.unit!r})"


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
