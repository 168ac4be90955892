"""What a ledger needs of the place it is written to: a book, and questions and changes to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from pacsklearn.exceptions import LedgerMismatchError
from pacsklearn.kernel.ledger.accounts import Accounts, LedgerTerms, Posting
from pacsklearn.kernel.ledger.event import Event

T = TypeVar("T")


class Book(ABC):
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
        """Return the posting with an idempotency key."""

    @abstractmethod
    def append(self, posting: Posting) -> None:
        """Add a posting that was checked."""

    @abstractmethod
    def events(self, account: str) -> Iterable[Event]:
        """Return the events of one account, in order."""

    def charge(self, posting: Posting) -> bool:
        """Charge; False when this very posting is in the book.

        Raises
        ------
        BudgetExhaustedError
            When it does not fit; nothing changes then.
        LedgerMismatchError
            When the key was charged for something else.
        """
        # Before any ceiling: a charge repeated because its reply was lost must not be refused.
        known = self.find(posting.event.key)
        if known is not None:
            if known != posting:
                raise LedgerMismatchError(
                    f"The key {posting.event.key!r} was charged for another event or another "
                    "account."
                )
            return False
        self.settle()
        # After expired reservations gave back what they held.
        self.accounts.check(posting)
        self.append(posting)
        return True

    def settle(self) -> None:
        """Close the reservations whose time is over."""
        for key in self.accounts.expired(self.time):
            self.close(key)

    def close(self, account: str) -> float:
        """Close a reservation; returns what is given back, 0 by one that was closed before."""
        if self.accounts.is_closed(account):
            return 0.0
        closed, returned = self.accounts.closing(account)
        # In this order: a return is right only for a reservation that is closed.
        self.append(closed)
        self.append(returned)
        return 0.0 - returned.event.charge


class Store(ABC):
    """Where a ledger is written; a handle, equal to every other one of the same ledger."""

    @property
    @abstractmethod
    def terms(self) -> LedgerTerms:
        """What the ledger was founded with."""

    @property
    def head(self) -> str:
        """Dataset, and place of its last row; empty for a ledger that is in no database."""
        return ""

    @abstractmethod
    def read(self, question: Callable[[Any], T]) -> T:
        """Return the answer that a function finds in the book; perhaps in another thread."""

    @abstractmethod
    def write(self, change: Callable[[Any], T]) -> T:
        """Call a function as :meth:`read` does; what it adds is on disk when this returns."""


def time_text(seconds: float = 0.0, after: str | None = None) -> str:
    """Return time in UTC, so many seconds from now, or after another; texts sort as times do."""
    start = datetime.now(UTC) if after is None else datetime.fromisoformat(after)
    return (start + timedelta(seconds=seconds)).isoformat(timespec="microseconds")
