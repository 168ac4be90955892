"""Minimises the penalised losses of linear models on all candidate subsets at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from pacsklearn.core.memberships import Memberships
from pacsklearn.core.table_view import BatchWork
from pacsklearn.fitting.losses import Loss
from pacsklearn.fitting.member_sums import block_members
from pacsklearn.information.arrays import Floats

__all__ = ["Penalty", "Problem", "Solution", "TableProblem", "Weighing", "minimise"]

_ROWS = 512  # rows whose decisions by all candidates fit the cache
_TOLERANCE = 1e-10
# Below this a gradient in single precision says nothing more.
_SINGLE = 3e-5
_MEMORY = 8
_MOST_SWEEPS = 100
_MOST_HALVINGS = 12
_START = 1e-5
_START_ROWS = 4096


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
        spread = self.rows[:: max(1, len(self.rows) // _START_ROWS)]
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
    weights : ndarray of shape (m, K) or None
        Of the classes, which the targets then are.
    total : callable
        Sums what some work gives for every batch.
    """

    sample: Problem
    n_rows: int
    loss: Callable[[Any], Loss]
    weights: Floats | None
    total: Callable[[BatchWork], list[Any]]

    def gradient(
        self,
        parameters: Floats,
        chosen: NDArray[np.int64],
        *,
        single: bool = False,
    ) -> Floats:
        """Gradients at the parameters (candidates, p + 1, outputs) of the chosen candidates."""
        work = partial(_batch_gradient, self.loss, self.weights, parameters, chosen)
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


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """Parameters of shape (m, p + 1, outputs), intercepts first; and how they were found.

    Parameters
    ----------
    parameters : ndarray of shape (m, p + 1, outputs)
    converged : ndarray of bool, shape (m,)
    sweeps : int
        Passes over the rows in double precision; those in single precision count half.
    """

    parameters: Floats
    converged: NDArray[np.bool_]
    sweeps: int


def minimise(problem: Problem | TableProblem, start: Floats | None = None) -> Solution | None:
    """Minimiser for each candidate, to a relative error of the decisions below 1e-9.

    Parameters
    ----------
    problem : Problem or TableProblem
        Strictly convex.
    start : ndarray of shape (p + 1, outputs), optional
        Common to all candidates; the minimiser on all rows when not given. The result does not
        depend on it, beyond the tolerance.

    Returns
    -------
    Solution or None
        None where the curvature on all rows is not positive definite in double precision.

    Notes
    -----
    Quasi-Newton steps (Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.4), each
    candidate with its own memory, in coordinates in which the curvature on all rows is one: a
    candidate's own is then close to one, and few steps are needed. A gradient of all candidates is
    two matrix products; the first ones are taken in single precision.
    """
    common = _common(problem.sample, start, problem.n_rows / problem.sample.n_rows)
    if common is None:
        return None
    parameters, factor = common
    m = problem.sample.space.n_subsets
    q, outputs = parameters.shape
    state = _Steps(
        problem, factor, np.broadcast_to(parameters, (m, q, outputs)).reshape(m, -1) @ factor
    )
    return state.run((m, q, outputs))


