"""All candidates' forests at once: trees asked directly, rows converted once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from pacsklearn.core.batch_predictor import BatchPredictor

__all__ = ["StackedForest"]

_FORESTS = (
    RandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestRegressor,
    ExtraTreesRegressor,
)


@final
@dataclass(frozen=True, eq=False)
class StackedForest(BatchPredictor):
    """Averages of the trees of m forests, without what each tree checks again.

    Parameters
    ----------
    forests : tuple of tuple of trees
    classifies : bool
    """

    forests: tuple[tuple[Any, ...], ...] = field(repr=False)
    classifies: bool

    @classmethod
    def of(cls, models: tuple[Any, ...]) -> StackedForest | None:
        first = models[0]
        if any(type(model) not in _FORESTS or model.n_outputs_ > 1 for model in models):
            return None
        classifies = is_classifier(first)
        if classifies and any(
            not np.array_equal(model.classes_, first.classes_) for model in models
        ):
            return None
        forests = tuple(tuple(tree.tree_ for tree in model.estimators_) for model in models)
        return cls(forests, classifies)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class codes or values of shape (m, n)."""
        rows = X.tocsr() if sparse.issparse(X) else np.asarray(X)
        rows = rows.astype(np.float32)
        if not sparse.issparse(rows):
            rows = np.ascontiguousarray(rows)
        predictions = []
        for trees in self.forests:
            total = np.zeros_like(trees[0].predict(rows))
            for tree in trees:
                value = tree.predict(rows)
                total += _shares(value) if self.classifies else value
            total /= len(trees)
            predictions.append(total.argmax(axis=1) if self.classifies else total[:, 0])
        return np.stack(predictions).astype(np.int32 if self.classifies else np.float64)


def _shares(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class shares of a leaf; some versions keep counts in it."""
    size = value.sum(axis=1, keepdims=True)
    return value if np.allclose(size, 1.0, rtol=0, atol=1e-12) else value / size
