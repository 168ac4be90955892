"""Minimises the penalised losses of linear models on all candidate subsets at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from pacsklearn.joint.joint_problem import Problem, TableProblem
from pacsklearn.joint.newton import newton
from pacsklearn.kernel.bounds.arrays import Floats

_TOLERANCE = 1e-11
# Below this a gradient in single precision says nothing more.
_SINGLE = 3e-5
# Errors after a step of Newton's are about its square.
_LAST_STEP = 1e-7
_MEMORY = 8
_MOST_HALVINGS = 12
# Gradients after which a candidate is left to a solver of its own, unless it converges so fast that
# the last of them will do; and those in single precision at most. No clock, and no other candidate.
_STOPS = (10, 20, 40)
_MOST_SINGLE = 20
# Where nothing else can solve it, or a Hessian has more rows than are cheap.
_PATIENCE, _CHEAP = (100, 200), 128


class Differentiable(Protocol):
    """A loss of each candidate, known by its gradient."""

    def gradient(
        self, parameters: Floats, chosen: NDArray[np.int64], *, single: bool = False
    ) -> Floats:
        """Return gradients at the parameters (candidates, q, outputs) of the chosen candidates."""


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """Parameters of shape (m, p + 1, outputs), intercepts first; and how they were found.

    Parameters
    ----------
    parameters : ndarray of shape (m, p + 1, outputs)
    converged : ndarray of bool, shape (m,)
    sweeps : ndarray of shape (m,)
        Passes over the rows, those in single precision as a half.
    """

    parameters: Floats
    converged: NDArray[np.bool_]
    sweeps: Floats


def minimise(
    problem: Problem | TableProblem,
    start: Floats | None = None,
    *,
    chosen: NDArray[np.int64] | None = None,
) -> Solution:
    """Return the minimiser for each candidate, to a relative error of the decisions below 1e-10.

    Parameters
    ----------
    problem : Problem or TableProblem
        Strictly convex.
    start : ndarray of shape (p + 1, outputs), optional
        Common to all candidates, in the problem's frame; the minimiser on all rows, the far ones
        weighed less, when not given. The result does not depend on it, beyond the tolerance.
    chosen : ndarray of int, optional
        Candidates to solve; all when not given.

    Notes
    -----
    Quasi-Newton steps (Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.4), each
    candidate with its own memory, in coordinates in which the curvature on all rows is one: a
    candidate's own is then close to one, and few steps are needed. A gradient of all candidates is
    two matrix products; the first ones are taken in single precision. A candidate that does not
    converge fast enough by itself is solved by Newton's method on its own rows, from where the
    steps of all have led and to the same tolerance, where these are in memory.
    """
    m = problem.sample.space.n_subsets
    chosen = np.arange(m) if chosen is None else chosen
    p, outputs = problem.sample.rows.shape[1], problem.sample.loss.n_outputs
    nothing = np.zeros((m, p + 1, outputs)), np.zeros(m, dtype=bool), np.zeros(m)
    solution, common = Solution(*nothing), None
    if chosen.size and not (problem.in_memory and problem.sample.is_wide):
        common = common_start(problem.sample, start, problem.n_rows / problem.sample.n_rows)
    if common is not None:
        stops = _STOPS if problem.in_memory and (p + 1) * outputs <= _CHEAP else _PATIENCE
        solution = minimise_from(
            problem, *common, m, chosen=chosen, single=problem.in_memory, stops=stops
        )
    shift = problem.sample.frame.shift
    solution.parameters[:, 0] -= np.einsum("p,mpk->mk", shift, solution.parameters[:, 1:])
    if outputs > 1:
        # A shift common to all outputs is free, or penalised: the minimiser has none.
        solution.parameters[:] -= solution.parameters.mean(axis=2, keepdims=True)
    if problem.in_memory:
        for i in chosen[~solution.converged[chosen]]:
            _solve_alone(problem.sample, int(i), solution)
    return solution


def _solve_alone(problem: Problem, i: int, solution: Solution) -> None:
    """Put the minimiser on the candidate's own rows into ``solution``, where there is one."""
    single, origin, basis = problem.alone(i)
    zero = np.zeros((basis.shape[1] + 1, solution.parameters.shape[2]))
    begun = zero.copy()
    if len(basis) == basis.shape[1]:  # from where the steps of all have led
        begun[:] = solution.parameters[i]
        begun[0] += origin @ begun[1:]
    solved = newton(single, begun, enough=_LAST_STEP) or newton(single, zero, enough=_LAST_STEP)
    if solved is None:
        return
    own, steps = solved
    coef = basis @ own[1:]
    solution.parameters[i] = np.vstack([own[0] - origin @ coef, coef])
    solution.converged[i] = True
    solution.sweeps[i] += steps


def minimise_from(
    problem: Differentiable,
    start: Floats,
    factor: Floats,
    m: int,
    *,
    chosen: NDArray[np.int64],
    single: bool,
    stops: tuple[int, ...] | None = None,
) -> Solution:
    """Minimise from one start (q, outputs) and a root of a curvature common to all.

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
    chosen : ndarray of int
        Those to solve.
    single : bool
        Whether the first gradients may be taken in single precision.
    stops : tuple of int
        Gradients after which those that converge too slowly are left unsolved.
    """
    (q, outputs), points = start.shape, np.broadcast_to(start, (m, *start.shape)).reshape(m, -1)
    steps = _Steps(problem, factor, points @ factor, outputs, chosen)
    # A loss that is too large for a number is one that a step is too long for.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return steps.run((m, q, outputs), single=single, stops=stops or _STOPS)


