"""All candidates' models at once: linear ones as one matrix, others by a plugin."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier

from pacsklearn.canonical.affine import LinearCanonicalizer
from pacsklearn.canonical.features import numeric_rows
from pacsklearn.canonical.pipeline import PipelineCanonicalizer
from pacsklearn.core.batch_predictor import BatchPredictor
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.plugin import registry


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

    @classmethod
    def of(cls, models: tuple[Any, ...]) -> StackedLinear | None:
        """Stack linear models with the same classes, the steps before them folded in."""
        return _stack_linear(models)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class codes of shape (m, n), or values of shape (m, n, outputs)."""
        rows = numeric_rows(X)
        # Model by model in memory, as it is read: most of a short product's time is in copies.
        decision = (rows @ self.coef.T).T if sparse.issparse(rows) else self.coef @ rows.T
        decision += self.intercept[:, None]
        by_model = decision.reshape(self.n_models, -1, decision.shape[1])
        if not self.classifies:
            return np.moveaxis(by_model, 1, 2)
        if by_model.shape[1] == 1:
            return (by_model[:, 0] > 0).astype(np.int32)
        return by_model.argmax(axis=1).astype(np.int32)


def stack(models: tuple[Any, ...]) -> BatchPredictor | None:
    """Whatever predicts with all models at once, a plugin's own first; None if nothing does."""
    registered = registry().batch_predictor_for(models[0])
    predictor = registered.of(models) if registered else None
    return predictor or StackedLinear.of(models)


def _stack_linear(models: tuple[Any, ...]) -> StackedLinear | None:
    try:
        part: Any = registry().canonicalizer_for(models[0])
    except NoCanonicalizerError:
        return None
    if isinstance(part, PipelineCanonicalizer) and len(part.steps) == 1:
        flat = [part.folded_model(model) for model in models]
        part = part.steps[0][1]
    else:
        flat = list(models)
    if not isinstance(part, LinearCanonicalizer) or hasattr(flat[0], "_get_loss"):
        return None
    classifies = is_classifier(flat[0])
    if classifies and any(
        not np.array_equal(model.classes_, flat[0].classes_) for model in flat[1:]
    ):
        return None
    weights = [part.weights(model) for model in flat]
    return StackedLinear(
        np.concatenate([coef for coef, _ in weights]),
        np.concatenate([intercept for _, intercept in weights]),
        len(flat),
        classifies,
    )
