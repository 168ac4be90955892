"""Minimise one smooth convex objective by damped Newton steps."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pacsklearn.kernel.bounds.arrays import Floats

_MOST_STEPS = 100
_MOST_HALVINGS = 30
# Newton's steps are exact to about their square: after one this small nothing is left to be seen.
_SMALLEST_STEP = 1e-10
# A step this small that is no shorter than the one before is rounding.
_ROUNDING = 1e-6


class TwiceDifferentiable(Protocol):
    """A convex objective, known by its derivatives."""

    def terms(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the gradient (q, outputs) and the Hessian (q * outputs, q * outputs).

        Not finite where the objective is not defined.
        """


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def newton(
    objective: TwiceDifferentiable, start: Floats, *, enough: float = _SMALLEST_STEP
) -> tuple[Floats, int] | None:
    """Return the minimiser, to rounding, and the steps to it; None where it is not found.

    Parameters
    ----------
    objective : TwiceDifferentiable
    start : ndarray of shape (q, outputs)
    enough : float, optional
        Step after which it is found, beside the point.

    Notes
    -----
    A step is shortened until the objective no longer rises steeply at its end. Steps are measured
    by the Hessian, beside the point: units of the coordinates do not matter.
    """
    point, before = start, np.inf
    gradient, hessian = objective.terms(point)
    for steps in range(1, _MOST_STEPS + 1):
        solved = _solve(hessian, gradient.ravel())
        if solved is None:
            return None
        size = _length(solved, hessian)
        step, length = solved.reshape(point.shape), 1.0
        slope, here = -float(np.sum(gradient * step)), _length(point, hessian)
        for _ in range(_MOST_HALVINGS):
            trial = point - length * step
            gradient, hessian = objective.terms(trial)
            # Rounding alone changes the slope along the smallest steps.
            if size <= _ROUNDING * here or -float(np.sum(gradient * step)) <= 0.5 * abs(slope):
                break
            length *= 0.5
        else:
            return None
        point, reached = trial, _length(trial, hessian)
        if size <= enough * reached or before <= size <= _ROUNDING * reached:
            return point, steps
        before = size
    return None


def _length(vector: Floats, hessian: Floats) -> float:
    flat = vector.ravel()
    return float(np.sqrt(max(float(flat @ hessian @ flat), 0.0)))


def _solve(hessian: Floats, gradient: Floats) -> Floats | None:
    """Return the Newton step in units that give the Hessian ones on its diagonal.

    None unless positive.
    """
    units = np.sqrt(np.diag(hessian))
    if not (np.all(np.isfinite(hessian)) and np.all(np.isfinite(gradient)) and np.all(units > 0)):
        return None
    try:
        factor = cho_factor(hessian / (units[:, None] * units), check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(cho_solve(factor, gradient / units, check_finite=False) / units)
