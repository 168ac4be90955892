"""Losses of linear models by their slopes, and clipped gradients without a loop over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval
from pacsklearn.kernel.bounds.arrays import Floats


@final
@dataclass(frozen=True, eq=False)
class LinearLoss:
    """A loss of a linear model: all that gradient descent needs is its slope.

    The gradient of a row's loss is the slope times the row, so that its norm is known without
    computing it.

    Parameters
    ----------
    name : str
        As in scikit-learn's SGDClassifier.
    slopes : callable
        ``slopes(decisions, targets)``: derivative of the loss in the decision, entry by entry.
    width : float
        Error up to which ``"huber"`` is squared.
    """

    name: str
    slopes: Callable[[Floats, Floats], Floats]
    width: float = 0.5


def _logistic(decisions: Floats, targets: Floats) -> Floats:
    """Return slopes of ``ln(1 + exp(-t z))`` for targets of -1 and 1."""
    return np.asarray(-targets * expit(-targets * decisions))


def _hinge(decisions: Floats, targets: Floats) -> Floats:
    """Return slopes of ``max(0, 1 - t z)`` for targets of -1 and 1."""
    return np.where(targets * decisions < 1, -targets, 0.0)


@final
@dataclass(repr=False)
class HuberLoss(BaseEstimator):
    """Squared up to an error of ``width``, linear beyond.

    Parameters
    ----------
    width : float, default=0.5
    """

    width: float = 0.5

    name = "huber"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "width": [Interval(Real, 0, None, closed="neither")],
    }

    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        """Return the derivative of the loss in the decision value, entry by entry."""
        return np.clip(decisions - targets, -self.width, self.width)


LOSSES: Final[dict[str, LinearLoss | HuberLoss]] = {
    each.name: each
    for each in (
        LinearLoss("log_loss", _logistic),
        LinearLoss("hinge", _hinge),
        LinearLoss("squared_error", np.subtract),
        HuberLoss(),
    )
}
"""By name; the last two are for regression too."""


def clipped_sum(
    rows: Any,
    targets: Floats,
    parameters: Floats,
    loss: LinearLoss | HuberLoss,
    clip_norm: float,
    weights: Floats | None = None,
    *,
    intercept: bool = True,
) -> Floats:
    """Return the sum of the rows' gradients, each clipped to a norm.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (b, n_features)
    targets : ndarray of shape (b, k)
        Of the k models that are trained together.
    parameters : ndarray of shape (k, n_features + 1)
        Coefficients and, last, intercepts.
    loss : LinearLoss or HuberLoss
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
    A row's gradient is the outer product of its weighted slopes and ``(row, 1)``, whose norm is the
    product of theirs: nothing of the size of all gradients is ever made. Each factor is a power of
    two times a vector whose largest entry is near 1, so that no norm overflows or underflows and no
    row moves the sum by more than ``clip_norm``, whatever its doubles are. A row whose slopes are
    not finite moves nothing.
    """
    # All of them: whether a float overflows, or underflows, here is a fact about the rows.
    with np.errstate(all="ignore"):
        slopes = loss.slopes(rows @ parameters[:, :-1].T + parameters[:, -1], targets)
        slopes = np.where(np.all(np.isfinite(slopes), axis=1, keepdims=True), slopes, 0.0)
        slopes, powers, squares = _scaled(slopes)
        scaled, exponents, lengths = _scaled(rows, float(intercept))
        powers += exponents
        # Of the intercept's column of ones.
        units = np.ldexp(float(intercept), -exponents)
        if weights is not None:
            mantissas, exponents = np.frexp(weights)
            slopes, squares = slopes * mantissas[:, None], squares * mantissas**2
            powers += exponents
        # The gradient is 2^powers times a vector of this norm, which is not far from 1, or 0.
        norms = np.sqrt(squares * lengths)
        factors = np.minimum(np.ldexp(1.0, powers), clip_norm / norms)
        slopes = slopes * np.where(norms > 0, factors, 0.0)[:, None]
        total = np.empty_like(parameters)
        total[:, :-1] = slopes.T @ scaled
        total[:, -1] = slopes.T @ units
    return total


# Vectors of squared lengths between its inverse and it may be squared, multiplied and divided.
_NEAR: Final = 2.0**64


def _scaled(rows: Any, last: float = 0.0) -> tuple[Any, NDArray[np.int64], Floats]:
    """Return the rows times powers of two, exactly: none of them is far from 1, or it is 0.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (b, d)
    last : float
        An entry of every row that is not among them.

    Returns
    -------
    rows : ndarray or sparse matrix of shape (b, d)
    exponents : ndarray of int, shape (b,)
        Of the powers of two by which they have to be multiplied again.
    squares : ndarray of shape (b,)
        Squared lengths of the scaled rows, ``last`` with them.
    """
    squares = _squared_norms(rows) + last**2
    if np.all((squares > 1 / _NEAR) & (squares < _NEAR)):
        return rows, np.zeros(len(squares), dtype=np.int64), squares
    largest = abs(rows).max(axis=1)
    if sparse.issparse(rows):
        largest = largest.toarray().ravel()
    exponents = np.frexp(np.maximum(largest, last))[1].astype(np.int64)
    # Down to there the inverse is a double, and smaller ones times it are large enough to square.
    exponents = np.maximum(exponents, -1000)
    factors = np.ldexp(1.0, -exponents)
    if sparse.issparse(rows):
        rows = sparse.diags(factors, format="csr") @ rows
    else:
        rows = rows * factors[:, None]
    return rows, exponents, _squared_norms(rows) + (last * factors) ** 2


def _squared_norms(rows: Any) -> Floats:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
