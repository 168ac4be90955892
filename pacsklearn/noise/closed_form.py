"""Backends that know their noise variances in closed form."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, final

from pacsklearn.core.metric import Metric
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.noise_law import Integers, NoiseLaw
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.information.arrays import Floats
from pacsklearn.noise.lattice import lattice_law, opened


class ClosedFormBackend(NoiseBackend):
    """Independent noise on the principal axes of the outputs, as the metric sees them.

    A backend of this kind is its variances and the bound that they meet.

    Attributes
    ----------
    name : str
        As it is registered.
    proof : str
        Why the bound holds.
    """

    name: ClassVar[str]
    proof: ClassVar[str]

    @abstractmethod
    def variances(self, signal: Floats, budget: float) -> Floats:
        """Noise variances for outputs of variances ``signal`` along the axes; both shape (k,)."""

    @abstractmethod
    def bound(self, centres: Integers, weights: Floats, scale: int) -> float:
        """Nats that integers around these centres reveal at most, under noise of that scale."""

    @final
    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        span = support.span(metric)
        axes, exact = opened(support, target, span, self.name)
        if exact is not None:
            return exact
        variances = self.variances(span.variances, target.budget)
        power = float(variances.sum())
        return lattice_law(
            support,
            target,
            coordinates=span.coordinates,
            axes=axes,
            variances=variances,
            bound=self.bound,
            proof=self.proof,
            backend=self.name,
            noise_power=self.published_power(power, support, metric),
            released_power=power,
        )

    def published_power(self, power: float, support: Support, metric: Metric) -> float:
        """Power of the published method, which may add noise that this one leaves out."""
        return power
