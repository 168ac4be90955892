"""Every number that a fitted model publishes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from pacsklearn.kernel.bounds.arrays import Floats


def model_numbers(model: Any) -> Floats:
    """Return all numbers in the fitted attributes of a model and its parts, in a fixed order.

    Parameters
    ----------
    model : estimator
        Fitted. Whatever sits in its ``__dict__`` under a name that ends with an underscore is
        published, private names included.

    Returns
    -------
    ndarray of shape (k,)
    """
    parts: list[Floats] = []
    _collect(model, parts, set())
    return np.concatenate(parts) if parts else np.empty(0)


def _collect(value: Any, parts: list[Floats], seen: set[int]) -> None:
    numbers = _as_numbers(value)
    if numbers is not None:
        parts.append(numbers)
    elif id(value) not in seen:
        seen.add(id(value))
        for part in _parts(value):
            _collect(part, parts, seen)


def _as_numbers(value: Any) -> Floats | None:
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return np.array([value], dtype=np.float64)
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        return np.ravel(value).astype(np.float64)
    return None


def _parts(value: Any) -> Iterable[Any]:
    """Return what a value that is no number holds, in an order of its own making."""
    if isinstance(value, np.ndarray):
        return value.flat if value.dtype == object else ()
    if isinstance(value, dict):
        return [value[name] for name in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        return value
    if not hasattr(value, "get_params") or isinstance(value, type):
        return ()
    state = vars(value)
    fitted = sorted(name for name in state if name.endswith("_"))
    inside = [name for name in ("steps", "transformers", "estimators") if name in state]
    return [state[name] for name in [*fitted, *inside]]
