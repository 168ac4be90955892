"""Checks of scalar arguments of the information functions."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np


def as_probability(name: str, value: Any) -> float:
    """Return ``value`` as a float in [0, 1]."""
    number = _as_real(name, value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must be a probability between 0 and 1, got {number!r}.")
    return number


def as_nats(name: str, value: Any) -> float:
    """Return ``value`` as a non-negative float, possibly infinite."""
    number = _as_real(name, value)
    if math.isnan(number) or number < 0.0:
        raise ValueError(f"{name} must be a non-negative number, got {number!r}.")
    return number


def as_count(name: str, value: Any, *, minimum: int) -> int:
    """Return ``value`` as an int of at least ``minimum``."""
    value = _scalar(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {int(value)}.")
    return int(value)


def _as_real(name: str, value: Any) -> float:
    value = _scalar(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, got {type(value).__name__}.")
    return float(value)


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
