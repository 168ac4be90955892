"""One linear model on its way down: what a step does with a noised gradient."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from pacsklearn.estimators.srpp_sgd.penalty import Penalty
from pacsklearn.estimators.srpp_sgd.step_size import StepSize
from pacsklearn.information.arrays import Floats


@final
@dataclass(eq=False)
class Descent:
    """Parameters, momentum and average. Everything here was noised, or never saw a row.

    Parameters
    ----------
    parameters : ndarray of shape (k, n_features + 1)
        Changed in place.
    step_size : StepSize
    penalty : Penalty
    momentum : float
        Share of the last velocity that is kept.
    average_from : int or None
        Step from which on the parameters are averaged; None for no averaging.
    fits_intercept : bool, default=True
    n_steps : int, default=0
        Steps taken.
    velocity, mean : ndarray of shape (k, n_features + 1), optional
        Momentum's, and the average.
    """

    parameters: Floats = field(repr=False)
    step_size: StepSize
    penalty: Penalty
    momentum: float
    average_from: int | None
    fits_intercept: bool = True
    n_steps: int = 0
    velocity: Floats | None = field(default=None, repr=False)
    mean: Floats | None = field(default=None, repr=False)

    def step(self, gradient: Floats) -> None:
        """Take a step along the noised mean of the clipped gradients."""
        size = self.step_size(self.n_steps)
        direction = gradient + self.penalty.gradient(self.parameters)
        if self.momentum > 0:
            before = 0.0 if self.velocity is None else self.momentum * self.velocity
            self.velocity = direction = before + direction
        self.parameters -= size * direction
        if not self.fits_intercept:
            self.parameters[:, -1] = 0.0
        self.penalty.shrink(self.parameters, size)
        self.n_steps += 1
        if self.average_from is not None and self.n_steps >= self.average_from:
            count = self.n_steps - self.average_from + 1
            if self.mean is None:
                self.mean = self.parameters.copy()
            else:
                self.mean += (self.parameters - self.mean) / count

    @property
    def result(self) -> Floats:
        """Parameters of the model as it stands."""
        return self.parameters if self.mean is None else self.mean
