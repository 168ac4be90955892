"""Where the minimisers of all candidates start: near the minimiser on all rows."""

from __future__ import annotations

import numpy as np

from pacsklearn.fitting.joint_problem import Problem
from pacsklearn.information.arrays import Floats

__all__ = ["common_minimiser"]

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
