"""Losses of additive models, and their minima for several models on shared rows at once.

By Newton's method with conjugate gradients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from pacsklearn.kernel.bounds.arrays import Floats


class Loss(ABC):
    """Loss of scores of shape (n_rows, k, m): k scores of each of m models."""

    n_scores: int = 1
    # Largest curvature.
    curvature: float = 1.0

    @abstractmethod
    def value(self, scores: Floats) -> Floats:
        """Return the loss of each row; (n_rows, m)."""

    @abstractmethod
    def slope(self, scores: Floats) -> tuple[Floats, Any]:
        """Return the derivative by the scores, shaped like them, and what :meth:`bend` needs."""

    @abstractmethod
    def curvatures(self, scores: Floats) -> Floats:
        """Return the second derivative by each of one model's scores, others held; (n_rows, k)."""

    @abstractmethod
    def bend(self, state: Any, change: Floats) -> Floats:
        """Return the second derivative times a change of the scores."""


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
        return np.ones(scores.shape[:2])

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
        return np.asarray(self.slope(scores)[1][:, :, 0])

    def bend(self, state: Any, change: Floats) -> Floats:
        return np.asarray(state * change)


@final
class SoftmaxLoss(Loss):
    """Several classes: minus the log-probability of the class."""

    curvature = 0.5

    def __init__(self, codes: NDArray[np.intp], n_classes: int) -> None:
        self.n_scores, self.codes = n_classes, codes

    def value(self, scores: Floats) -> Floats:
        largest = scores.max(axis=1, keepdims=True)
        total = np.exp(scores - largest).sum(axis=1)
        return np.asarray(largest[:, 0] + np.log(total) - scores[self._own()])

    def slope(self, scores: Floats) -> tuple[Floats, Any]:
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        slope = p.copy()
        slope[self._own()] -= 1.0
        return slope, p

    def curvatures(self, scores: Floats) -> Floats:
        p = self.slope(scores)[1][:, :, 0]
        return np.asarray(p * (1 - p))

    def bend(self, state: Any, change: Floats) -> Floats:
        moved = state * change
        moved -= state * moved.sum(axis=1, keepdims=True)
        return np.asarray(moved)

    def _own(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return where each row's own class stands."""
        return np.arange(self.codes.size), self.codes


_MOST_STEPS = 60
_MOST_PRODUCTS = 60
# Steps are solved to a hundredth: what one this small leaves is far below what rule 1 allows, a
# billionth of the candidates' spread, when other candidates' rows change how long all go on.
_SMALLEST_STEP = 1e-11
# Steps below this that do not shrink are rounding, where hardly any row bends a direction. Such a
# model stays where it is: how long the others go on must not move it (rule 1).
_ROUNDED = 1e-9
# Of the objective: what a step gains where the minimum is at weights of zero, and their square.
_NOTHING = 1e-28
# Steps of this size change the curvature.
_FAR = 0.05
# What is left of a step's residual: more exact ones would not save as many steps as they cost.
_LEFT = 1e-4
_MOST_HALVINGS = 30


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """``sum_i weight_i loss(x_i w; y_i) + w' P w / 2`` for m weightings.

    Strictly convex once a common shift of several scores' intercepts is set aside, which the
    gradients never point along.

    Parameters
    ----------
    design : sparse matrix of shape (n_rows, d)
    loss : Loss
    weights : ndarray of shape (n_rows, m)
        Not negative; a model does not see rows of weight zero.
    penalty : ndarray of shape (d, d)
    """

    design: Any
    loss: Loss
    weights: Floats
    penalty: Floats

    def scores(self, w: Floats) -> Floats:
        """Return the scores of shape (n_rows, k, m) for weights of shape (d, k, m)."""
        d, k, m = w.shape
        return np.asarray(self.design @ w.reshape(d, k * m)).reshape(-1, k, m)

    def collect(self, scores: Floats) -> Floats:
        """Transpose of :meth:`scores`."""
        n, k, m = scores.shape
        return np.asarray(self.design.T @ scores.reshape(n, k * m)).reshape(-1, k, m)

    def penalise(self, w: Floats) -> Floats:
        """Return ``P w``."""
        return np.asarray(np.tensordot(self.penalty, w, axes=1))


def minimise(problem: Problem, start: Floats | None = None) -> tuple[Floats, NDArray[np.bool_]]:
    """Return weights of shape (d, k, m) that minimise each model's problem, and which converged.

    Parameters
    ----------
    problem : Problem
    start : ndarray of shape (d, k), optional
        Where all models start, and where the preconditioner is taken from. It changes how long it
        takes and not where it ends: see the tests.
    """
    shares, loss = problem.weights[:, None, :], problem.loss
    d, m = problem.penalty.shape[0], problem.weights.shape[1]
    w = np.zeros((d, loss.n_scores, m))
    if start is not None:
        w += start[:, :, None]
    solve = _preconditioner(problem, start)
    scores = problem.scores(w)
    value = _objective(problem, shares, scores, w)
    done, stalled, size = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool), np.full(m, np.inf)
    for _ in range(_MOST_STEPS):
        slope, state = loss.slope(scores)
        if m == 1 and size > _FAR:  # one model can afford a matrix of its own for every such step
            solve = _preconditioner(problem, w[:, :, 0])
        gradient = _apart(problem.collect(shares * slope) + problem.penalise(w))
        step = _newton_step(problem, shares, state, gradient, solve)
        # Relative to the weights: columns of any unit are solved equally far.
        before, size = size, np.abs(step).max(axis=(0, 1)) / (1e-300 + np.abs(w).max(axis=(0, 1)))
        stalled |= (size > _SMALLEST_STEP) & (size < _ROUNDED) & (size > before / 2)
        least = _NOTHING * np.abs(value)
        gains_nothing = np.abs(np.sum(gradient * step, axis=(0, 1))) < least
        w[:, :, gains_nothing & (np.square(w).max(axis=(0, 1)) < least)] = 0.0
        stalled |= gains_nothing
        change = problem.scores(step)
        length, value = _line_search(problem, shares, scores, w, step, change, value)
        length = np.where(stalled, 0.0, length)
        w, scores = w + length * step, scores + length * change
        done = (size <= _SMALLEST_STEP) | ~np.isfinite(size) | stalled
        if done.all():
            break
    return w, done & np.isfinite(w).all(axis=(0, 1))


