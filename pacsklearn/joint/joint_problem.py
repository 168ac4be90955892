"""Penalised losses of linear models on all candidate subsets, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import is_word
from pacsklearn.joint.loss import Loss
from pacsklearn.joint.member_sums import Memberships, block_members
from pacsklearn.joint.row_frame import RowFrame
from pacsklearn.joint.single_problem import SingleProblem
from pacsklearn.joint.table_fitter import BatchWork
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.universe.some_rows import some_rows

_ROWS = 512  # rows whose decisions by all candidates fit the cache
# Rows that a start is looked for on, and so many for each feature.
_START_ROWS, _START_ROWS_EACH = 4096, 30


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
        """Return the gradient at parameters (candidates, p + 1, outputs), intercepts first."""
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

    def in_frame(self, shift: Floats, parameters: Floats, chosen: NDArray[np.int64]) -> Floats:
        """Return gradient where the intercept is the decision at ``shift`` instead of at zero."""
        at_zero = parameters.copy()
        at_zero[:, 0] -= np.einsum("p,mpk->mk", shift, parameters[:, 1:])
        gradient = self.gradient(at_zero, chosen)
        gradient[:, 1:] -= shift[:, None] * gradient[:, :1]
        return gradient

    def typical(self, shift: Floats) -> Floats:
        """Return the matrix of one output that penalises like most candidates', in a frame."""
        end = np.append(1.0, np.median(self.centre, axis=0) - shift)
        matrix = float(np.median(self.bias)) * np.outer(end, end)
        matrix.flat[:: len(end) + 1] += np.append(0.0, np.median(self.weights, axis=0))
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
        """Return the weights of some rows in some candidates; shape (rows, candidates)."""
        return self.weights[chosen].T[self.codes[rows]]

    def typical(self) -> Floats:
        """Return what each row counts for in most candidates."""
        return np.asarray(np.median(self.weights, axis=0)[self.codes])


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Sum of the losses of a candidate's rows plus its penalty, for each candidate.

    Its intercepts are decisions at the origin of ``frame``.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, p)
    loss : Loss
    space : Memberships
    penalty : Penalty
    fit_intercept : bool
    frame : RowFrame
    weighing : Weighing, optional
        Every row counts for one when not given.
    """

    rows: Floats
    loss: Loss
    space: Memberships
    penalty: Penalty
    fit_intercept: bool
    frame: RowFrame
    weighing: Weighing | None = None

    in_memory: ClassVar[bool] = True

    @property
    def sample(self) -> Problem:
        """What a start is looked for on: itself."""
        return self

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def gradient(
        self, parameters: Floats, chosen: NDArray[np.int64], *, single: bool = False
    ) -> Floats:
        """Return the chosen candidates' gradients at (candidates, p + 1, outputs).

        Rows that a candidate does not hold take no part, whatever they hold: their slopes are
        replaced by zeros.
        """
        count, q, outputs = parameters.shape
        kind = np.float32 if single else np.float64
        unit = self.frame.unit if single else np.ones(q - 1)
        # Columns of zeros up to a multiple of four, for which BLAS has its fastest kernels.
        width = q + -q % 4
        moved = np.zeros((count, width, outputs))
        moved[:, 0] = parameters[:, 0]
        moved[:, 1:q] = parameters[:, 1:] * unit[:, None]
        moved *= self.loss.argument_scale
        columns = np.ascontiguousarray(moved.transpose(1, 2, 0).reshape(width, -1), dtype=kind)
        total = np.zeros((width, outputs * count))
        block, decision = np.zeros((_ROWS, width), kind), np.empty((_ROWS, outputs * count), kind)
        block[:, 0] = 1.0
        around = np.empty((_ROWS, q - 1))
        everyone = chosen.size == self.space.n_subsets
        for start in range(0, len(self.rows), _ROWS):
            rows = slice(start, min(start + _ROWS, len(self.rows)))
            size = rows.stop - rows.start
            block[:size, 1:q] = self.frame.moved(self.rows[rows], around[:size], single=single)
            members = block_members(self.space, rows)
            np.matmul(block[:size], columns, out=decision[:size])
            slopes = decision[:size].reshape(size, outputs, count)
            self.loss.slopes(slopes, rows)
            _clear(slopes, members if everyone else members[:, chosen])
            if self.weighing is not None:
                slopes *= self.weighing.at(rows, chosen).astype(kind)[:, None, :]
            total += block[:size].T @ decision[:size]
        total *= self.loss.slope_scale
        gradient = total[:q].reshape(q, outputs, count).transpose(2, 0, 1).copy()
        gradient[:, 1:] *= unit[:, None]
        gradient += self.penalty.in_frame(self.frame.shift, parameters, chosen)
        if not self.fit_intercept:
            gradient[:, 0] = 0.0
        return gradient

    def pooled(self, stride: int, times: float) -> SingleProblem:
        """Return what most candidates solve, on every so many rows of the table."""
        index, frame = some_rows(len(self.rows), stride), self.frame
        weights = (
            frame.weights if self.weighing is None else frame.weights * self.weighing.typical()
        )
        return SingleProblem(
            self.rows[index] - frame.shift,
            index,
            self.loss,
            (times * self._inclusion * len(self.rows) / len(index)) * weights[index],
            self.penalty.typical(frame.shift),
            self.fit_intercept,
        )

    @property
    def stride(self) -> int:
        """Step between rows of which enough are left for a start."""
        n, p = self.rows.shape
        return max(1, n // max(_START_ROWS, _START_ROWS_EACH * p))

    @property
    def is_wide(self) -> bool:
        """Whether candidates have fewer rows than features."""
        return self._inclusion * self.n_rows <= self.rows.shape[1]

    @property
    def _inclusion(self) -> float:
        return float(np.asarray(self.space.membership(slice(0, 4096))).mean())

    def alone(self, i: int) -> tuple[SingleProblem, Floats, Floats]:
        """Return the problem of candidate ``i``, from its own rows, and what its coordinates are.

        Returns
        -------
        SingleProblem
        origin : ndarray of shape (p,)
            Where its intercept is the decision.
        basis : ndarray of shape (p, r)
            Of coefficients: those of fewer rows than features are combinations of the rows.
        """
        index, weights, bias = self.space.rows(i), self.penalty.weights[i], self.penalty.bias[i]
        # What is penalised is the decision at the centre; otherwise any origin will do.
        origin = self.penalty.centre[i] if self.fit_intercept and bias else self.frame.shift
        own = self.rows[index] - origin
        basis = np.eye(len(weights))
        if len(own) < len(weights):
            unit = np.sqrt(weights)
            basis, coordinates = np.linalg.qr((own / unit).T)
            own, basis, weights = coordinates.T, basis / unit[:, None], np.ones(len(coordinates))
        counted = np.ones(len(index))
        if self.weighing is not None:
            counted = self.weighing.weights[i, self.weighing.codes[index]]
        penalty = np.diag(np.append(bias, weights))
        single = SingleProblem(own, index, self.loss, counted, penalty, self.fit_intercept)
        return single, origin, basis


def _clear(slopes: NDArray[np.floating], members: NDArray[np.bool_]) -> None:
    """Put zeros, also in place of what is not a number, where a row (first axis) is no member."""
    whole = np.int32 if slopes.dtype == np.float32 else np.int64
    bits = slopes.view(whole)
    kept = np.negative(members.view(np.int8), dtype=whole)[:, None]  # all ones, or all zeros
    np.bitwise_and(bits, kept, out=bits)


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

    in_memory: ClassVar[bool] = False

    @property
    def frame(self) -> RowFrame:
        return self.sample.frame

    def gradient(
        self,
        parameters: Floats,
        chosen: NDArray[np.int64],
        *,
        single: bool = False,
    ) -> Floats:
        """Return the chosen candidates' gradients at (candidates, p + 1, outputs)."""
        weighing = self.sample.weighing
        weights = None if weighing is None else weighing.weights
        work = partial(_batch_gradient, self.loss, weights, self.frame, parameters, chosen)
        gradient: Floats = self.total(work)[0]
        gradient += self.sample.penalty.in_frame(self.frame.shift, parameters, chosen)
        if not self.sample.fit_intercept:
            gradient[:, 0] = 0.0
        return gradient


def _batch_gradient(
    loss: Callable[[Any], Loss],
    weights: Floats | None,
    frame: RowFrame,
    parameters: Floats,
    chosen: NDArray[np.int64],
    rows: Floats,
    targets: Any,
    members: Memberships,
) -> list[Floats]:
    m, p = members.n_subsets, rows.shape[1]
    none = Penalty(np.zeros((m, p)), np.zeros(m), np.zeros((m, p)))
    weighing = None if weights is None else Weighing(targets, weights)
    problem = Problem(rows, loss(targets), members, none, True, frame, weighing)
    return [problem.gradient(parameters, chosen)]


def are_usable(weights: Any) -> bool:
    """Return whether a joint fit knows this ``class_weight``.

    Others are left to the ordinary fit.
    """
    if isinstance(weights, dict):
        numbers = [isinstance(value, (int, float)) for value in weights.values()]
        return all(numbers) and all(0 < value < np.inf for value in weights.values())
    return weights is None or is_word(weights, "balanced")


def class_weights(weights: Any, classes: Any, counts: Floats) -> Floats | None:
    """Return the weight of each class in each candidate; None where all rows weigh one.

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
