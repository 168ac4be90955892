"""The same noise in every direction."""

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

__all__ = ["IsotropicBackend"]


@final
class IsotropicBackend(NoiseBackend):
    """Equal noise on every output that varies; the baseline.

    Guarantee
    ---------
    ``I(S; Y) <= E|M(S) - mean|^2 / (2 e) = budget`` with noise variance ``e``, computed over the
    secret space. Source: Xiao and Devadas's bound as used in pac-private-algorithms, section 4.
    """

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        span = support.span(metric)
        axes = span.mixing @ support.deviations
        if target.budget >= support.entropy or span.variances.size == 0:
            return exact_law(support, span.coordinates, axes, "isotropic")
        variance = float(span.variances.sum()) / (2 * target.budget)
        varying = int(np.any(metric.root(support.deviations) != 0, axis=0).sum())
        return lattice_law(
            support,
            target,
            coordinates=span.coordinates,
            axes=axes,
            variances=np.full(span.variances.size, variance),
            bound=linear_bound,
            proof="Gaussian bound: half the output variance over the noise variance",
            backend="isotropic",
            noise_power=varying * variance,
            released_power=span.variances.size * variance,
        )