class _Steps:
    """Points of all candidates in the coordinates ``parameters @ factor``."""

    def __init__(self, problem: Problem | TableProblem, factor: Floats, points: Floats) -> None:
        self.problem, self.factor, self.points = problem, factor, points
        self.m = len(points)
        self.active = np.arange(self.m)
        self.converged = np.zeros(self.m, dtype=bool)

    def run(self, shape: tuple[int, int, int]) -> Solution:
        sweeps, single = 0.0, isinstance(self.problem, Problem)
        gradient = self._gradient(self.points, single=single)
        pairs: list[tuple[Floats, Floats]] = []
        length, halvings = np.ones(self.m), np.zeros(self.m, dtype=int)
        step = -gradient
        while self.active.size and sweeps < _MOST_SWEEPS:
            sweeps += 0.5 if single else 1.0
            here = self.points[self.active]
            trial = here + length[:, None] * step
            there = self._gradient(trial, single=single)
            before, after = np.sum(gradient * step, axis=1), np.sum(there * step, axis=1)
            # A convex loss turns up where a step was too long.
            good = np.isfinite(after) & (after <= 0.5 * np.abs(before))
            moved = np.where(good[:, None], trial - here, 0.0)
            turned = np.where(good[:, None], there - gradient, 0.0)
            pairs = [*pairs, (moved, turned)][-_MEMORY:]
            self.points[self.active] = here + moved
            gradient = gradient + turned
            halvings = np.where(good, 0, halvings + 1)
            direction = _direction(gradient, pairs)
            step = np.where(good[:, None], direction, step)
            length = np.where(good, 1.0, length * _shorter(before, after))
            size = self._size(self.points[self.active])
            error = np.maximum(np.linalg.norm(gradient, axis=1), np.linalg.norm(direction, axis=1))
            if single:
                if np.all((error <= _SINGLE * size) | (halvings > 1)) or sweeps > _MOST_SWEEPS / 4:
                    single = False
                    gradient = self._gradient(self.points[self.active], single=False)
                    sweeps += 1.0
                    step, length = _direction(gradient, pairs), np.ones(self.active.size)
                    halvings[:] = 0
                continue
            done = error <= _TOLERANCE * size
            stop = done | (halvings > _MOST_HALVINGS)
            if stop.any():
                self.converged[self.active[done]] = True
                kept = ~stop
                self.active = self.active[kept]
                pairs = [(one[kept], other[kept]) for one, other in pairs]
                gradient, step = gradient[kept], step[kept]
                length, halvings = length[kept], halvings[kept]
        back = solve_triangular(self.factor, self.points.T, lower=True, trans="T").T
        return Solution(back.reshape(shape), self.converged, int(np.ceil(sweeps)))

    def _gradient(self, points: Floats, *, single: bool) -> Floats:
        outputs = self.problem.sample.loss.n_outputs
        back = solve_triangular(self.factor, points.T, lower=True, trans="T").T
        parameters = back.reshape(len(points), -1, outputs)
        with np.errstate(over="ignore", invalid="ignore"):
            gradient = self.problem.gradient(parameters, self.active, single=single)
        turned: Floats = solve_triangular(
            self.factor, gradient.reshape(len(points), -1).T, lower=True, check_finite=False
        ).T
        return turned

    def _size(self, points: Floats) -> Floats:
        """Size of the decisions around their mean: intercepts come first in the coordinates."""
        inner = points[:, self.problem.sample.loss.n_outputs :]
        return np.maximum(np.linalg.norm(inner, axis=1), np.finfo(np.float64).tiny)


def _direction(gradient: Floats, pairs: list[tuple[Floats, Floats]]) -> Floats:
    """Limited-memory quasi-Newton direction of each candidate; its first guess is minus one."""
    direction, weights = -gradient, []
    for moved, turned in reversed(pairs):
        product = np.sum(moved * turned, axis=1)
        usable = product > 1e-12 * np.sum(turned * turned, axis=1)
        inverse = np.where(usable, 1.0 / np.where(usable, product, 1.0), 0.0)
        weight = inverse * np.sum(moved * direction, axis=1)
        weights.append((inverse, weight))
        direction = direction - weight[:, None] * turned
    for (moved, turned), (inverse, weight) in zip(pairs, reversed(weights), strict=True):
        other = inverse * np.sum(turned * direction, axis=1)
        direction = direction + (weight - other)[:, None] * moved
    return direction


def _shorter(before: Floats, after: Floats) -> Floats:
    """Factor at which a secant of the slope crosses zero, between a tenth and a half."""
    with np.errstate(invalid="ignore", over="ignore"):
        secant = np.abs(before) / (np.abs(before) + after)
    return np.clip(np.where(np.isfinite(after), secant, 0.1), 0.1, 0.5)


