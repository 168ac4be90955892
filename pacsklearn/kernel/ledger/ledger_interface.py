"""What a ledger and a reservation can do, and what they need of what they are written on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.kernel.ledger.accounts import Accounts, Posting, Terms
from pacsklearn.kernel.ledger.event import Event

T = TypeVar("T")


class Ledger(ABC):
    """A ceiling and the events charged against it.

    ``charge`` is atomic and comes before the noise: a crash can lose an answer, never a charge.

    Notes
    -----
    Charges are summed exactly (every double is a fraction), so the order of the charges does not
    matter and no error builds up. A charge fits when the exact sum, rounded to the nearest double,
    is not above the ceiling: the true sum passes the ceiling by half a unit in the last place at
    most, once, however many charges there are. Rounding the sum up instead would refuse the tenth
    of ten charges of 0.1 under a ceiling of 1.
    """

    @property
    @abstractmethod
    def ceiling(self) -> float:
        """Most that may ever be charged."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of the ceiling and of every charge."""

    @property
    @abstractmethod
    def events(self) -> tuple[Event, ...]:
        """Everything charged so far, in order."""

    @property
    @abstractmethod
    def spent(self) -> float:
        """Sum of the charges, the nearest double to the exact one."""

    @property
    @abstractmethod
    def remaining(self) -> float:
        """What may still be charged, rounded down; :meth:`allows` is exact."""

    @property
    def head(self) -> str:
        """``"<dataset> <rows>:<digest of the last one>"`` when this process last looked.

        For a statement; empty for a ledger that is in no database.
        """
        return ""

    @abstractmethod
    def allows(self, amount: float) -> bool:
        """Whether a charge of ``amount`` would fit now.

        ``amount <= remaining`` asks for less than that: after nine charges of 0.1 under a ceiling
        of 1 what remains is a little below 0.1, and a tenth one fits.
        """

    def check(self, amount: float) -> None:
        """Raise BudgetExhaustedError, with the ceiling that is in the way, where it would not."""
        if not self.allows(amount):
            raise BudgetExhaustedError(self.spent, amount, self.ceiling)

    @abstractmethod
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

    @abstractmethod
    def find(self, key: str) -> Event | None:
        """Event that was charged under an idempotency key, None when there is none."""

    @abstractmethod
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

    @abstractmethod
    def on_behalf_of(self, *, user: str | None = None, project: str | None = None) -> Ledger:
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


class Reservation(Ledger):
    """Part of a ledger's budget, set aside: what is charged here was charged there before.

    Once closed its ceiling is what had been spent.
    """

    @property
    @abstractmethod
    def note(self) -> str:
        """What it is for."""

    @property
    @abstractmethod
    def is_closed(self) -> bool:
        """Whether it refuses every charge."""

    @abstractmethod
    def release_unspent(self) -> float:
        """Close the reservation for good and give back what was never charged.

        Sound because charges come before answers and closing is atomic: whatever was released
        under the reservation has been charged by then, and nothing can be charged afterwards.

        Returns
        -------
        float
            What the ledger got back; 0 when the reservation was closed already.
        """


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
