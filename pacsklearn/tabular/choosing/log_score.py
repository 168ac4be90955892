"""Mean log-probability of the true classes, with decisions divided by a public temperature."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from pacsklearn.estimators.averaged import AveragedClassifier, logistic_normal
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.additive.classifier import AdditiveClassifier
from pacsklearn.tabular.stepwise.classifier import StepwiseClassifier
from pacsklearn.universe.row_rules import steps_of

TEMPERATURES = tuple(2.0 ** (j / 2) for j in (0, 4, -2, 6, 2, 8, -3, 1, 3))
"""What decisions may be divided by, the first of them where few are counted; constants.

A penalty makes decisions too small, and noise makes them too large, by more.
"""

# As scikit-learn's log_loss: a probability of zero costs this much, and not infinitely much.
_SMALLEST = float(np.log(np.finfo(np.float64).eps))
# Numbers that a decision is linear in, of models whose probabilities are its softmax.
_WEIGHTS: dict[type, tuple[str, ...]] = {
    LogisticRegression: ("coef_", "intercept_"),
    LinearDiscriminantAnalysis: ("coef_", "intercept_"),
    StepwiseClassifier: ("coef_", "intercept_"),
    AdditiveClassifier: ("coef_", "intercept_", "scale_"),
}
# Of shrunken discriminants, which are too sure of themselves without noise: none below 1.
_LADDERS = {LinearDiscriminantAnalysis: tuple(2.0 ** (j / 2) for j in (0, 4, 8, 2, 6, 3, 5, 1, 7))}


def log_scores(
    model: Any, X: Any, y: NDArray[Any], temperatures: tuple[float, ...] = (1.0,)
) -> Floats:
    """Return the mean log-probability of the true classes at each temperature; (n_temperatures,).

    A strictly proper score: its expectation is largest for the true probabilities.
    Arguments as for :func:`log_and_right`.
    """
    return log_and_right(model, X, y, temperatures)[:-1]


def log_and_right(
    model: Any, X: Any, y: NDArray[Any], temperatures: tuple[float, ...] = (1.0,)
) -> Floats:
    """Log scores at each temperature, then the share of rows whose most probable class is right.

    Margins and labels of models without probabilities are read as logits. Shape
    (n_temperatures + 1,).

    Parameters
    ----------
    model : classifier
        Fitted.
    X : rows
    y : ndarray of shape (n,)
    temperatures : tuple of float, default=(1.0,)
    """
    logits, at = _log_probabilities(model, X, temperatures[0])
    classes, y = np.asarray(model.classes_), np.asarray(y)  # types of others compare in own ways
    places = np.minimum(np.searchsorted(classes, y), classes.size - 1)
    # A class that the model has never heard of has no probability.
    known = classes[places] == y
    scores = []
    for temperature in temperatures:
        with np.errstate(invalid="ignore"):
            own = at(temperature)[np.arange(len(y)), places]
        possible = known & np.isfinite(own)
        scores.append(float(np.mean(np.where(possible, np.maximum(own, _SMALLEST), _SMALLEST))))
    right = known & (logits.argmax(axis=1) == places)
    return np.array([*scores, float(np.mean(right))])


def temperatures_of(estimator: Any, most: int = len(TEMPERATURES)) -> tuple[float, ...]:
    """Return the temperatures that an estimator's decisions are scored at, 1 first.

    At most ``most`` of those that its weights may be released divided by, all of them where there
    are no probabilities and a margin has no scale of its own, and 1 for probabilities as they are.
    """
    if is_tempered(estimator):
        return _LADDERS.get(type(steps_of(estimator)[-1]), TEMPERATURES)[:most]
    has_margins = is_classifier(estimator) and not hasattr(estimator, "predict_proba")
    return TEMPERATURES if has_margins else TEMPERATURES[:1]


def is_tempered(estimator: Any) -> bool:
    """Return whether a classifier's weights can be divided.

    Its logits are too, and its labels stay.
    """
    last = steps_of(estimator)[-1]
    # Of more than two classes liblinear's probabilities are no softmax.
    return type(last) in _WEIGHTS and getattr(last, "solver", "") != "liblinear"


@singledispatch
def tempered(model: Any, temperature: float) -> Any:
    """Divide a fitted classifier's weights by a temperature, in place, where it has such."""
    if temperature != 1 and is_tempered(model):
        last = steps_of(model)[-1]
        for name in _WEIGHTS[type(last)]:
            setattr(last, name, getattr(last, name) / temperature)
    return model


@tempered.register
def _(model: AveragedClassifier, temperature: float) -> Any:
    for part in model.parts():
        tempered(part, temperature)
    return model


@singledispatch
def _log_probabilities(
    model: Any, X: Any, first: float
) -> tuple[Floats, Callable[[float], Floats]]:
    """Return logits, for labels, and log-probabilities as a function of the temperature.

    Of averaged probabilities the labels are those at the first temperature.
    """
    del first
    logits = _logits(model, X)
    return logits, lambda temperature: log_softmax(logits / temperature, axis=1)


@_log_probabilities.register
def _(model: AveragedClassifier, X: Any, first: float) -> tuple[Floats, Callable[[float], Floats]]:
    if model.in_closed_form_:
        mean, variance = (np.column_stack([each, each]) for each in model.moments(X))
        mean[:, 0] *= -1

        def at(temperature: float) -> Floats:
            with np.errstate(divide="ignore"):
                return np.log(logistic_normal(mean / temperature, variance / temperature**2))

    else:
        rows = model.encoded(X)
        votes = np.stack([_logits(copy, rows) for copy in model.copies_])

        def at(temperature: float) -> Floats:
            each = log_softmax(votes / temperature, axis=2)
            return np.asarray(logsumexp(each, axis=0) - np.log(len(votes)))

    return at(first), at


def _logits(model: Any, X: Any) -> Floats:
    """Return logarithms of the class probabilities, up to a number a row; (n_rows, n_classes)."""
    n_classes = len(model.classes_)
    # Decisions first: logarithms of probabilities that are zero in doubles say too little.
    if hasattr(model, "predict_proba") and not is_tempered(model):
        if hasattr(model, "predict_log_proba"):
            return np.maximum(model.predict_log_proba(X), _SMALLEST)
        return np.log(np.maximum(model.predict_proba(X), np.exp(_SMALLEST)))
    if hasattr(model, "decision_function"):
        decisions = np.asarray(model.decision_function(X), dtype=np.float64)
        if decisions.ndim == 1:
            return np.column_stack([np.zeros_like(decisions), decisions])
        if decisions.shape[1] == n_classes:
            return decisions
    return np.asarray(np.asarray(model.predict(X))[:, None] == model.classes_, dtype=np.float64)
