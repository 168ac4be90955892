"""Models of all candidates from what was computed for them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

from sklearn.base import clone


def filled_models(
    estimator: Any, solved: Iterable[Any], fill: Callable[[Any, int], None], features: Any
) -> list[Any]:
    """Return a clone for each candidate that is solved, filled with its numbers, or None."""
    blank, models = clone(estimator), []
    for i, is_solved in enumerate(solved):
        model = copy(blank) if is_solved else None  # parameters are plain values
        if model is not None:
            fill(model, i)
            vars(model).update(features)
        models.append(model)
    return models
