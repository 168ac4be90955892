"""What stepwise classifiers and regressors share: columns chosen one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from pacsklearn._sklearn_compat import Interval, check_parameters
from pacsklearn.kernel.bounds.arrays import Floats

# What columns chosen before leave of a column's variance, below which it says nothing new.
_NOTHING_NEW = 1e-6
# Gains this close are equal: of two columns that say the same, always the first is taken.
_EQUAL = 1e-9


def forward_selection(
    variance: Floats, column: Callable[[int], Floats], cross: Floats, n_terms: int
) -> list[int]:
    """Return the columns in the order in which each explains most of what is left of the targets.

    Parameters
    ----------
    variance : ndarray of shape (p,)
        Of the columns.
    column : callable
        Covariances of one column with all of them, (p,): asked for the chosen ones only.
    cross : ndarray of shape (p, k)
        Covariances of columns and targets.
    n_terms : int
        How many at most: fewer where no column is left that says anything new.

    Notes
    -----
    Forward stepwise regression (Efroymson, 1960): the columns that are left are made orthogonal to
    the chosen one, a step of a pivoted Cholesky factorisation.
    """
    left, unexplained = variance.copy(), cross.copy()
    factors = np.zeros((variance.size, 0))
    chosen: list[int] = []
    for _ in range(min(n_terms, variance.size)):
        usable = (variance > 0) & (left > _NOTHING_NEW * variance)
        usable[chosen] = False
        gain = np.where(usable, np.sum(unexplained**2, axis=1) / np.where(usable, left, 1.0), 0.0)
        if not gain.max(initial=0.0) > 0:
            break
        best = int(np.flatnonzero(gain >= gain.max() * (1 - _EQUAL))[0])
        factor = (column(best) - factors @ factors[best]) / np.sqrt(left[best])
        unexplained = unexplained - np.outer(factor, unexplained[best] / np.sqrt(left[best]))
        left = left - factor**2
        factors = np.column_stack([factors, factor])
        chosen.append(best)
    return chosen


@dataclass(eq=False, repr=False)
class StepwiseModel(BaseEstimator):
    """Least squares on the columns that explain most, one after the other."""

    n_terms: int = 4
    _: KW_ONLY
    ridge: float | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_terms": [Interval(Integral, 0, None, closed="left")],
        "ridge": [Interval(Real, 1e-9, None, closed="left"), None],
    }

    def check(self) -> None:
        """Check the parameters."""
        check_parameters(self)
        if self.n_terms == 0 and self.ridge is None:
            raise ValueError(
                "n_terms must be at least 1 without ridge=, got 0: no column would be used. Give "
                "ridge, a number above zero, for small weights of all columns."
            )

    def weights_of(self, covariance: Floats, cross: Floats) -> Floats:
        """Return the least-squares weights of shape (p, k), most of them zero or shrunk.

        Parameters
        ----------
        covariance : ndarray of shape (p, p)
        cross : ndarray of shape (p, k)
            Covariances of columns and targets.
        """
        column = lambda place: covariance[:, place]  # noqa: E731 - one expression
        chosen = forward_selection(np.diag(covariance), column, cross, int(self.n_terms))
        weights = np.zeros(cross.shape)
        if self.ridge is None:
            if chosen:
                weights[chosen] = np.linalg.solve(covariance[np.ix_(chosen, chosen)], cross[chosen])
            return weights
        penalty = np.full(cross.shape[0], self.ridge)
        penalty[chosen] = 0.0
        return np.asarray(np.linalg.solve(covariance + np.diag(penalty), cross))

    def weights_of_rows(self, X: Floats, targets: Floats) -> Floats:
        """Return the same from rows of shape (n, p) and targets of shape (n, k)."""
        if X.shape[1] > X.shape[0]:
            return weights_of_wide(X, targets, int(self.n_terms), self.ridge)
        return self.weights_of(*covariances(X, targets))

    def scores(self, X: Any) -> Floats:
        """Return the scores of shape (n_rows, k)."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(X @ np.atleast_2d(self.coef_).T + self.intercept_)


def covariances(X: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Return the covariances of columns with each other, (p, p), and with the targets, (p, k)."""
    centred = X - X.mean(axis=0)
    return centred.T @ centred / len(X), centred.T @ (targets - targets.mean(axis=0)) / len(X)


def weights_of_wide(X: Floats, targets: Floats, n_terms: int, ridge: float | None) -> Floats:
    """Return the weights of :meth:`StepwiseModel.weights_of` where columns are more than rows.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    targets : ndarray of shape (n, k)
    n_terms : int
        Columns whose weights are free.
    ridge : float, optional
        Penalty on the squared weights of the other columns, a row; None keeps them at zero.

    Notes
    -----
    No matrix of (p, p) is made. The other columns' weights have the covariance ``A A' / (n r)`` of
    their fits as a prior, so that the free weights are those of generalised least squares, and
    theirs follow from the residuals (the dual form of ridge regression).
    """
    n = len(X)
    centred, apart = X - X.mean(axis=0), targets - targets.mean(axis=0)
    variance, cross = np.sum(centred**2, axis=0) / n, centred.T @ apart / n
    chosen = forward_selection(
        variance, lambda place: centred.T @ centred[:, place] / n, cross, n_terms
    )
    weights, free = np.zeros(cross.shape), centred[:, chosen]
    if ridge is None:
        if chosen:
            weights[chosen] = np.linalg.solve(free.T @ free / n, cross[chosen])
        return weights
    others = np.delete(np.arange(variance.size), chosen)
    dual = np.eye(n) + centred[:, others] @ centred[:, others].T / (n * ridge)
    solved = np.linalg.solve(dual, np.column_stack([apart, free]))
    rest, solved_free = solved[:, : apart.shape[1]], solved[:, apart.shape[1] :]
    weights[chosen] = np.linalg.solve(free.T @ solved_free, free.T @ rest)
    weights[others] = centred[:, others].T @ (rest - solved_free @ weights[chosen]) / (n * ridge)
    return weights
