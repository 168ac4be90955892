"""Append-only account of what has been released."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from typing import Any, NoReturn, final

from pacsklearn._validation import check_budget
from pacsklearn.core.event import Event
from pacsklearn.exceptions import BudgetExhaustedError

__all__ = ["Ledger", "MemoryLedger"]


class Ledger(ABC):
    """A ceiling and the events charged against it.

    ``charge`` is atomic and comes before the noise: a crash can lose an answer, never a charge.
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

    @abstractmethod
    def charge(self, event: Event) -> bool:
        """Append ``event`` if its charge fits under the ceiling.

        Returns
        -------
        bool
            False when the event's key had been charged before; nothing changes then.

        Raises
        ------
        BudgetExhaustedError
            When it does not fit; nothing changes then.
        """

    @property
    def spent(self) -> float:
        """Sum of the charges."""
        return math.fsum(event.charge for event in self.events)

    @property
    def remaining(self) -> float:
        """What may still be charged."""
        return max(self.ceiling - self.spent, 0.0)


@final
class MemoryLedger(Ledger):
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
        self._ceiling = check_budget(budget=ceiling, name="ceiling")
        self._unit = unit
        self._events: list[Event] = []
        self._lock = threading.Lock()

    @property
    def ceiling(self) -> float:
        return self._ceiling

    @property
    def unit(self) -> str:
        return self._unit

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    def charge(self, event: Event) -> bool:
        if event.unit != self._unit:
            raise ValueError(
                f"This ledger counts {self._unit}, the event is in {event.unit}; units are never "
                "added. Use a ledger of the event's unit."
            )
        if not (math.isfinite(event.charge) and event.charge >= 0):
            raise ValueError(f"An event's charge must be finite and >= 0, got {event.charge!r}.")
        with self._lock:
            if any(known.key == event.key for known in self._events):
                return False
            spent = self.spent
            if spent + event.charge > self._ceiling:
                raise BudgetExhaustedError(spent, event.charge, self._ceiling)
            self._events.append(event)
        return True

    def __copy__(self) -> MemoryLedger:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> MemoryLedger:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A MemoryLedger lives in one process and cannot be pickled: a copy could spend the "
            "budget a second time."
        )
