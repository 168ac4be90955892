"""Losses of additive models, and their minima for several models on shared rows at once.

By Newton's method with conjugate gradients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from pacsklearn.kernel.bounds.arrays import Floats


class Loss(ABC):
    """Loss of scores of shape (n_rows, k, m): k scores of each of m models."""

    n_scores: int = 1
    # Largest curvature.
    curvature: float = 1.0

    @abstractmethod
    def terms(self, scores: Floats, rows: slice = slice(None)) -> tuple[Floats, Floats, Floats]:
        """Return the loss of each of these rows (n_rows, m), its derivative, and its bends.

        Both are shaped like the scores; the second derivative is a function of the bends.
        """

    @abstractmethod
    def curvatures(self, bends: Floats) -> Floats:
        """Return the second derivative by each score, others held."""

    @abstractmethod
    def bend(self, bends: Floats, change: Floats) -> Floats:
        """Return the second derivative times a change of the scores."""


class OneScore(Loss):
    """Loss of one score, which bends by its own second derivative."""

    def curvatures(self, bends: Floats) -> Floats:
        return bends

    def bend(self, bends: Floats, change: Floats) -> Floats:
        return bends * change


@final
class SquaredLoss(OneScore):
    """Half the squared difference to the target."""

    def __init__(self, y: Floats) -> None:
        self.y = y[:, None, None]

    def terms(self, scores: Floats, rows: slice = slice(None)) -> tuple[Floats, Floats, Floats]:
        slope = scores - self.y[rows]
        return np.square(slope)[:, 0] / 2, slope, np.ones_like(scores)


@final
class LogisticLoss(OneScore):
    """Two classes: minus the log-probability of the class."""

    curvature = 0.25

    def __init__(self, codes: NDArray[np.intp]) -> None:
        self.y = codes.astype(np.float64)[:, None, None]

    def terms(self, scores: Floats, rows: slice = slice(None)) -> tuple[Floats, Floats, Floats]:
        y, p = self.y[rows], expit(scores)
        q = 1 - p
        # log(1 + exp(s)), from the larger of both probabilities: half as long as logaddexp takes.
        value = np.maximum(scores, 0.0) - np.log(np.maximum(p, q)) - y * scores
        return np.asarray(value)[:, 0], p - y, p * q


@final
class SoftmaxLoss(Loss):
    """Several classes: minus the log-probability of the class."""

    curvature = 0.5

    def __init__(self, codes: NDArray[np.intp], n_classes: int) -> None:
        self.n_scores, self.codes = n_classes, codes

    def terms(self, scores: Floats, rows: slice = slice(None)) -> tuple[Floats, Floats, Floats]:
        own = np.arange(len(scores)), self.codes[rows]
        largest = scores.max(axis=1, keepdims=True)
        p = np.exp(scores - largest)
        total = p.sum(axis=1, keepdims=True)
        value = largest[:, 0] + np.log(total[:, 0]) - scores[own]
        p /= total
        slope = p.copy()
        slope[own] -= 1.0
        return np.asarray(value), slope, p

    def curvatures(self, bends: Floats) -> Floats:
        return bends * (1 - bends)

    def bend(self, bends: Floats, change: Floats) -> Floats:
        moved = bends * change
        moved -= bends * moved.sum(axis=1, keepdims=True)
        return moved


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
# Scores of a block of rows, so that what is made of them fits the cache.
_BLOCK = 2**18


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

    @cached_property
    def blocks(self) -> list[tuple[slice, Any]]:
        """Blocks of rows, each with its part of the design."""
        n, m = self.weights.shape
        size = max(1, _BLOCK // (self.loss.n_scores * m))
        starts = range(0, n, size)
        return [(slice(at, at + size), _rows(self.design, at, min(at + size, n))) for at in starts]

    @cached_property
    def _sparse_penalty(self) -> Any:
        return sparse.csr_matrix(self.penalty)

    def penalise(self, w: Floats) -> Floats:
        """Return ``P w``."""
        return np.asarray(self._sparse_penalty @ w.reshape(len(w), -1)).reshape(w.shape)

    def terms(self, w: Floats) -> tuple[Floats, Floats, list[Floats]]:
        """Return objective (m,), gradient (d, k, m), and what the loss of each block bends by."""
        d, k, m = w.shape
        gradient = self.penalise(w)
        value = np.sum(w * gradient, axis=(0, 1)) / 2
        bends = []
        for rows, design in self.blocks:
            scores = (design @ w.reshape(d, k * m)).reshape(-1, k, m)
            losses, slope, bent = self.loss.terms(scores, rows)
            value += np.sum(self.weights[rows] * losses, axis=0)
            slope *= self.weights[rows, None]
            gradient += (design.T @ slope.reshape(-1, k * m)).reshape(d, k, m)
            bends.append(bent)
        return value, gradient, bends


def _rows(design: Any, start: int, stop: int) -> Any:
    """Return these rows of a design without a copy."""
    ends = design.indptr[start : stop + 1]
    inside = slice(ends[0], ends[-1])
    parts = design.data[inside], design.indices[inside], ends - ends[0]
    return sparse.csr_matrix(parts, shape=(stop - start, design.shape[1]), copy=False)


def minimise(problem: Problem, start: Floats | None = None) -> tuple[Floats, NDArray[np.bool_]]:
    """Return weights of shape (d, k, m) that minimise each model's problem, and which converged.

    Parameters
    ----------
    problem : Problem
    start : ndarray of shape (d, k), optional
        Where all models start, and where the preconditioner is taken from. It changes how long it
        takes and not where it ends: see the tests.
    """
    d, m = problem.penalty.shape[0], problem.weights.shape[1]
    w = np.zeros((d, problem.loss.n_scores, m))
    if start is not None:
        w += start[:, :, None]
    value, gradient, bends = problem.terms(w)
    solve = _preconditioner(problem, None if start is None else bends)
    curvature = _Curvature(problem)
    done, stalled, size = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool), np.full(m, np.inf)
    for _ in range(_MOST_STEPS):
        if m == 1 and size > _FAR:  # one model can afford a matrix of its own for every such step
            solve = _preconditioner(problem, bends)
        gradient = _apart(gradient)
        step = _newton_step(curvature, bends, gradient, solve)
        # Relative to the weights: columns of any unit are solved equally far.
        moved, reached = np.abs(step).max(axis=(0, 1)), np.abs(w).max(axis=(0, 1))
        before, size = size, moved / (moved + reached + np.finfo(np.float64).tiny)
        stalled |= (size > _SMALLEST_STEP) & (size < _ROUNDED) & (size > before / 2)
        least = _NOTHING * np.abs(value)
        gains_nothing = np.abs(np.sum(gradient * step, axis=(0, 1))) < least
        w[:, :, gains_nothing & (np.square(w).max(axis=(0, 1)) < least)] = 0.0
        stalled |= gains_nothing
        length = np.where(stalled, 0.0, 1.0)
        allowed = value + 1e-12 * np.abs(value)
        for _ in range(_MOST_HALVINGS):
            reached = w + length * step
            value, gradient, bends = problem.terms(reached)
            # Close to the minimum rounding makes a good step look worse; NaN counts as worse.
            worse = ~(value <= allowed)
            if not worse.any():
                break
            length = np.where(worse, length / 2, length)
        w = reached
        done = (size <= _SMALLEST_STEP) | ~np.isfinite(size) | stalled
        if done.all():
            break
    return w, done & np.isfinite(w).all(axis=(0, 1))


@final
class _Curvature:
    """Second derivatives of a problem in single precision, of which a step needs two digits.

    Only the penalty, whose large entries cancel, is in double.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        # Of any unit, weights and directions are numbers in single precision.
        self.unit = max(float(problem.weights.max()), np.finfo(np.float64).tiny)
        shares = (problem.weights / self.unit).astype(np.float32)
        self.blocks = [(one.astype(np.float32), shares[rows, None]) for rows, one in problem.blocks]

    def times(self, direction: Floats, bends: list[Any]) -> Floats:
        """Return the second derivatives times a direction, where the loss bends so."""
        d, k, m = direction.shape
        unit = np.abs(direction).max(axis=(0, 1)) + np.finfo(np.float64).tiny
        single = (direction / unit).astype(np.float32).reshape(d, k * m)
        bent = np.zeros_like(single)
        for (design, shares), own in zip(self.blocks, bends, strict=True):
            change = self.problem.loss.bend(own, (design @ single).reshape(-1, k, m))
            change *= shares
            bent += design.T @ change.reshape(-1, k * m)
        return bent.reshape(d, k, m) * (unit * self.unit) + self.problem.penalise(direction)


def _newton_step(
    curvature: _Curvature, bends: list[Floats], gradient: Floats, solve: Any
) -> Floats:
    """Solve ``H step = -gradient`` by preconditioned conjugate gradients, every model its own."""
    bends = [one.astype(np.float32) for one in bends]
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = turned = solve(residual)
    product = np.sum(residual * turned, axis=(0, 1))
    first = product.copy()
    for _ in range(_MOST_PRODUCTS):
        bent = curvature.times(direction, bends)
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


def _preconditioner(problem: Problem, bends: list[Floats] | None) -> Any:
    """Solve by the rows' moments, bent as one model's for each score, alike for all models."""
    loss, design = problem.loss, problem.design
    rows = problem.weights.mean(axis=1)[:, None]
    if bends is None:
        rows = rows * loss.curvature
    else:
        rows = rows * np.concatenate([loss.curvatures(own[:, :, 0]) for own in bends])
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
