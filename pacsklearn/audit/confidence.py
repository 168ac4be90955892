"""What attacks on models look at: how sure one is of each row, and every number it publishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_clusterer, is_regressor

from pacsklearn._validation import has_params
from pacsklearn.kernel.bounds.arrays import Floats

_TINY = np.finfo(np.float64).tiny


def row_confidences(model: Any, X: Any, y: Any = None) -> Floats:
    """Return the confidence of a fitted model in each row; larger where it fits the row better.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,), optional
        Targets of supervised models.

    Returns
    -------
    ndarray of shape (n_rows,)
        Classifiers: the decision value of the row's own class, or the log-odds of its probability.
        Regressors: minus the squared error. K-means: one minus the distance to the row's centre as
        a share of the largest. Transformers that can be inverted: minus the squared reconstruction
        error. Densities: the log-density.

    Raises
    ------
    ValueError
        When the model offers none of these.

    Notes
    -----
    Source: pac-private-algorithms, section 8.1, with the row's own class instead of the likeliest
    one: without the label a wrong but sure answer looks like membership. Its Platt map is
    increasing, so thresholds on either scale are the same.
    """
    if y is not None and is_classifier(model):
        return _of_own_class(model, X, np.asarray(y))
    if y is not None and is_regressor(model) and hasattr(model, "predict"):
        error = np.asarray(model.predict(X), dtype=np.float64) - np.asarray(y, dtype=np.float64)
        return -np.sum(np.reshape(error, (len(error), -1)) ** 2, axis=1)
    if is_clusterer(model) and hasattr(model, "transform"):
        distance = np.asarray(model.transform(X), dtype=np.float64).min(axis=1)
        return 1 - distance / max(float(distance.max()), _TINY)
    if hasattr(model, "inverse_transform") and hasattr(model, "transform"):
        again = np.asarray(model.inverse_transform(model.transform(X)), dtype=np.float64)
        return -np.sum((np.asarray(X, dtype=np.float64) - again) ** 2, axis=1)
    if hasattr(model, "score_samples"):
        return np.asarray(model.score_samples(X), dtype=np.float64)
    raise ValueError(
        f"{type(model).__name__} says nothing about how well it fits a row: it has no decision "
        "function, probabilities, predictions, distances or densities. Attack its parameters with "
        "'optimal_membership' instead."
    )


def _of_own_class(model: Any, X: Any, y: NDArray[Any]) -> Floats:
    column = np.searchsorted(model.classes_, y)
    rows = np.arange(len(y))
    if hasattr(model, "decision_function"):
        decision = np.asarray(model.decision_function(X), dtype=np.float64)
        if decision.ndim == 1:
            return np.where(column == 1, decision, -decision)
        if decision.shape[1] == len(model.classes_):
            return np.asarray(decision[rows, column])
    if hasattr(model, "predict_proba"):
        share = np.asarray(model.predict_proba(X), dtype=np.float64)[rows, column]
        return np.log(np.maximum(share, _TINY)) - np.log(np.maximum(1 - share, _TINY))
    return (np.asarray(model.predict(X)) == y).astype(np.float64)


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
    return np.concatenate([np.empty(0), *_collected(model, set())])


def _collected(value: Any, seen: set[int]) -> Iterator[Floats]:
    numbers = _as_numbers(value)
    if numbers is not None:
        yield numbers
    elif id(value) not in seen:
        seen.add(id(value))
        for part in _parts(value):
            yield from _collected(part, seen)


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
    if not has_params(value):
        return ()
    state = vars(value)
    fitted = sorted(name for name in state if name.endswith("_"))
    inside = [name for name in ("steps", "transformers", "estimators") if name in state]
    return [state[name] for name in [*fitted, *inside]]
