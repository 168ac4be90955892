"""Losses of linear models and their quadratic penalty, for many candidates at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacsklearn.information.arrays import Floats


class Loss(ABC):
    """Convex loss of each row's decision, with its target.

    Attributes
    ----------
    n_outputs : int
        Decisions a row.
    argument_scale, slope_scale : float
        What decisions are multiplied by before :meth:`slopes` and slopes after it, where that
        saves a pass over them.
    trusted_change : float or None
        Largest change of a decision for which a quadratic model of the loss is of any use.
    """

    n_outputs: int = 1
    argument_scale: float = 1.0
    slope_scale: float = 1.0
    trusted_change: float | None = None

    @abstractmethod
    def slopes(self, decision: NDArray[np.floating], rows: slice) -> None:
        """Replace decisions (rows, outputs, candidates) by the loss' derivatives, in place."""

    @abstractmethod
    def curvature(self, decision: Floats, rows: slice) -> Floats:
        """Second derivatives at decisions (rows, outputs); shape (rows, outputs, outputs)."""

    @abstractmethod
    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        """Sum of the losses of decisions (rows, outputs)."""


@final
class Logistic(Loss):
    """``log(1 + exp(z)) - y z`` for targets 0 and 1."""

    argument_scale = 0.5
    slope_scale = 0.5

    def __init__(self, targets: Floats) -> None:
        self.targets = targets
        self._signs = 1.0 - 2.0 * targets

    def slopes(self, decision: NDArray[np.floating], rows: slice) -> None:
        np.tanh(decision, out=decision)  # twice the probability, less one
        decision += self._signs[rows, None, None].astype(decision.dtype)

    def curvature(self, decision: Floats, rows: slice) -> Floats:
        half = np.tanh(decision / 2)
        return ((1 - half**2) / 4)[:, :, None]

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        one = decision[:, 0]
        return float(np.sum(np.logaddexp(0.0, one) - self.targets[rows] * one))


@final
class Softmax(Loss):
    """``logsumexp(z) - z[y]`` for class codes."""

    def __init__(self, codes: NDArray[np.intp], n_classes: int) -> None:
        self.codes, self.n_outputs = codes, n_classes

    def slopes(self, decision: NDArray[np.floating], rows: slice) -> None:
        decision -= decision.max(axis=1, keepdims=True)
        np.exp(decision, out=decision)
        decision /= decision.sum(axis=1, keepdims=True)
        codes = self.codes[rows]
        decision[np.arange(len(codes)), codes] -= 1.0

    def curvature(self, decision: Floats, rows: slice) -> Floats:
        share = np.exp(decision - logsumexp(decision, axis=1, keepdims=True))
        curvature: Floats = -share[:, :, None] * share[:, None, :]
        every = np.arange(self.n_outputs)
        curvature[:, every, every] += share
        return curvature

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        own = np.take_along_axis(decision, self.codes[rows][:, None], axis=1)[:, 0]
        return float(np.sum(logsumexp(decision, axis=1) - own))


@final
class Hinge(Loss):
    """``C max(0, 1 - y z)**2`` for targets -1 and 1."""

    def __init__(self, signs: Floats, cost: float) -> None:
        self.signs, self.cost = signs, cost
        self.slope_scale = 2.0 * cost

    def slopes(self, decision: NDArray[np.floating], rows: slice) -> None:
        signs = self.signs[rows, None, None].astype(decision.dtype)
        decision *= signs
        decision -= 1.0
        np.minimum(decision, 0.0, out=decision)
        decision *= signs

    def curvature(self, decision: Floats, rows: slice) -> Floats:
        inside = decision[:, 0] * self.signs[rows] < 1
        return 2.0 * self.cost * inside.astype(np.float64)[:, None, None]

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        short = np.maximum(0.0, 1.0 - decision[:, 0] * self.signs[rows])
        return float(self.cost * np.sum(short**2))


