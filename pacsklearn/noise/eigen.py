"""Noise shaped by the eigenvalues of the output covariance."""

from __future__ import annotations

from typing import final

import numpy as np

from pacsklearn.core.metric import Metric
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.information.lattice_bound import linear_bound
from pacsklearn.noise.lattice import exact_law, lattice_law

__all__ = ["EigenBackend"]


@final
class EigenBackend(NoiseBackend):
    """Auto-PAC: the least noise power under the linear Gaussian bound.

    Principal axis ``i`` of variance ``lam_i`` gets ``sqrt(lam_i) * sum_j sqrt(lam_j)/(2 budget)``.

    Guarantee
    ---------
    ``I(S; Y) <= 1/2 sum_i lam_i / e_i = budget``. Source: pac-private-responses, Theorem 2.4.
    """

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        span = support.span(metric)
        axes = span.mixing @ support.deviations
        if target.budget >= support.entropy or span.variances.size == 0:
            return exact_law(support, span.coordinates, axes, "eigen")
        deviation = np.sqrt(span.variances)
        variances = deviation * deviation.sum() / (2 * target.budget)
        return lattice_law(
            support,
            target,
            coordinates=span.coordinates,
            axes=axes,
            variances=variances,
            bound=linear_bound,
            proof="Gaussian bound: half the eigenvalue over the noise variance, summed",
            backend="eigen",
            noise_power=float(variances.sum()),
            released_power=float(variances.sum()),
        )
