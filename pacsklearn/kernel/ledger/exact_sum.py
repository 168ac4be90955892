"""Sums of doubles without any rounding, as whole numbers of the smallest one."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

_PLACES: Final = 1074
"""Binary places of the smallest double: each of them is a whole number of 2**-1074."""


@lru_cache(maxsize=1024)  # of one charge it is asked for its ceiling and for its sum
def exact(amount: float | Fraction) -> int:
    """Return an amount, or a sum of some, in units of 2**-1074: cheaper to add than fractions."""
    numerator, denominator = amount.as_integer_ratio()
    return numerator << (_PLACES + 1 - denominator.bit_length())


def nearest(total: int) -> float:
    """Return the double that is nearest to an exact sum."""
    # Division of integers rounds to the nearest double, whatever their size.
    return total / (1 << _PLACES)


def exact_text(total: int) -> str:
    """Return an exact sum as a fraction in lowest terms, as ledgers write it."""
    places = max(_PLACES + 1 - (total & -total).bit_length(), 0) if total else 0
    numerator = total >> (_PLACES - places)
    return f"{numerator}/{1 << places}" if places else str(numerator)


def exact_of(text: str) -> int:
    """Return the exact sum that :func:`exact_text` wrote.

    Raises
    ------
    ValueError
        When it is none.
    """
    numerator, _, denominator = text.partition("/")
    places = int(denominator or 1).bit_length() - 1
    total = int(numerator) << max(_PLACES - places, 0)
    if exact_text(total) != text:
        raise ValueError("no sum of a ledger")
    return total


def fits(total: int, charge: float, ceiling: float) -> bool:
    """Return whether ``charge`` may be added to the exact sum ``total`` (see ``Ledger``)."""
    # One rounding, of the whole sum: roundings of single additions would let ever more through.
    return nearest(total + exact(charge)) <= ceiling


def largest_refund(amount: float, total: int) -> float:
    """Return the largest double that is not above what ``total`` leaves of ``amount``."""
    unspent = exact(amount) - total
    if unspent <= 0:
        return 0.0
    # The nearest double may be above what is left, and would give back more than was set aside.
    refund = nearest(unspent)
    return refund if exact(refund) <= unspent else math.nextafter(refund, 0.0)
