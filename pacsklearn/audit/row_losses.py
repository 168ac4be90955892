"""How badly a model fits each row."""

from __future__ import annotations

from typing import Any

import numpy as np
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
