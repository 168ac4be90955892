"""Clipped gradients of linear models, without a loop over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pacsklearn.estimators.srpp_sgd.losses import LinearLoss
from pacsklearn.information.arrays import Floats


def clipped_sum(
    rows: Any,
    targets: Floats,
    parameters: Floats,
    loss: LinearLoss,
    clip_norm: float,
    weights: Floats | None = None,
    *,
    intercept: bool = True,
) -> Floats:
    """Sum of the rows' gradients, each clipped to a norm.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (b, n_features)
    targets : ndarray of shape (b, k)
        Of the k models that are trained together.
    parameters : ndarray of shape (k, n_features + 1)
        Coefficients and, last, intercepts.
    loss : LinearLoss
    clip_norm : float
        For a row's gradient in all k models together.
    weights : ndarray of shape (b,), optional
        Of the rows' losses.
    intercept : bool, default=True
        Whether the models have intercepts; their gradients are 0 otherwise.

    Returns
    -------
    ndarray of shape (k, n_features + 1)

    Notes
    -----
    A row's gradient is the outer product of its k slopes and ``(row, 1)``; its norm is the product
    of theirs. So one factor a row clips it, and nothing of the size of all gradients is ever made.
    """
    # All of them: whether a float overflows, or underflows, here is a fact about the rows.
    with np.errstate(all="ignore"):
        slopes = loss.slopes(rows @ parameters[:, :-1].T + parameters[:, -1], targets)
        if weights is not None:
            slopes = slopes * weights[:, None]
        squares = squared_norms(rows)
        if intercept:
            squares += 1.0
        squares *= np.einsum("ij,ij->i", slopes, slopes)
        factors = clip_norm / np.maximum(np.sqrt(squares), clip_norm)
        slopes = slopes * factors[:, None]
        # A row whose gradient is too large for doubles moves nothing.
        if not np.all(np.isfinite(squares)):
            slopes[~np.isfinite(squares)] = 0.0
        total = np.empty_like(parameters)
        total[:, :-1] = slopes.T @ rows
        total[:, -1] = slopes.sum(axis=0) if intercept else 0.0
    return total


def squared_norms(rows: Any) -> Floats:
    """Squared lengths of the rows of an array or a sparse matrix."""
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
