"""Noise shaped for the log-determinant bound."""

from __future__ import annotations

from typing import final

from pacsklearn.core.metric import Metric
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.information.lattice_bound import logdet_bound
from pacsklearn.information.logdet_allocation import logdet_allocation
from pacsklearn.noise.lattice import exact_law, lattice_law

__all__ = ["LogdetBackend"]


@final
class LogdetBackend(NoiseBackend):
    """The least noise power under the log-determinant Gaussian bound; the default.

    Guarantee
    ---------
    ``I(S; Y) <= 1/2 sum_i ln(1 + lam_i / e_i) = budget``: among outputs of one covariance the
    Gaussian has the largest entropy. Source: residual-pac, equation 2 and Proposition 2.
    """

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        span = support.span(metric)
        axes = span.mixing @ support.deviations
        if target.budget >= support.entropy or span.variances.size == 0:
            return exact_law(support, span.coordinates, axes, "logdet")
        variances = logdet_allocation(span.variances, target.budget)
        return lattice_law(
            support,
            target,
            coordinates=span.coordinates,
            axes=axes,
            variances=variances,
            bound=logdet_bound,
            proof="Gaussian bound: log-determinant of signal plus noise over noise",
            backend="logdet",
            noise_power=float(variances.sum()),
            released_power=float(variances.sum()),
        )
