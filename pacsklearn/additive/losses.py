"""Losses of an additive model, and how they bend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from pacsklearn.information.arrays import Floats


class Loss(ABC):
    """Loss of scores of shape (n_rows, k, m): k scores of each of m models."""

    n_scores: int = 1
    # Largest curvature.
    curvature: float = 1.0

    @abstractmethod
    def value(self, scores: Floats) -> Floats:
        """Loss of each row; (n_rows, m)."""

    @abstractmethod
    def slope(self, scores: Floats) -> tuple[Floats, Any]:
        """Derivative by the scores, shaped like them, and what :meth:`bend` needs."""

    @abstractmethod
    def curvatures(self, scores: Floats) -> Floats:
        """Second derivative by one model's scores, the mean over them; (n_rows,)."""

    @abstractmethod
    def bend(self, state: Any, change: Floats) -> Floats:
        """Second derivative times a change of the scores."""


@final
class SquaredLoss(Loss):
    """Half the squared difference to the target."""

    def __init__(self, y: Floats) -> None:
        self.y = y[:, None, None]

    def value(self, scores: Floats) -> Floats:
        return np.square(scores - self.y)[:, 0] / 2

    def slope(self, scores: Floats) -> tuple[Floats, Any]:
        return scores - self.y, None

    def curvatures(self, scores: Floats) -> Floats:
        return np.ones(scores.shape[0])

    def bend(self, state: Any, change: Floats) -> Floats:
        return change


@final
class LogisticLoss(Loss):
    """Two classes: minus the log-probability of the class."""

    curvature = 0.25

    def __init__(self, codes: NDArray[np.intp]) -> None:
        self.y = codes.astype(np.float64)[:, None, None]

    def value(self, scores: Floats) -> Floats:
        return np.asarray(np.logaddexp(0.0, scores) - self.y * scores)[:, 0]

    def slope(self, scores: Floats) -> tuple[Floats, Any]:
        p = expit(scores)
        return p - self.y, p * (1 - p)

    def curvatures(self, scores: Floats) -> Floats:
        p = expit(scores[:, 0, 0])
        return np.asarray(p * (1 - p))

    def bend(self, state: Any, change: Floats) -> Floats:
        return np.asarray(state * change)


@final
class SoftmaxLoss(Loss):
    """Several classes: minus the log-probability of the class."""

    curvature = 0.5

    def __init__(self, codes: NDArray[np.intp], n_classes: int) -> None:
        self.n_scores = n_classes
        self.y = np.eye(n_classes)[codes][:, :, None]

    def value(self, scores: Floats) -> Floats:
        return np.asarray(logsumexp(scores, axis=1) - np.sum(self.y * scores, axis=1))

    def slope(self, scores: Floats) -> tuple[Floats, Any]:
        p = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        return p - self.y, p

    def curvatures(self, scores: Floats) -> Floats:
        p = softmax(scores[:, :, 0], axis=1)
        return np.asarray(np.mean(p * (1 - p), axis=1))

    def bend(self, state: Any, change: Floats) -> Floats:
        moved = state * change
        return np.asarray(moved - state * moved.sum(axis=1, keepdims=True))
