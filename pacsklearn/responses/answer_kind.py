"""What a black box answers with, and the public facts needed to answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

__all__ = ["ResponseKind", "response_kind"]


@final
@dataclass(frozen=True, eq=False)
class ResponseKind:
    """Labels, probabilities or values.

    Parameters
    ----------
    answers : {"labels", "probabilities", "values"}
    classes : ndarray or None
        Public class labels, sorted.
    value_range : (float, float) or None
        Public range of values.
    width : int
        Numbers in one answer.
    """

    answers: str
    classes: NDArray[Any] | None
    value_range: tuple[float, float] | None
    width: int


def response_kind(estimator: Any, y: Any, answers: str, value_range: Any) -> ResponseKind:
    """Check what is asked of ``estimator`` against what it can say."""
    name = type(estimator).__name__
    if answers not in ("auto", "labels", "probabilities", "values"):
        raise ValueError(
            f"answers must be 'auto', 'labels', 'probabilities' or 'values', got {answers!r}."
        )
    if y is None or not (is_classifier(estimator) or is_regressor(estimator)):
        raise ValueError(
            f"Private responses need a classifier or a regressor and its targets; {name} has "
            "nothing to answer. Release its parameters, or wrap another estimator."
        )
    if is_regressor(estimator):
        if answers not in ("auto", "values"):
            raise ValueError(f"answers={answers!r} needs a classifier; {name} answers values.")
        width = 1 if np.ndim(y) == 1 else int(np.shape(y)[1])
        return ResponseKind("values", None, _range(value_range, name), width)
    if answers == "values":
        raise ValueError(f"answers='values' needs a regressor; {name} is a classifier.")
    if np.ndim(y) != 1:
        raise ValueError(f"Private responses need one target, got y of shape {np.shape(y)}.")
    if answers == "probabilities" and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"answers='probabilities' needs predict_proba, which {name} as configured has not; "
            "use answers='labels'."
        )
    classes = np.unique(np.asarray(y))
    return ResponseKind("labels" if answers == "auto" else answers, classes, None, classes.size)


def _range(value_range: Any, name: str) -> tuple[float, float]:
    advice = (
        f"{name} answers numbers, which are clipped to a public range; give value_range=(low, "
        "high), chosen without looking at y"
    )
    if value_range is None:
        raise ValueError(f"value_range is missing: {advice}.")
    try:
        low, high = (float(bound) for bound in value_range)
    except (TypeError, ValueError):
        raise ValueError(
            f"value_range must be two numbers, got {value_range!r}: {advice}."
        ) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"value_range must be finite and increasing, got {value_range!r}.")
    return low, high
