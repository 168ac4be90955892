"""Exact scaling by powers of two, for numbers whose squares would vanish or overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.bounds.arrays import Floats

# Squares, and squares times 1e30, of numbers between 2**-200 and 2**200 are far inside a double.
_ORDINARY = 200
_LARGEST = 2.0**1020


def binary_exponent(values: ArrayLike) -> int:
    """Return the exponent ``e`` with the largest absolute value in ``[2**(e - 1), 2**e)``.

    Parameters
    ----------
    values : array-like of finite numbers

    Returns
    -------
    int
        0 where the largest is between ``2**-200`` and ``2**200``, or zero.

    Examples
    --------
    >>> binary_exponent([3.0, -1e200]), binary_exponent([3.0, 1e-200])
    (665, 0)
    """
    return int(exponents_of(np.max(np.abs(values), initial=0.0)))


def exponents_of(sizes: ArrayLike) -> NDArray[np.int64]:
    """Return exponent of each of several largest absolute values, as :func:`binary_exponent`."""
    # Powers of two alone: scaling there and back changes no bit (rule 13).
    exponents = np.frexp(sizes)[1].astype(np.int64)
    ordinary = (exponents > -_ORDINARY) & (exponents <= _ORDINARY)
    return np.where(ordinary, 0, exponents)


def middle_exponent(sizes: Floats) -> int:
    """Return the exponent half way between the largest and the least positive of ``sizes``.

    0 where both are ordinary, as in :func:`binary_exponent`.
    """
    largest = float(np.max(sizes, initial=0.0))
    least = float(np.min(sizes, initial=largest, where=sizes > 0))
    if not np.any(exponents_of([largest, least])):
        return 0
    return int(np.frexp([least, largest])[1].sum()) // 2


def scaled_by(values: Any, exponent: int | NDArray[np.int64]) -> Floats:
    """Return ``values * 2**exponent``, exact but for what becomes subnormal; kept finite."""
    if not np.any(exponent):
        return np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(np.ldexp(values, exponent), -_LARGEST, _LARGEST))


def power_by(power: float, exponent: int) -> float:
    """Return the power (a sum of squares) of what is scaled by ``2**exponent``.

    May be 0 or infinite.
    """
    with np.errstate(over="ignore"):
        return float(np.ldexp(power, 2 * exponent))
