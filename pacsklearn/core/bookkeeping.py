"""Rules that every ledger keeps, whatever it is written on."""

from __future__ import annotations

import math
from fractions import Fraction

from pacsklearn.core.event import Event
from pacsklearn.exceptions import LedgerMismatchError

__all__ = ["bookkeeping_event", "check_event", "fits", "largest_refund"]

_RESERVED_KINDS = frozenset({"reservation", "reservation-closed", "reservation-returned"})


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
    if not (math.isfinite(event.charge) and event.charge >= 0):
        raise LedgerMismatchError(
            f"An event's charge must be finite and >= 0, got {event.charge!r}."
        )
    if event.kind in _RESERVED_KINDS:
        raise LedgerMismatchError(
            f"Events of the kind {event.kind!r} are written by the ledger itself; call reserve() "
            "or release_unspent()."
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
