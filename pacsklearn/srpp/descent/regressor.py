"""Linear regression by private stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from pacsklearn._sklearn_compat import StrOptions
from pacsklearn.estimators.private_estimator import JudgedByBudget
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.descent.base import LinearSGD
from pacsklearn.srpp.descent.checked import LINEAR_CONSTRAINTS, check_run


class SRPPSGDRegressor(JudgedByBudget, RegressorMixin, LinearSGD):
    """Linear regressor trained by noised gradient steps, so that a secret about the data stays.

    The private counterpart of scikit-learn's SGDRegressor, in minibatches. Targets far from 0 make
    every gradient one to be clipped: shift and scale them by public constants first.

    Parameters
    ----------
    loss : {"squared_error", "huber"}, default="squared_error"
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
    >>> model = SRPPSGDRegressor(epsilon=4.0, batch_size=128).fit(scale(X), (y - 150) / 75)
    >>> model.guarantee_.spent <= 4.0
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions({"squared_error", "huber"})],
        **LINEAR_CONSTRAINTS,
    }

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, secret: Any = None, realized: Any = None
    ) -> SRPPSGDRegressor:
        """One more epoch, on the account of the run so far.

        The first call calibrates the noise for ``max_iter`` epochs of its number of rows; calls go
        on until ``epsilon`` is spent.

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
        check_run(self)
        return self._train(X, y, sample_weight, secret, realized, goes_on=True)

    def predict(self, X: Any) -> Floats:
        """Values.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        """
        return self._decisions(X)[:, 0]

    def _targets(self, y: Any, classes: Any) -> tuple[Floats, Floats | None]:
        return np.asarray(y, dtype=np.float64)[:, None], None

    def _publish(self, parameters: Floats) -> None:
        self.coef_, self.intercept_ = parameters[0, :-1].copy(), parameters[:, -1].copy()
