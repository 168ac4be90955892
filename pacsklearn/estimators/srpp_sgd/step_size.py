"""Step sizes over a run: public functions of the step's number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

SCHEDULES: Final = ("constant", "invscaling", "cosine")
"""Names of the schedules."""


@final
@dataclass(frozen=True)
class StepSize:
    """Step size of every step.

    Parameters
    ----------
    schedule : str
        One of :data:`SCHEDULES`.
    first : float
        Step size at the beginning.
    power : float
        Of ``"invscaling"``: ``first / step**power``.
    n_steps : int
        Length of the run, for ``"cosine"``, which falls to zero at its end, and for the warm-up.
    warmup : float
        Share of the run in which the step size rises linearly.

    Examples
    --------
    >>> [round(StepSize("cosine", 1.0, 0.5, 4)(t), 3) for t in range(4)]
    [1.0, 0.854, 0.5, 0.146]
    """

    schedule: str
    first: float
    power: float
    n_steps: int
    warmup: float = 0.0

    def __call__(self, step: int) -> float:
        """Size of a step, counted from 0."""
        rising = self.warmup * self.n_steps
        size = self.first * min(1.0, (step + 1) / rising if rising > 1 else 1.0)
        if self.schedule == "invscaling":
            return size / (step + 1) ** self.power
        if self.schedule == "cosine":
            return size * (1 + math.cos(math.pi * min(step / self.n_steps, 1.0))) / 2
        return size
