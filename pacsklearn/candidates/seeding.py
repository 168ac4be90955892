"""Fixed public seeds for every source of randomness inside an estimator."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.base import clone

__all__ = ["seeded_clone"]


def seeded_clone(estimator: Any, seed: int = 0) -> Any:
    """Unfitted clone with every ``random_state`` that is not an integer set to ``seed``.

    The same public seed serves every subset: given the seeds, the model is a function of the
    subset alone.
    """
    fresh = clone(estimator)
    states = {
        name: seed
        for name, value in sorted(fresh.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state"))
        and (isinstance(value, bool) or not isinstance(value, Integral))
    }
    return fresh.set_params(**states) if states else fresh