@dataclass(eq=False)
class _Steps:
    """Points of all candidates in the coordinates ``parameters @ factor``."""

    problem: Differentiable
    factor: Floats
    points: Floats
    outputs: int
    active: NDArray[np.int64]

    def __post_init__(self) -> None:
        self.converged = np.zeros(len(self.points), dtype=bool)

    def run(self, shape: tuple[int, int, int], *, single: bool, stops: tuple[int, ...]) -> Solution:
        sweeps = np.zeros(len(self.points))
        gradient = self._gradient(self.points[self.active], single=single)
        pairs: list[tuple[Floats, Floats]] = []
        length, halvings = np.ones(self.active.size), np.zeros(self.active.size, dtype=int)
        step, last = -gradient, 0
        error = stood = self._error(gradient, step)
        for taken in range(1, stops[-1] + 1):
            if not self.active.size:
                break
            sweeps[self.active] += 0.5 if single else 1.0
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
            error = self._error(gradient, direction)
            stop = halvings > _MOST_HALVINGS
            if taken in stops:
                rate = (error / stood) ** (1 / (taken - last))
                stop |= ~(error * rate ** (stops[-1] - taken) <= _TOLERANCE)
                stood, last = error, taken
            done = (error <= _TOLERANCE) & (not single)
            if single and (
                np.all((error <= _SINGLE) | (halvings > 1) | stop) or taken >= _MOST_SINGLE
            ):
                single = False
                gradient = self._gradient(self.points[self.active], single=False)
                sweeps[self.active] += 1.0
                step, length = _direction(gradient, pairs), np.ones(self.active.size)
                halvings[:] = 0
            stop |= done
            if stop.any():
                self.converged[self.active[done]] = True
                # The last direction costs nothing more.
                last_one = done & good
                self.points[self.active[last_one]] += direction[last_one]
                kept = ~stop
                self.active = self.active[kept]
                pairs = [(one[kept], other[kept]) for one, other in pairs]
                gradient, step, stood = gradient[kept], step[kept], stood[kept]
                length, halvings = length[kept], halvings[kept]
        back = solve_triangular(self.factor, self.points.T, lower=True, trans="T").T
        return Solution(back.reshape(shape), self.converged, sweeps)

    def _error(self, gradient: Floats, direction: Floats) -> Floats:
        """Estimate each active candidate's error, in the size of its decisions; at most 1."""
        size = self._size(self.points[self.active])
        lengths = np.linalg.norm(gradient, axis=1), np.linalg.norm(direction, axis=1)
        error = np.maximum(*lengths)
        return np.asarray(error / (size + error))

    def _gradient(self, points: Floats, *, single: bool) -> Floats:
        back = solve_triangular(self.factor, points.T, lower=True, trans="T").T
        parameters = back.reshape(len(points), -1, self.outputs)
        gradient = self.problem.gradient(parameters, self.active, single=single)
        return solve_triangular(
            self.factor, gradient.reshape(len(points), -1).T, lower=True, check_finite=False
        ).T

    def _size(self, points: Floats) -> Floats:
        """Return the size of the decisions around their mean.

        Intercepts come first in the coordinates.
        """
        inner = points[:, self.outputs :]
        return np.maximum(np.linalg.norm(inner, axis=1), np.finfo(np.float64).tiny)


def _direction(gradient: Floats, pairs: list[tuple[Floats, Floats]]) -> Floats:
    """Return the limited-memory quasi-Newton direction of each candidate.

    Its first guess is minus one.
    """
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
    """Return the factor at which a secant of the slope crosses zero, between a tenth and a half."""
    secant = np.abs(before) / (np.abs(before) + after)
    return np.clip(np.where(np.isfinite(after), secant, 0.1), 0.1, 0.5)


# A start is near enough where a step moves its decisions by this share.
_NEAR = 0.1


def common_start(
    problem: Problem, start: Floats | None, times: float
) -> tuple[Floats, Floats] | None:
    """Return minimiser on all rows, far ones weighed less, and a root of its Hessian; in the frame.

    The root is lower triangular, intercepts first, for parameters of shape (p + 1) * outputs. Every
    row counts for so many ``times``.
    """
    if start is None:
        zero = np.zeros((problem.rows.shape[1] + 1, problem.loss.n_outputs))
        near = newton(problem.pooled(problem.stride, times), zero, enough=_NEAR)
        if near is None:
            return None
        start = near[0]
    with np.errstate(over="ignore", invalid="ignore"):
        gradient, hessian = problem.pooled(1, times).terms(start)
    if not (np.all(np.isfinite(hessian)) and np.all(np.isfinite(gradient))):
        return None
    try:
        return start, np.asarray(np.linalg.cholesky(hessian))
    except np.linalg.LinAlgError:
        return None
