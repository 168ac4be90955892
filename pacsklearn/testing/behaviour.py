"""Comparison of what two estimators do."""

from __future__ import annotations

from typing import Any

import numpy as np


def same_behaviour(left: Any, right: Any, *, tolerance: float = 1e-6) -> bool:
    """Return whether two results of ``Canonicalizer.behaviour`` agree.

    Floating-point numbers agree up to ``tolerance`` times the largest magnitude; everything else
    (labels) exactly. Tuples, lists and dictionaries are compared element by element.
    """
    if isinstance(left, (tuple, list)):
        return (
            isinstance(right, (tuple, list))
            and len(left) == len(right)
            and all(
                same_behaviour(a, b, tolerance=tolerance) for a, b in zip(left, right, strict=True)
            )
        )
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same_behaviour(left[key], right[key], tolerance=tolerance) for key in left)
        )
    first, second = (_dense(value) for value in (left, right))
    if first.shape != second.shape:
        return False
    if first.dtype.kind != "f" or second.dtype.kind != "f":
        return bool(np.all(first == second))
    largest = float(np.max(np.abs(first), initial=0.0))
    return bool(np.allclose(first, second, rtol=tolerance, atol=tolerance * largest))


def _dense(value: Any) -> np.ndarray:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)
