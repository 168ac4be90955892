"""Penalised loss of one linear model, with its gradient and its Hessian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.joint.loss import Loss
from pacsklearn.kernel.bounds.arrays import Floats

_ROWS = 4096


@final
@dataclass(frozen=True, eq=False)
class SingleProblem:
    """Weighted losses of some rows plus ``w' penalty w / 2`` for each output.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
    index : ndarray of int, shape (n,)
        Where the rows' targets stand in ``loss``.
    loss : Loss
    weights : ndarray of shape (n,)
        What each row counts for.
    penalty : ndarray of shape (p + 1, p + 1)
        Intercept first.
    fit_intercept : bool
    """

    rows: Floats
    index: NDArray[np.int64]
    loss: Loss
    weights: Floats
    penalty: Floats
    fit_intercept: bool

    def terms(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and Hessian at parameters (p + 1, outputs), intercepts first."""
        q, outputs = point.shape
        gradient, curvature = self.penalty @ point, np.zeros((q, outputs, q, outputs))
        every = np.arange(outputs)
        curvature[:, every, :, every] = self.penalty
        for start in range(0, len(self.rows), _ROWS):
            part = slice(start, start + _ROWS)
            block = np.column_stack([np.ones(len(self.rows[part])), self.rows[part]])
            index, weights = self.index[part], self.weights[part, None, None]
            decision = block @ point
            slopes = (decision * self.loss.argument_scale)[:, :, None]
            self.loss.slopes(slopes, index)
            gradient += self.loss.slope_scale * (block.T @ (slopes * weights)[:, :, 0])
            curved = self.loss.curvature(decision, index) * weights
            for first in range(outputs):
                # A product of a matrix with itself takes half the time.
                root = np.sqrt(curved[:, first, first, None]) * block
                curvature[:, first, :, first] += root.T @ root
                for second in range(first):
                    product = block.T @ (curved[:, first, second, None] * block)
                    curvature[:, first, :, second] += product
                    curvature[:, second, :, first] += product
        matrix = curvature.reshape(q * outputs, -1)
        if not self.fit_intercept:
            matrix[:outputs], matrix[:, :outputs] = 0.0, 0.0
            matrix[:outputs, :outputs] = np.eye(outputs)
            gradient[0] = 0.0
        elif outputs > 1:
            # A shift common to all classes changes nothing, and stays what it was.
            matrix[:outputs, :outputs] += matrix[0, 0] / outputs
        return gradient, matrix
