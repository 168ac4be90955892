"""Quadratic penalty of the linear models that are fitted on all candidate subsets at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pacsklearn.information.arrays import Floats


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
