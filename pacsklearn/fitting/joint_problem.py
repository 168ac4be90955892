"""Penalised losses of linear models on all candidate subsets, and their gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.memberships import Memberships
from pacsklearn.core.table_view import BatchWork
from pacsklearn.fitting.member_sums import block_members
from pacsklearn.information.arrays import Floats

_ROWS = 512  # rows whose decisions by all candidates fit the cache
_START_ROWS = 4096


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


@final
@dataclass(frozen=True, eq=False)
class Weighing:
    """What the loss of a row counts for in each candidate, by the row's class.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
    weights : ndarray of shape (m, K)
    """

    codes: NDArray[np.intp]
    weights: Floats

    def at(self, rows: slice, chosen: NDArray[np.int64]) -> Floats:
        """Weights of some rows in some candidates; shape (rows, candidates)."""
        return self.weights[chosen].T[self.codes[rows]]

    def mean(self, rows: slice) -> Floats:
        """Average weights of some rows, for a start."""
        return np.asarray(self.weights.mean(axis=0)[self.codes[rows]])


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Sum of the losses of a candidate's rows plus its penalty, for each candidate.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, p)
    loss : Loss
    space : Memberships
    penalty : Penalty
    fit_intercept : bool
    weighing : Weighing, optional
        Every row counts for one when not given.
    """

    rows: Floats
    loss: Loss
    space: Memberships
    penalty: Penalty
    fit_intercept: bool
    weighing: Weighing | None = None

    @property
    def sample(self) -> Problem:
        """What a start is looked for on: itself."""
        return self

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def stride(self) -> int:
        """Step between rows of which enough are left for a start."""
        return max(1, self.n_rows // _START_ROWS)

    def gradient(
        self, parameters: Floats, chosen: NDArray[np.int64], *, single: bool = False
    ) -> Floats:
        """Gradients at the parameters (candidates, p + 1, outputs) of the chosen candidates.

        In single precision rows are centred and scaled by what all rows have in common, for their
        digits' sake; decisions are the same.
        """
        count, q, outputs = parameters.shape
        kind = np.float32 if single else np.float64
        shift, unit = self._frame if single else (np.zeros(q - 1), np.ones(q - 1))
        # Columns of zeros up to a multiple of four, for which BLAS has its fastest kernels.
        width = q + -q % 4
        moved = np.zeros((count, width, outputs))
        moved[:, 0] = parameters[:, 0] + np.einsum("p,mpk->mk", shift, parameters[:, 1:])
        moved[:, 1:q] = parameters[:, 1:] * unit[:, None]
        moved *= self.loss.argument_scale
        columns = np.ascontiguousarray(moved.transpose(1, 2, 0).reshape(width, -1), dtype=kind)
        total = np.zeros((width, outputs * count))
        block, decision = np.zeros((_ROWS, width), kind), np.empty((_ROWS, outputs * count), kind)
        block[:, 0] = 1.0
        centred = np.empty((_ROWS, q - 1))
        everyone = chosen.size == self.space.n_subsets
        for start in range(0, len(self.rows), _ROWS):
            rows = slice(start, min(start + _ROWS, len(self.rows)))
            size = rows.stop - rows.start
            if single:
                np.subtract(self.rows[rows], shift, out=centred[:size])
                centred[:size] /= unit
                block[:size, 1:q] = centred[:size]
            else:
                block[:size, 1:q] = self.rows[rows]
            members = block_members(self.space, rows)
            np.matmul(block[:size], columns, out=decision[:size])
            slopes = decision[:size].reshape(size, outputs, count)
            self.loss.slopes(slopes, rows)
            slopes *= (members if everyone else members[:, chosen])[:, None, :]
            if self.weighing is not None:
                slopes *= self.weighing.at(rows, chosen).astype(kind)[:, None, :]
            total += block[:size].T @ decision[:size]
        total *= self.loss.slope_scale
        gradient = total[:q].reshape(q, outputs, count).transpose(2, 0, 1).copy()
        if single:
            gradient[:, 1:] = gradient[:, 1:] * unit[:, None] + shift[:, None] * gradient[:, :1]
        if not self.fit_intercept:
            gradient[:, 0] = 0.0
        gradient += self.penalty.gradient(parameters, chosen)
        return gradient

    @cached_property
    def _frame(self) -> tuple[Floats, Floats]:
        spread = self.rows[:: self.stride]
        unit = spread.std(axis=0)
        return spread.mean(axis=0), np.where(unit > 0, unit, 1.0)


@final
@dataclass(frozen=True, eq=False)
class TableProblem:
    """As :class:`Problem`, for rows that are read in passes.

    Parameters
    ----------
    sample : Problem
        The same with some of the rows, for a start: nothing of it stays in the minimiser.
    n_rows : int
        Of the whole table.
    loss : callable
        Loss of a batch's targets.
    total : callable
        Sums what some work gives for every batch.
    """

    sample: Problem
    n_rows: int
    loss: Callable[[Any], Loss]
    total: Callable[[BatchWork], list[Any]]

    def gradient(
        self,
        parameters: Floats,
        chosen: NDArray[np.int64],
        *,
        single: bool = False,
    ) -> Floats:
        """Gradients at the parameters (candidates, p + 1, outputs) of the chosen candidates."""
        weighing = self.sample.weighing
        weights = None if weighing is None else weighing.weights
        work = partial(_batch_gradient, self.loss, weights, parameters, chosen)
        gradient: Floats = self.total(work)[0]
        if not self.sample.fit_intercept:
            gradient[:, 0] = 0.0
        gradient += self.sample.penalty.gradient(parameters, chosen)
        return gradient


def _batch_gradient(
    loss: Callable[[Any], Loss],
    weights: Floats | None,
    parameters: Floats,
    chosen: NDArray[np.int64],
    rows: Floats,
    targets: Any,
    members: Memberships,
) -> list[Floats]:
    m, p = members.n_subsets, rows.shape[1]
    none = Penalty(np.zeros((m, p)), np.zeros(m), np.zeros((m, p)))
    weighing = None if weights is None else Weighing(targets, weights)
    problem = Problem(rows, loss(targets), members, none, True, weighing)
    return [problem.gradient(parameters, chosen)]


def are_usable(weights: Any) -> bool:
    """Whether a joint fit knows this ``class_weight``; others are left to the ordinary fit."""
    if isinstance(weights, dict):
        numbers = [isinstance(value, (int, float)) for value in weights.values()]
        return all(numbers) and all(0 < value < np.inf for value in weights.values())
    return weights is None or (isinstance(weights, str) and weights == "balanced")


def class_weights(weights: Any, classes: Any, counts: Floats) -> Floats | None:
    """Weight of each class in each candidate; None where all rows weigh one.

    Parameters
    ----------
    weights : dict, "balanced" or None
        ``class_weight``. Classes that are not in the dict weigh one.
    classes : array-like of shape (K,)
    counts : ndarray of shape (m, K) or (K,)
        Rows of each class, of that candidate alone.

    Returns
    -------
    ndarray of the shape of ``counts``, or None
    """
    if weights is None:
        return None
    if isinstance(weights, dict):
        by_class = [float(weights.get(label, 1.0)) for label in np.asarray(classes).tolist()]
        return np.broadcast_to(np.array(by_class), counts.shape)
    whole, k = counts.sum(axis=-1, keepdims=True), counts.shape[-1]
    return np.asarray(whole / (k * np.maximum(counts, 1.0)))
