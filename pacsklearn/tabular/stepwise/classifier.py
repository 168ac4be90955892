"""Stepwise models that classify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.additive.score_classifier import ScoreClassifier
from pacsklearn.tabular.stepwise.stepwise_model import StepwiseModel


@dataclass(eq=False, repr=False)
class StepwiseClassifier(ClassifierMixin, StepwiseModel, ScoreClassifier):
    """Linear classifier of the few columns that explain the classes best, made to be released.

    Small budgets pay for a handful of numbers. The columns are found by forward stepwise
    regression on the subset's own rows; columns that no candidate chooses have weight zero in all
    of them and need no noise. Put :class:`SchemaEncoder` with ``numbers="thermometer"`` before it:
    its bounds and categories are the columns to choose among.

    Parameters
    ----------
    n_terms : int, default=4
        Columns whose weights are free. Where candidates would choose different ones the noise is
        large: ``PACPrivate(Tuned(..., {"n_terms": [...]}))`` finds a number on which they
        agree.
    ridge : float, optional
        Give the other columns weights too, with this penalty on their squares, a row; columns are
        taken in the units they come in. Without it they have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        From ``fit``: a parameter is out of range, or there is one class only.

    Notes
    -----
    Directions are those of least squares on indicators of the classes; one scale and the
    intercepts are then fitted by maximum likelihood, with a small penalty on the scale, so that
    shrunken directions predict rare classes too. Both are functions of the subset's rows, solved to
    rounding. Source: forward stepwise regression (Efroymson, 1960); scaling as of Platt (1999).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pacsklearn.tabular import StepwiseClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = StepwiseClassifier(n_terms=3).fit(X, y)
    >>> int((model.coef_ != 0).sum()), model.score(X, y) > 0.9
    (3, True)
    """

    def fit(self, X: Any, y: Any) -> StepwiseClassifier:
        """Choose columns and fit their weights.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        """
        self.check()
        X, y = validate_data(self, X, y, dtype=np.float64)
        codes = self.read_classes(y)
        weights = self.weights_of_rows(X, np.eye(self.classes_.size)[codes])
        self.set_weights(weights, X @ weights, codes)
        return self

    def set_weights(self, weights: Floats, scores: Floats, codes: NDArray[np.intp]) -> None:
        """Take over directions (n_features, n_classes), scaled by the scores of the own rows."""
        scale, shift = calibrated(scores, codes)
        coef, intercept = scale * weights.T, shift
        if len(coef) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept


_MOST_STEPS = 60
_SMALLEST_STEP = 1e-10
# Keeps the scale finite where the scores part the classes.
_PENALTY = 0.01


def calibrated(scores: Floats, codes: NDArray[np.intp]) -> tuple[float, Floats]:
    """Scale ``a`` and intercepts ``b`` of class probabilities ``softmax(a scores + b)``.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, K)
    codes : ndarray of shape (n_rows,)
        Class of each row; every class occurs.

    Returns
    -------
    float, ndarray of shape (K,)
        The first class's intercept is zero.

    Notes
    -----
    Newton's method, to rounding. The scores' differences are taken in units of their standard
    deviation, where the scale has a small penalty: the problem is strictly convex. Of two classes
    rows of one score are taken together: few bins have few sums.
    """
    n_classes = scores.shape[1]
    apart = scores[:, 1:] - scores[:, :1]
    if n_classes == 2:
        values, place = np.unique(apart, return_inverse=True)
        counts = np.bincount(2 * place.ravel() + codes, minlength=2 * values.size).reshape(-1, 2)
        apart, truth = values[:, None], counts[:, 1:].astype(np.float64)
        held = counts.sum(axis=1, keepdims=True).astype(np.float64)
    else:
        truth, held = np.eye(n_classes)[codes][:, 1:], np.ones((len(apart), 1))
    centre = (held * apart).sum(axis=0) / len(codes)
    apart = apart - centre
    size = float(np.sqrt(np.sum(held * apart**2) / (len(codes) * (n_classes - 1))))
    units = apart / size if size > 0 else np.zeros_like(apart)
    penalty = np.zeros(n_classes)
    penalty[0] = _PENALTY

    def objective(w: Floats) -> tuple[float, Floats]:
        logits = w[0] * units + w[1:]
        total = np.logaddexp(0.0, _total(logits))
        loss = held[:, 0] @ total - np.sum(truth * logits)
        logits -= total[:, None]
        return float(loss + penalty @ w**2 / 2), logits

    w = np.zeros(n_classes)
    value, log_p = objective(w)
    for _ in range(_MOST_STEPS):
        p = np.exp(log_p)
        wrong, scaled = held * p - truth, held * p * units
        gradient = np.concatenate([[np.sum(wrong * units)], wrong.sum(axis=0)]) + penalty * w
        # Mean of each row's features under its probabilities: the scale's, then the intercepts'.
        mean = np.column_stack([(p * units).sum(axis=1), p])
        bent = np.diag(np.concatenate([[np.sum(scaled * units)], (held * p).sum(axis=0)]))
        bent[0, 1:] = bent[1:, 0] = scaled.sum(axis=0)
        step = np.linalg.solve(bent - (held * mean).T @ mean + np.diag(penalty), -gradient)
        length = 1.0
        while length > _SMALLEST_STEP:
            reached, log_p = objective(w + length * step)
            if reached <= value + 1e-12 * abs(value):
                break
            length /= 2
        w, value = w + length * step, reached
        if np.abs(step).max() <= _SMALLEST_STEP * max(1.0, float(np.abs(w).max())):
            break
    scale = float(w[0] / size) if size > 0 else 0.0
    return scale, np.concatenate([[0.0], w[1:] - scale * centre])


def _total(logits: Floats) -> Floats:
    """Return the logarithm of the sum of the exponentials of each row.

    That of the first class is one.
    """
    if logits.shape[1] == 1:
        return logits[:, 0]
    # scipy's logsumexp takes several times as long, and this is most of a fit of many classes.
    largest = logits.max(axis=1)
    return np.asarray(largest + np.log(np.exp(logits - largest[:, None]).sum(axis=1)))
