"""Coordinate descent on a matrix of products."""

from __future__ import annotations

import math

import numpy as np

from pacsklearn.kernel.bounds.compiled import compiled


@compiled(worth=2**17)
def descend(matrix, towards, lasso, positive, tolerance, most):
    """Minimise ``w' matrix w / 2 - towards w + lasso |w|_1`` from zero; count the sweeps.

    The last sweep moved no coordinate by more than the tolerance, in parts of the largest, both in
    units that give the matrix ones on its diagonal.
    """
    p = towards.shape[0]
    coef, slopes = np.zeros(p), towards.copy()
    for sweep in range(1, most + 1):
        moved, largest = 0.0, 0.0
        for j in range(p):
            curvature = matrix[j, j]
            pull = slopes[j] + curvature * coef[j]
            size = (pull if positive else abs(pull)) - lasso
            best = math.copysign(size, pull) / curvature if size > 0 else 0.0
            step = best - coef[j]
            if step != 0.0:
                coef[j] = best
                _subtract(slopes, step, matrix[j])
            unit = math.sqrt(curvature)
            moved, largest = max(moved, unit * abs(step)), max(largest, unit * abs(best))
        if moved <= tolerance * largest:
            return coef, sweep
    return coef, most + 1


@compiled()
def _subtract(slopes, step, row):
    for k in range(slopes.shape[0]):
        slopes[k] -= step * row[k]


@_subtract.in_numpy
def _subtract_in_numpy(slopes, step, row):
    slopes -= step * row
