"""Losses of linear models by their slopes, and clipped gradients without a loop over rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from scipy import sparse
from scipy.special import expit

from pacsklearn.information.arrays import Floats


class LinearLoss(ABC):
    """A loss of a linear model: all that gradient descent needs is its slope.

    The gradient of a row's loss is the slope times the row, so that its norm is known without
    computing it.
    """

    @abstractmethod
    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        """Derivative of the loss in the decision value, entry by entry."""


@final
class LogisticLoss(LinearLoss):
    """``ln(1 + exp(-t z))`` for targets of -1 and 1."""

    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        return np.asarray(-targets * expit(-targets * decisions))


@final
class HingeLoss(LinearLoss):
    """``max(0, 1 - t z)`` for targets of -1 and 1."""

    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        return np.where(targets * decisions < 1, -targets, 0.0)


@final
class SquaredLoss(LinearLoss):
    """``(z - t)^2 / 2``."""

    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        return np.asarray(decisions - targets)


@final
@dataclass(frozen=True)
class HuberLoss(LinearLoss):
    """Squared up to an error of ``width``, linear beyond."""

    width: float = 0.1

    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        return np.clip(decisions - targets, -self.width, self.width)


LOSSES: Final = ("log_loss", "hinge", "squared_error", "huber")
"""Names of the losses; the last two are for regression too."""


def loss_named(name: str, width: float) -> LinearLoss:
    """Loss of a name."""
    if name == "huber":
        return HuberLoss(width)
    if name == "squared_error":
        return SquaredLoss()
    return HingeLoss() if name == "hinge" else LogisticLoss()


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
