"""Noise shaped by the variance of each output coordinate."""

from __future__ import annotations

from typing import final

import numpy as np

from pacsklearn.kernel.bounds.lattice_bound import linear_bound, span_coordinates
from pacsklearn.kernel.noise.lattice import lattice_law, opened
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric


@final
class DiagonalBackend(NoiseBackend):
    """Efficient-PAC: independent noise on every output coordinate.

    Coordinate ``i`` of variance ``v_i`` gets noise variance
    ``sqrt(v_i) * sum_j sqrt(v_j) / (2 budget)``. Only its part inside the span of the outputs is
    added: the rest is independent of everything an adversary wants to know.

    Guarantee
    ---------
    ``I(S; Y) <= 1/2 sum_i v_i / e_i = budget``. Source: pac-private-algorithms, Algorithm 1 and
    Theorem 1, with the variances computed over the secret space instead of estimated.
    """

    name = "diagonal"
    description = "noise shaped by the variance of each output (Efficient-PAC)"

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        root = metric.root(support.deviations)
        deviation = np.sqrt(support.weights @ root**2)
        varying = deviation > 0
        if not varying.all():
            root, deviation = root[:, varying], deviation[varying]
        # pac-private-algorithms, Theorem 1: the same optimum along the outputs instead of the axes.
        variances = deviation * deviation.sum() / (2 * target.budget)
        # In units of the noise, so that noise is the same in every direction of the span: what lies
        # outside it is independent of the secret and is not added.
        span = span_coordinates(root / np.sqrt(variances), support.weights)
        axes, exact = opened(support, target, span, "diagonal")
        if exact is not None:
            return exact
        return lattice_law(
            support,
            target,
            coordinates=span.coordinates,
            axes=axes,
            variances=np.ones(span.variances.size),
            bound=linear_bound,
            proof="Gaussian bound: half the variance over the noise variance, summed",
            backend="diagonal",
            noise_power=float(variances.sum()),
            released_power=float(np.sum((span.mixing @ (root @ root.T)) * span.mixing)),
        )
