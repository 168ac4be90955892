"""Which kind of answers a user asks an estimator for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.answers.answer_kind import (
    AnswerKind,
    LabelKind,
    ProbabilityKind,
    ValueKind,
)
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.priors import checked_range, normal_prior

_KINDS = (LabelKind, ProbabilityKind, ValueKind)


def answer_kind(
    estimator: Any, y: Any, answers: str, value_range: Any, prior_mean: Any = None
) -> AnswerKind:
    """Check what is asked of ``estimator`` against what it can say."""
    name = type(estimator).__name__
    if answers != "auto" and answers not in {kind.answers for kind in _KINDS}:
        raise ValueError(
            f"answers must be 'auto', 'labels', 'probabilities' or 'values', got {answers!r}."
        )
    if y is None or not (is_classifier(estimator) or is_regressor(estimator)):
        raise ValueError(
            f"Private responses need a classifier or a regressor and its targets; {name} has "
            f"nothing to answer. {_instead_of_answers(estimator)}"
        )
    if is_regressor(estimator):
        if answers not in ("auto", "values"):
            raise ValueError(f"answers={answers!r} needs a classifier; {name} answers values.")
        width = 1 if np.ndim(y) == 1 else int(np.shape(y)[1])
        ends = _range(value_range, name)
        return ValueKind(ends, width, normal_prior(prior_mean, ends))
    if answers == "values":
        raise ValueError(f"answers='values' needs a regressor; {name} is a classifier.")
    if np.ndim(y) != 1:
        raise ValueError(f"Private responses need one target, got y of shape {np.shape(y)}.")
    if answers == "probabilities" and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"answers='probabilities' needs predict_proba, which {name} as configured has not; "
            "use answers='labels'."
        )
    # Of the whole table: classes are public, and the same whichever candidate is true.
    classes = np.unique(np.asarray(y))
    return ProbabilityKind(classes) if answers == "probabilities" else LabelKind(classes)


def _instead_of_answers(estimator: Any) -> str:
    try:
        registry().canonicalizer_for(estimator)
    except NoCanonicalizerError as error:
        return str(error)
    return "Its parameters can be released: release=Parameters()."


def _range(value_range: Any, name: str) -> tuple[float, float]:
    advice = (
        f"{name} answers numbers, which are clipped to a public range; give prior=Range(low, "
        "high), chosen without looking at y"
    )
    if value_range is None:
        raise ValueError(f"prior must have a range: {advice}.")
    return checked_range(value_range, f": {advice}")