@final
class Epsilon(Loss):
    """``C max(0, |z - y| - epsilon)**2``."""

    def __init__(self, targets: Floats, cost: float, epsilon: float) -> None:
        self.targets, self.cost, self.epsilon = targets, cost, epsilon
        self.slope_scale = 2.0 * cost

    def slopes(self, decision: NDArray[np.floating], rows: slice) -> None:
        decision -= self.targets[rows, None, None].astype(decision.dtype)
        if self.epsilon:
            decision -= np.clip(decision, -self.epsilon, self.epsilon)

    def curvature(self, decision: Floats, rows: slice) -> Floats:
        outside = np.abs(decision[:, 0] - self.targets[rows]) >= self.epsilon
        return 2.0 * self.cost * outside.astype(np.float64)[:, None, None]

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        beyond = np.maximum(0.0, np.abs(decision[:, 0] - self.targets[rows]) - self.epsilon)
        return float(self.cost * np.sum(beyond**2))


@final
class Tweedie(Loss):
    """Half the unit deviance of power 1 to 2 (Poisson to gamma) of ``exp(z)``, up to a constant."""

    trusted_change = 2.0

    def __init__(self, targets: Floats, power: float) -> None:
        self.targets, self.power = targets, power

    def slopes(self, decision: NDArray[np.floating], rows: slice) -> None:
        targets = self.targets[rows, None, None].astype(decision.dtype)
        if self.power == 1:
            np.exp(decision, out=decision)
            decision -= targets
        elif self.power == 2:
            np.exp(-decision, out=decision)
            decision *= -targets
            decision += 1.0
        else:
            falling = targets * np.exp((1 - self.power) * decision)
            np.exp((2 - self.power) * decision, out=decision)
            decision -= falling

    def curvature(self, decision: Floats, rows: slice) -> Floats:
        one, power = decision[:, 0], self.power
        falling = (power - 1) * self.targets[rows] * np.exp((1 - power) * one)
        curvature: Floats = falling + (2 - power) * np.exp((2 - power) * one)
        return curvature[:, None, None]

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        one, power, targets = decision[:, 0], self.power, self.targets[rows]
        if power == 1:
            return float(np.sum(np.exp(one) - targets * one))
        if power == 2:
            return float(np.sum(one + targets * np.exp(-one)))
        rising, falling = np.exp((2 - power) * one), np.exp((1 - power) * one)
        return float(np.sum(rising / (2 - power) - targets * falling / (1 - power)))


@final
@dataclass(frozen=True, eq=False)
class Penalty:
    """Quadratic penalty ``sum(weights * coef**2) / 2 + bias * (intercept + centre @ coef)**2 / 2``.

    Parameters
    ----------
    weights : ndarray of shape (m, p)
    bias : ndarray of shape (m,)
    centre : ndarray of shape (m, p)
        Where the penalised intercept is the decision: the mean that a scaler subtracts.
    """

    weights: Floats
    bias: Floats
    centre: Floats

    def gradient(self, parameters: Floats, chosen: Any = slice(None)) -> Floats:
        """For parameters of shape (candidates, p + 1, outputs), intercepts first."""
        weights, bias, centre = self.weights[chosen], self.bias[chosen], self.centre[chosen]
        pull = bias[:, None] * (
            parameters[:, 0] + np.einsum("mp,mpk->mk", centre, parameters[:, 1:])
        )
        gradient = np.empty_like(parameters)
        gradient[:, 0] = pull
        gradient[:, 1:] = (
            weights[:, :, None] * parameters[:, 1:] + centre[:, :, None] * pull[:, None]
        )
        return gradient

    def mean(self) -> Floats:
        """Matrix of the average penalty of one output, intercept first."""
        m, p = self.weights.shape
        ends = np.column_stack([np.ones(m), self.centre])
        matrix = (ends * self.bias[:, None]).T @ ends / m
        matrix[np.arange(1, p + 1), np.arange(1, p + 1)] += self.weights.mean(axis=0)
        return matrix
