"""The one unknown row, from the parameters of a model and all its other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from pacsklearn.information.arrays import Floats

__all__ = ["unknown_row"]


def unknown_row(model: Any, X: Floats, y: Any) -> Floats:
    """Row that, added to ``X``, makes the model's parameters those of a fit.

    Parameters
    ----------
    model : fitted LinearRegression, Ridge, LogisticRegression of two classes, or PCA
        With an intercept where it is linear.
    X : ndarray of shape (n_known, d)
        All rows but one.
    y : ndarray of shape (n_known,) or None

    Returns
    -------
    ndarray of shape (d,)

    Raises
    ------
    ValueError
        When the model is another one.

    Notes
    -----
    At the optimum of a linear model the gradients of all rows and of the penalty add up to zero, so
    that of the unknown row is minus the sum of the known parts; it is a multiple of the row with a
    one for the intercept appended, whose last entry gives the multiple. The mean of a PCA is the
    mean of all its rows. Source: Balle, Cherubin and Hayes (2022), section 4.
    """
    if hasattr(model, "components_") and hasattr(model, "mean_"):
        return (len(X) + 1) * np.asarray(model.mean_) - X.sum(axis=0)
    if not hasattr(model, "coef_") or not getattr(model, "fit_intercept", False):
        raise ValueError(
            f"{type(model).__name__} has no equations that are known here; give a linear model "
            "with an intercept, or a PCA."
        )
    design = np.column_stack([X, np.ones(len(X))])
    slopes = np.ravel(model.coef_)
    scores = design @ np.append(slopes, np.ravel(model.intercept_))
    if hasattr(model, "classes_"):
        misses = expit(scores) - (np.asarray(y) == model.classes_[1])
        pull = slopes / model.C
    else:
        misses = scores - np.asarray(y)
        pull = slopes * getattr(model, "alpha", 0.0)
    gradient = -(design.T @ misses) - np.append(pull, 0.0)
    return np.asarray(gradient[:-1] / gradient[-1])
