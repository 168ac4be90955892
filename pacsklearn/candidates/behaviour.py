"""Whether two models say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["same_behaviour"]


def same_behaviour(left: Any, right: Any) -> bool:
    """Equal labels, or numbers equal up to rounding in the precision they are given in."""
    left, right = _array(left), _array(right)
    if left.shape != right.shape:
        return False
    if left.dtype.kind not in "fc" and right.dtype.kind not in "fc":
        return bool(np.array_equal(left, right))
    single = left.dtype.itemsize < 8 or right.dtype.itemsize < 8
    tolerance = 1e-3 if single else 1e-6
    size = float(np.nanmax(np.abs(left), initial=0.0))
    return bool(np.allclose(left, right, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def _array(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)