def _objective(problem: Problem, shares: Floats, scores: Floats, w: Floats) -> Floats:
    data = np.sum(shares[:, 0] * problem.loss.value(scores), axis=0)
    return np.asarray(data + np.sum(w * problem.penalise(w), axis=(0, 1)) / 2)


def _line_search(
    problem: Problem,
    shares: Floats,
    scores: Floats,
    w: Floats,
    step: Floats,
    change: Floats,
    value: Floats,
) -> tuple[Floats, Floats]:
    """Halve the step of each model until its objective does not rise beyond rounding."""
    length = np.ones(w.shape[2])
    for _ in range(_MOST_HALVINGS):
        reached = _objective(problem, shares, scores + length * change, w + length * step)
        # Close to the minimum rounding makes a good step look worse; NaN counts as worse.
        worse = ~(reached <= value + 1e-12 * np.abs(value))
        if not worse.any():
            break
        length = np.where(worse, length / 2, length)
    return length, reached


def _newton_step(
    problem: Problem, shares: Floats, state: Any, gradient: Floats, solve: Any
) -> Floats:
    """Solve ``H step = -gradient`` by preconditioned conjugate gradients, every model its own."""
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = turned = solve(residual)
    product = np.sum(residual * turned, axis=(0, 1))
    first = product.copy()
    for _ in range(_MOST_PRODUCTS):
        bent = problem.collect(shares * problem.loss.bend(state, problem.scores(direction)))
        bent += problem.penalise(direction)
        curve = np.sum(direction * bent, axis=(0, 1))
        # A model that is solved has no curve left; the others go on beside it.
        length = np.where(curve > 0, product / np.where(curve > 0, curve, 1.0), 0.0)
        step += length * direction
        residual = _apart(residual - length * bent)
        turned = solve(residual)
        following = np.sum(residual * turned, axis=(0, 1))
        if np.all(following <= _LEFT * first):
            break
        ratio = np.where(product > 0, following / np.where(product > 0, product, 1.0), 0.0)
        direction, product = turned + ratio * direction, following
    return step


def _apart(values: Floats) -> Floats:
    """Leave at zero what all of several scores share, which changes nothing."""
    return values - values.mean(axis=1, keepdims=True) if values.shape[1] > 1 else values


def _preconditioner(problem: Problem, start: Floats | None) -> Any:
    """Solve by the rows' moments, bent as at ``start`` for each score, alike for all models."""
    loss, design = problem.loss, problem.design
    rows = problem.weights.mean(axis=1)[:, None]
    if start is not None:
        rows = rows * loss.curvatures(problem.scores(start[:, :, None]))
    else:
        rows = rows * loss.curvature
    factors = []
    for own in rows.T:
        matrix = (design.T @ design.multiply(own[:, None]).tocsr()).toarray()
        matrix += problem.penalty
        # A column that no row uses would leave it singular.
        matrix[np.diag_indices_from(matrix)] += 1e-12 * np.trace(matrix) / matrix.shape[0] + 1e-300
        factors.append(cho_factor(matrix))

    def solve(values: Floats) -> Floats:
        each = zip(
            factors * (values.shape[1] // len(factors)), np.moveaxis(values, 1, 0), strict=True
        )
        return _apart(np.stack([cho_solve(factor, own) for factor, own in each], axis=1))

    return solve
