"""What candidates' models say of queries that are known by their numbers."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.outputs.models import AnsweringModels


@final
class PredictionTable(AnsweringModels):
    """What candidates' models say of queries that are known by their numbers; secret material.

    Parameters
    ----------
    predictions : ndarray of shape (n, m) or (n, m, width)
        Label codes, or numbers.
    """

    def __init__(self, predictions: NDArray[Any]) -> None:
        self._predictions = predictions
        self._keys = [number.to_bytes(16, "big") for number in range(len(predictions))]

    def keys(self, X: Any) -> list[bytes]:
        """Return the names of queries in a store of answers."""
        return [self._keys[number] for number in X[:, 0].tolist()]

    @property
    def n_models(self) -> int:
        return int(self._predictions.shape[1])

    def first(self, n_models: int) -> Self:
        return type(self)(self._predictions[:, :n_models])

    def checked(self, X: Any) -> Any:
        return X

    def labels(self, X: Any, classes: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._predictions[X[:, 0]])

    def values(self, X: Any, method: str, width: int, classes: Any = None) -> NDArray[Any]:
        return np.asarray(self._predictions[X[:, 0]])
