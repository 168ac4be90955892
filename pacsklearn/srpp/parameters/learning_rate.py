"""The step sizes of gradient descent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, StrOptions


@final
@dataclass(repr=False)
class LearningRate(BaseEstimator):
    """How far each step goes along the noised gradient, and along those before it.

    Parameters
    ----------
    eta0 : float, default=0.1
        First step size.
    schedule : {"constant", "invscaling", "cosine"}, default="cosine"
        Step size: ``eta0``; ``eta0 / step**power_t``; or falling to zero along a cosine.
    power_t : float, default=0.25
        Of ``"invscaling"``.
    momentum : float, default=0.0
        Share of the last step's direction that is kept.

    Examples
    --------
    >>> from pacsklearn.srpp import LearningRate
    >>> [round(LearningRate(1.0).size(step, 4), 3) for step in range(4)]
    [1.0, 0.854, 0.5, 0.146]
    """

    eta0: float = 0.1
    schedule: str = "cosine"
    power_t: float = 0.25
    momentum: float = 0.0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "schedule": [StrOptions({"constant", "invscaling", "cosine"})],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "momentum": [Interval(Real, 0, 1, closed="left")],
    }

    def size(self, step: int, n_steps: int) -> float:
        """Return the size of a step, counted from 0, of a run of so many."""
        if self.schedule == "invscaling":
            return float(self.eta0 / (step + 1) ** self.power_t)
        if self.schedule == "cosine":
            return float(self.eta0 * (1 + math.cos(math.pi * min(step / n_steps, 1.0))) / 2)
        return float(self.eta0)
