"""Stepwise models that predict numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.stepwise.stepwise_model import StepwiseModel, covariances


@dataclass(eq=False, repr=False)
class StepwiseRegressor(RegressorMixin, StepwiseModel):
    """Least squares on the few columns that explain the targets best, made to be released.

    As :class:`StepwiseClassifier`, for numbers. Behind ``PolynomialFeatures`` it chooses among
    squares and products as well.

    Parameters
    ----------
    n_terms : int, default=4
        Columns whose weights are free.
    ridge : float, optional
        Give the other columns weights too, with this penalty on their squares, a row.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        From ``fit``: a parameter is out of range.

    Notes
    -----
    With ``ridge`` the scale of all weights together is fitted again by least squares.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pacsklearn.tabular import StepwiseRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> StepwiseRegressor(n_terms=3).fit(X, y).score(X, y) > 0.45
    True
    """

    def fit(self, X: Any, y: Any) -> StepwiseRegressor:
        """Choose columns and fit their weights.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        """
        self.check()
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        mean, target = X.mean(axis=0), float(y.mean())
        if X.shape[1] <= X.shape[0]:
            self.set_moments(*covariances(X, y[:, None]), mean, target)
            return self
        weights = self.weights_of_rows(X, y[:, None])[:, 0]
        fits = (X - mean) @ weights
        self._set_weights(weights, float(fits @ (y - target)), float(fits @ fits), mean, target)
        return self

    def set_moments(self, covariance: Floats, cross: Floats, mean: Floats, target: float) -> None:
        """Fit to covariances of shape (p, p) and (p, 1), the columns' means and the target's."""
        weights = self.weights_of(covariance, cross)[:, 0]
        spread, explained = float(weights @ covariance @ weights), float(weights @ cross[:, 0])
        self._set_weights(weights, explained, spread, mean, target)

    def _set_weights(
        self, weights: Floats, explained: float, spread: float, mean: Floats, target: float
    ) -> None:
        if self.ridge is not None and spread > 0:
            weights = weights * explained / spread
        self.coef_, self.intercept_ = weights, target - float(mean @ weights)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict targets."""
        return np.asarray(self.scores(X)[:, 0])
