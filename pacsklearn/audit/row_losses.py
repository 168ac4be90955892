"""How badly a model fits each row, and how well that tells who was trained on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import is_classifier, is_regressor

from pacsklearn.audit.confidence import row_confidences
from pacsklearn.kernel.bounds.arrays import Floats

_TINY = np.finfo(np.float64).tiny


def row_losses(model: Any, X: Any, y: Any) -> Floats:
    """Return the loss of a fitted model on each row.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)

    Returns
    -------
    ndarray of shape (n_rows,)
        Cross-entropy where there are probabilities, the squared error of regressors, otherwise
        minus the confidence in the row.
    """
    if is_classifier(model) and hasattr(model, "predict_proba"):
        shares = np.asarray(model.predict_proba(X), dtype=np.float64)
        columns = np.searchsorted(model.classes_, np.asarray(y))
        return -np.log(np.maximum(shares[np.arange(len(columns)), columns], _TINY))
    if is_regressor(model) and hasattr(model, "predict"):
        return np.asarray((np.asarray(model.predict(X)) - np.asarray(y)) ** 2, dtype=np.float64)
    return -row_confidences(model, X, y)


def membership_auc(inside: ArrayLike, outside: ArrayLike) -> float:
    """Return the area under the curve of calling rows of low loss members.

    Parameters
    ----------
    inside, outside : array-likes
        Losses of rows that were trained on, and of rows that were not.

    Returns
    -------
    float
        Probability that a member's loss is below a non-member's, ties counted half: 0.5 when losses
        tell nothing.

    Notes
    -----
    Source: srpp, appendix W.3, after Yeom et al. (2018).

    Examples
    --------
    >>> membership_auc([0.1, 0.2], [0.2, 0.9])
    0.875
    """
    low, high = np.asarray(inside, dtype=np.float64), np.asarray(outside, dtype=np.float64)
    if low.ndim != 1 or high.ndim != 1 or not low.size or not high.size:
        raise ValueError(
            f"inside and outside must be losses of at least one row each, got shapes {low.shape} "
            f"and {high.shape}."
        )
    ranks = rankdata(np.concatenate([high, low]))[: high.size].sum()
    return float((ranks - high.size * (high.size + 1) / 2) / (low.size * high.size))
