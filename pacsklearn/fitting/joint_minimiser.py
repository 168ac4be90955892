"""Minimises the penalised losses of linear models on all candidate subsets at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from pacsklearn.fitting.joint_problem import Problem, TableProblem
from pacsklearn.information.arrays import Floats

_TOLERANCE = 1e-10
# Below this a gradient in single precision says nothing more.
_SINGLE = 3e-5
_MEMORY = 8
_MOST_SWEEPS = 100
_MOST_HALVINGS = 12


class Differentiable(Protocol):
    """A loss of each candidate, known by its gradient."""

    def gradient(
        self, parameters: Floats, chosen: NDArray[np.int64], *, single: bool = False
    ) -> Floats:
        """Gradients at the parameters (candidates, q, outputs) of the chosen candidates."""


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
    common = common_minimiser(problem.sample, start, problem.n_rows / problem.sample.n_rows)
    if common is None:
        return None
    single = isinstance(problem, Problem)
    return minimise_from(problem, *common, m=problem.sample.space.n_subsets, single=single)


def minimise_from(
    problem: Differentiable, start: Floats, factor: Floats, *, m: int, single: bool
) -> Solution:
    """As :func:`minimise`, from one start (q, outputs) and a root of a curvature common to all.

    Parameters
    ----------
    problem : Differentiable
        Strictly convex.
    start : ndarray of shape (q, outputs)
        Intercepts first.
    factor : ndarray of shape (q * outputs, q * outputs)
        Lower triangular.
    m : int
        Candidates.
    single : bool
        Whether the first gradients may be taken in single precision.
    """
    (q, outputs), points = start.shape, np.broadcast_to(start, (m, *start.shape)).reshape(m, -1)
    return _Steps(problem, factor, points @ factor, outputs).run((m, q, outputs), single=single)


class _Steps:
    """Points of all candidates in the coordinates ``parameters @ factor``."""

    def __init__(
        self, problem: Differentiable, factor: Floats, points: Floats, outputs: int
    ) -> None:
        self.problem, self.factor, self.points, self.outputs = problem, factor, points, outputs
        self.m = len(points)
        self.active = np.arange(self.m)
        self.converged = np.zeros(self.m, dtype=bool)

    def run(self, shape: tuple[int, int, int], *, single: bool) -> Solution:
        sweeps = 0.0
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
        back = solve_triangular(self.factor, points.T, lower=True, trans="T").T
        parameters = back.reshape(len(points), -1, self.outputs)
        with np.errstate(over="ignore", invalid="ignore"):
            gradient = self.problem.gradient(parameters, self.active, single=single)
        return solve_triangular(
            self.factor, gradient.reshape(len(points), -1).T, lower=True, check_finite=False
        ).T

    def _size(self, points: Floats) -> Floats:
        """Size of the decisions around their mean: intercepts come first in the coordinates."""
        inner = points[:, self.outputs :]
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


_START = 1e-5


def common_minimiser(
    problem: Problem, start: Floats | None, times: float
) -> tuple[Floats, Floats] | None:
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
    for step in range(30):
        stride = problem.stride if step < 3 and not given else 1
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
    some = problem.rows[:: problem.stride]
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
