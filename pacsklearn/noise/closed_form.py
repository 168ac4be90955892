"""Backends that know their noise variances in closed form."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, final

import numpy as np

from pacsklearn.core.metric import Metric
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.noise_law import Integers, NoiseLaw
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.information.arrays import Floats
from pacsklearn.information.lattice_bound import linear_bound, logdet_allocation, logdet_bound
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

    def bound(self, centres: Integers, weights: Floats, scale: int) -> float:
        """Nats that integers around these centres reveal at most, under noise of that scale.

        The linear bound, which holds under any noise, where a backend has no tighter one.
        """
        return linear_bound(centres, weights, scale)

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


@final
class LogdetBackend(ClosedFormBackend):
    """The least noise power under the log-determinant Gaussian bound; the default.

    Guarantee
    ---------
    ``I(S; Y) <= 1/2 sum_i ln(1 + lam_i / e_i) = budget``: among outputs of one covariance the
    Gaussian has the largest entropy. Source: residual-pac, equation 2 and Proposition 2.
    """

    name = "logdet"
    proof = "Gaussian bound: log-determinant of signal plus noise over noise"

    def variances(self, signal: Floats, budget: float) -> Floats:
        return logdet_allocation(signal, budget)

    def bound(self, centres: Integers, weights: Floats, scale: int) -> float:
        return logdet_bound(centres, weights, scale)


@final
class IsotropicBackend(ClosedFormBackend):
    """Equal noise on every output that varies; the baseline.

    Guarantee
    ---------
    ``I(S; Y) <= E|M(S) - mean|^2 / (2 e) = budget`` with noise variance ``e``, computed over the
    secret space. Source: Xiao and Devadas's bound as used in pac-private-algorithms, section 4.
    """

    name = "isotropic"
    proof = "Gaussian bound: half the output variance over the noise variance"

    def variances(self, signal: Floats, budget: float) -> Floats:
        return np.full(signal.size, float(signal.sum()) / (2 * budget))

    def published_power(self, power: float, support: Support, metric: Metric) -> float:
        varying = int(np.any(metric.root(support.deviations) != 0, axis=0).sum())
        return power * varying / support.span(metric).variances.size


@final
class EigenBackend(ClosedFormBackend):
    """Auto-PAC: the least noise power under the linear Gaussian bound.

    Principal axis ``i`` of variance ``lam_i`` gets ``sqrt(lam_i) * sum_j sqrt(lam_j)/(2 budget)``.

    Guarantee
    ---------
    ``I(S; Y) <= 1/2 sum_i lam_i / e_i = budget``. Source: pac-private-responses, Theorem 2.4.
    """

    name = "eigen"
    proof = "Gaussian bound: half the eigenvalue over the noise variance, summed"

    def variances(self, signal: Floats, budget: float) -> Floats:
        deviation = np.sqrt(signal)
        return np.asarray(deviation * deviation.sum() / (2 * budget))
