"""Append-only account of what has been released."""

from __future__ import annotations

import math
import threading
import uuid
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, NoReturn, Self, final

from pacsklearn._validation import check_budget
from pacsklearn.core.event import LONGEST_NOTE, Event, ledger_number, ledger_text
from pacsklearn.core.home_process import HomeProcess
from pacsklearn.exceptions import BudgetExhaustedError, LedgerError, LedgerMismatchError

__all__ = [
    "Ledger",
    "MemoryLedger",
    "MemoryReservation",
    "Reservation",
    "bookkeeping_event",
    "check_event",
    "fits",
    "largest_refund",
]

_RESERVED_KINDS = frozenset({"reservation", "reservation-closed", "reservation-returned", "repair"})
_RESERVED_ENDINGS = ("/closed", "/returned")


def fits(total: Fraction, charge: float, ceiling: float) -> bool:
    """Whether ``charge`` may be added to the exact sum ``total`` (see ``Ledger``)."""
    return float(total + Fraction(float(charge))) <= ceiling


def largest_refund(amount: float, total: Fraction) -> float:
    """Largest double that is not above what ``total`` leaves of ``amount``."""
    unspent = Fraction(amount) - total
    if unspent <= 0:
        return 0.0
    refund = float(unspent)
    return refund if Fraction(refund) <= unspent else math.nextafter(refund, 0.0)


def check_event(event: Event, unit: str) -> None:
    """Refuse what no ledger of ``unit`` may be charged."""
    if event.unit != unit:
        raise LedgerMismatchError(
            f"This ledger counts {unit}, the event is in {event.unit}; units are never "
            "added. Use a ledger of the event's unit."
        )
    if event.charge < 0:
        raise LedgerMismatchError(
            f"An event's charge must be finite and >= 0, got {event.charge!r}."
        )
    if event.kind in _RESERVED_KINDS:
        raise LedgerMismatchError(
            f"Events of the kind {event.kind!r} are written by the ledger itself; call reserve() "
            "or release_unspent()."
        )
    if event.key.endswith(_RESERVED_ENDINGS):
        raise LedgerMismatchError(
            f"An event's key may not end in {' or '.join(map(repr, _RESERVED_ENDINGS))}: the "
            "ledger writes such keys itself when a reservation is closed."
        )


def bookkeeping_event(kind: str, charge: float, unit: str, key: str) -> Event:
    """Event that a ledger writes for itself: nothing was released with it."""
    return Event(
        kind=kind,
        charge=charge,
        unit=unit,
        backend="",
        bound=max(charge, 0.0),
        n_candidates=0,
        n_outputs=0,
        n_noisy=0,
        key=key,
    )


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

    @abstractmethod
    def allows(self, amount: float) -> bool:
        """Whether a charge of ``amount`` would fit now.

        ``amount <= remaining`` asks for less than that: after nine charges of 0.1 under a ceiling
        of 1 what remains is a little below 0.1, and a tenth one fits.
        """

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
    def reserve(self, amount: float, *, note: str = "") -> Reservation:
        """Charge ``amount`` at once, to be spent later through the returned account.

        Parameters
        ----------
        amount : float
            Ceiling of the reservation, in the ledger's unit.
        note : str
            What it is for.

        Raises
        ------
        BudgetExhaustedError
            When it does not fit; nothing changes then.
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


class _MemoryAccount(Ledger):
    """Charges of one process, under a lock that a ledger shares with its reservations."""

    def __init__(self, ceiling: float, unit: str, lock: threading.RLock) -> None:
        self._ceiling = ceiling
        self._unit = unit
        self._lock = lock
        self._events: dict[str, Event] = {}
        self._total = Fraction(0)
        self._closed = False
        self._home = HomeProcess("This account")

    @property
    def ceiling(self) -> float:
        return self.spent if self._closed else self._ceiling

    @property
    def unit(self) -> str:
        return self._unit

    @property
    def events(self) -> tuple[Event, ...]:
        self._home.check()
        with self._lock:
            return tuple(self._events.values())

    @property
    def spent(self) -> float:
        return float(self._total)

    @property
    def remaining(self) -> float:
        return 0.0 if self._closed else largest_refund(self._ceiling, self._total)

    def allows(self, amount: float) -> bool:
        amount = ledger_number("amount", amount)
        return not self._closed and fits(self._total, amount, self._ceiling)

    def charge(self, event: Event) -> bool:
        self._home.check()
        check_event(event, self._unit)
        with self._lock:
            known = self._events.get(event.key)
            if known is not None:
                if known != event:
                    raise LedgerMismatchError(
                        f"The key {event.key!r} was charged for another event."
                    )
                return False
            self._append(event)
        return True

    def reserve(self, amount: float, *, note: str = "") -> MemoryReservation:
        self._home.check()
        amount = check_budget(budget=amount, name="amount")
        note = ledger_text("note", note, LONGEST_NOTE)
        key = uuid.uuid4().hex
        with self._lock:
            self._append(bookkeeping_event("reservation", amount, self._unit, key))
        return MemoryReservation(self, amount, key, note)

    def _append(self, event: Event) -> None:
        if self._closed:
            raise LedgerError("The reservation is closed and takes no more charges.")
        if not fits(self._total, event.charge, self._ceiling):
            raise BudgetExhaustedError(self.spent, event.charge, self._ceiling)
        # In this order: an interrupt in between may count a charge twice, never leave one out.
        self._total += Fraction(float(event.charge))
        self._events[event.key] = event

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"A {type(self).__name__} lives in one process and cannot be pickled: a copy could "
            "spend the budget a second time. Processes share a ledger in a database: "
            "ledger='sqlite:///path'."
        )


@final
class MemoryLedger(_MemoryAccount):
    """Ledger of one process.

    It is a handle: ``copy``, ``deepcopy`` and ``clone`` give the same account, and it cannot be
    pickled, so that no copy of an account can be spent twice.

    Parameters
    ----------
    ceiling : float
        Positive.
    unit : str, default="nats"
    """

    def __init__(self, ceiling: float, unit: str = "nats") -> None:
        ceiling = check_budget(budget=ceiling, name="ceiling")
        super().__init__(ceiling, ledger_text("unit", unit), threading.RLock())

    def __repr__(self) -> str:
        return f"MemoryLedger(ceiling={self._ceiling:.6g}, unit={self._unit!r})"


@final
class MemoryReservation(_MemoryAccount, Reservation):
    """Reservation in a :class:`MemoryLedger`; made by its ``reserve``."""

    def __init__(self, parent: _MemoryAccount, amount: float, key: str, note: str) -> None:
        super().__init__(amount, parent._unit, parent._lock)
        self._parent = parent
        self._key = key
        self._note = note

    @property
    def note(self) -> str:
        return self._note

    @property
    def is_closed(self) -> bool:
        return self._closed

    def release_unspent(self) -> float:
        self._home.check()
        with self._lock:
            if self._closed:
                return 0.0
            refund = largest_refund(self._ceiling, self._total)
            key = f"{self._key}/closed"
            self._append(bookkeeping_event("reservation-closed", 0.0, self._unit, key))
            self._closed = True
            # A closed account gave this reservation back as spent; the account above it has not.
            account: _MemoryAccount = self._parent
            while account._closed and isinstance(account, MemoryReservation):
                account = account._parent
            key = f"{self._key}/returned"
            event = bookkeeping_event("reservation-returned", 0.0 - refund, self._unit, key)
            account._append(event)
        return refund

    def __repr__(self) -> str:
        return f"MemoryReservation(ceiling={self.ceiling:.6g}, unit={self._unit!r})"
