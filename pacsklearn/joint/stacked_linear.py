"""Predictions of all candidates' linear models at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier

from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.kernel.plugins.registry import registry


@final
@dataclass(frozen=True, eq=False)
class StackedLinear(BatchPredictor):
    """Predictions of m linear models by one matrix product.

    Parameters
    ----------
    coef : ndarray of shape (m * outputs, p)
    intercept : ndarray of shape (m * outputs,)
    n_models : int
    classifies : bool
        Whether predictions are codes of classes instead of numbers.
    """

    coef: NDArray[np.float64] = field(repr=False)
    intercept: NDArray[np.float64] = field(repr=False)
    n_models: int
    classifies: bool

    name = "linear"
    description = "predictions of linear models by one matrix product"
    estimators = ("sklearn.base.BaseEstimator",)  # where nothing nearer is known

    @classmethod
    def of(cls, models: tuple[Any, ...]) -> StackedLinear | None:
        """Stack linear models with the same classes, the steps before them folded in."""
        try:
            canonicalizer = registry().canonicalizer_for(models[0])
        except NoCanonicalizerError:
            return None
        weights: list[tuple[Floats, Floats]] = []
        for model in models:
            own = canonicalizer.linear_weights(model)
            if own is None:
                return None
            weights.append(own)
        classifies = is_classifier(models[0])
        if classifies and any(
            not np.array_equal(model.classes_, models[0].classes_) for model in models[1:]
        ):
            return None
        coefs, intercepts = map(np.concatenate, zip(*weights, strict=True))
        return cls(coefs, intercepts, len(models), classifies)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class codes of shape (m, n), or values of shape (m, n, outputs)."""
        if sparse.issparse(X):
            decision = (X @ self.coef.T).T
        else:
            # Model by model in memory, as it is read: most of a short product's time is in copies.
            decision = self.coef @ np.asarray(X, dtype=np.float64).T
        decision += self.intercept[:, None]
        by_model = decision.reshape(self.n_models, -1, decision.shape[1])
        if not self.classifies:
            return np.moveaxis(by_model, 1, 2)
        if by_model.shape[1] == 1:
            return np.asarray(by_model[:, 0] > 0, dtype=np.int32)
        return np.asarray(by_model.argmax(axis=1), dtype=np.int32)
