"""Linear regression by private stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array

from pacsklearn.estimators.private_estimator import JudgedByBudget
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.descent.base import LinearSGD
from pacsklearn.srpp.descent.kept_model import kept_if_refused
from pacsklearn.srpp.descent.linear_parameters import LinearChoices
from pacsklearn.universe.quoting import quoting_nothing
from pacsklearn.universe.row_rules import check_no_dates


class SRPPSGDRegressor(JudgedByBudget, RegressorMixin, LinearSGD):
    """Linear regressor trained by noised gradient steps, so that a secret about the data stays.

    The private counterpart of scikit-learn's SGDRegressor, in minibatches. Targets far from 0 make
    every gradient one to be clipped: shift and scale them by public constants first.

    Parameters
    ----------
    loss : {"squared_error", "huber"} or HuberLoss, default="squared_error"
        ``"huber"`` is squared up to an error of 0.5.
    {parameters}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    {attributes}

    {notes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from pacsklearn.srpp import SRPPSGDRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SRPPSGDRegressor(budget=4.0, batches=128).fit(scale(X), (y - 150) / 75)
    >>> model.guarantee_.spent <= 4.0
    True
    """

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, secret: Any = None, realized: Any = None
    ) -> SRPPSGDRegressor:
        """Train one more epoch, on the account of the run so far.

        The first call calibrates the noise for all ``epochs`` of its number of rows; calls go on
        until the budget is spent.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight, secret, realized : as for ``fit``

        Raises
        ------
        BudgetExhaustedError
            When another step does not fit; steps taken before stay charged and are kept.
        """
        choices, stated = LinearChoices.of(self), (secret, realized)
        with kept_if_refused(self):
            return self._train(choices, X, y, sample_weight, stated, goes_on=True)

    def predict(self, X: Any) -> Floats:
        """Predict values.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        """
        return self._decisions(X)[:, 0]

    def _targets(self, y: Any, classes: Any, hides: bool) -> tuple[Floats, Floats | None]:
        check_no_dates(y)
        values = quoting_nothing(
            "y", lambda: check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        )
        return values[:, None], None

    def _publish(self, parameters: Floats) -> None:
        self.coef_, self.intercept_ = parameters[0, :-1].copy(), parameters[:, -1].copy()