def _common(problem: Problem, start: Floats | None, times: float) -> tuple[Floats, Floats] | None:
    """Minimiser on all rows, each weighed by the average inclusion, and a root of its curvature.

    The root is lower triangular, intercepts first, for parameters of shape (p + 1) * outputs. Every
    row counts for so many ``times``.
    """
    n, p = problem.rows.shape
    outputs, space = problem.loss.n_outputs, problem.space
    inclusion = np.asarray(space.membership(slice(0, 4096))).mean()
    penalty, one = np.kron(problem.penalty.mean(), np.eye(outputs)), np.zeros((p + 1, outputs))
    given = start is not None
    if start is not None:
        one = start.copy()
    factor: Floats | None = None
    spread = max(1, n // _START_ROWS)
    for step in range(30):
        stride = spread if step < 3 and not given else 1
        gradient, curvature = _common_terms(problem, one, slice(0, n, stride))
        weight = times * inclusion * n / len(range(0, n, stride))
        matrix = weight * curvature + penalty
        slope = weight * gradient.ravel() + penalty @ one.ravel()
        if not problem.fit_intercept:
            matrix[:outputs], matrix[:, :outputs] = 0.0, 0.0
            matrix[:outputs, :outputs] = np.eye(outputs)
            slope[:outputs] = 0.0
        elif outputs > 1:
            # A shift common to all classes changes nothing, and stays what it was.
            matrix[:outputs, :outputs] += matrix[0, 0] / outputs
        try:
            factor = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return None
        if given:
            return one, factor
        newton = np.linalg.solve(matrix, slope)
        one = one - _damped(problem, one, newton).reshape(one.shape)
        decided = np.sqrt(max(float(one.ravel() @ matrix @ one.ravel()), 1e-300))
        if stride == 1 and np.sqrt(float(newton @ matrix @ newton)) <= _START * decided:
            break
        if stride == 1 and step >= 4 and np.sqrt(float(newton @ matrix @ newton)) <= 0.1 * decided:
            break  # near enough for a start
    return (one, factor) if np.all(np.isfinite(one)) and factor is not None else None


def _damped(problem: Problem, one: Floats, newton: Floats) -> Floats:
    """Newton step, not so long that decisions move by more than the loss can be trusted for."""
    reach = problem.loss.trusted_change
    if reach is None:
        return newton
    some = problem.rows[:: max(1, len(problem.rows) // _START_ROWS)]
    change = newton.reshape(one.shape)
    largest = float(np.max(np.abs(some @ change[1:] + change[0]), initial=0.0))
    return newton if largest <= reach else newton * (reach / largest)


def _common_terms(problem: Problem, one: Floats, rows: slice) -> tuple[Floats, Floats]:
    """Gradient (p + 1, outputs) and curvature of the losses summed over some rows."""
    q, outputs = one.shape
    gradient, curvature = np.zeros((q, outputs)), np.zeros((q, outputs, q, outputs))
    every = range(*rows.indices(len(problem.rows)))
    step = 4096
    for start in range(0, len(every), step):
        part = every[start : start + step]
        chosen = slice(part.start, part.stop, part.step)
        block = np.column_stack([np.ones(len(part)), problem.rows[chosen]])
        decision = block @ one
        slopes = (decision * problem.loss.argument_scale)[:, :, None]
        problem.loss.slopes(slopes, chosen)
        curved = problem.loss.curvature(decision, chosen)
        if problem.weighing is not None:
            weights = problem.weighing.mean(chosen)[:, None, None]
            slopes, curved = slopes * weights, curved * weights
        gradient += problem.loss.slope_scale * (block.T @ slopes[:, :, 0])
        for first in range(outputs):
            for second in range(first + 1):
                product = block.T @ (curved[:, first, second, None] * block)
                curvature[:, first, :, second] += product
                if first != second:
                    curvature[:, second, :, first] += product
    return gradient, curvature.reshape(q * outputs, -1)
