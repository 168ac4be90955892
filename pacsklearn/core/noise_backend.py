"""How much noise, and of which shape."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pacsklearn.core.metric import Metric
from pacsklearn.core.noise_law import NoiseLaw, Support, Target


class NoiseBackend(ABC):
    """A method of calibrating noise to a target.

    :meth:`calibrate` is a deterministic function of the support: it never sees which candidate
    was drawn and never draws noise.
    """

    @abstractmethod
    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        """Law whose proved bound is at most ``target.budget``.

        Parameters
        ----------
        support : Support
            Outputs over the secret space with the adversary's current belief.
        target : Target
            What the release may reveal.
        metric : Metric
            What noise costs in each direction.
        """
