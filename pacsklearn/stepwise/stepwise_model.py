"""What stepwise classifiers and regressors share."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from pacsklearn._sklearn_compat import Interval, check_parameters
from pacsklearn.information.arrays import Floats
from pacsklearn.stepwise.selection import stepwise_weights


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
        """Weights of shape (p, k) from the covariances of columns and targets."""
        return stepwise_weights(covariance, cross, int(self.n_terms), self.ridge)

    def scores(self, X: Any) -> Floats:
        """Scores of shape (n_rows, k)."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(X @ np.atleast_2d(self.coef_).T + self.intercept_)


def covariances(X: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Of columns with each other, (p, p), and with the targets, (p, k)."""
    centred = X - X.mean(axis=0)
    return centred.T @ centred / len(X), centred.T @ (targets - targets.mean(axis=0)) / len(X)
