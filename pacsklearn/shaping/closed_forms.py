"""Shapes of noise in closed form beside the default, as published; the kernel proves the bound."""

from __future__ import annotations

from typing import final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.lattice_bound import linear_bound, span_coordinates
from pacsklearn.kernel.noise.lattice import ClosedFormBackend, lattice_law, opened
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


@final
class IsotropicBackend(ClosedFormBackend):
    """Equal noise on every output that varies; the baseline.

    Guarantee
    ---------
    ``I(S; Y) <= E|M(S) - mean|^2 / (2 e) = budget`` with noise variance ``e``, computed over the
    secret space. Source: Xiao and Devadas's bound as used in pac-private-algorithms, section 4.
    """

    name = "isotropic"
    description = "the same noise on every output; the baseline"
    proof = "Gaussian bound: half the output variance over the noise variance"

    def variances(self, signal: Floats, budget: float) -> Floats:
        # The linear bound with equal variances e: sum of the signal over 2 e is the budget.
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
    description = "noise shaped by the eigenvalues of the output covariance (Auto-PAC)"
    proof = "Gaussian bound: half the eigenvalue over the noise variance, summed"

    def variances(self, signal: Floats, budget: float) -> Floats:
        # Lagrange: sum v_i / (2 e_i) = budget at least sum e_i has e_i in proportion to sqrt(v_i).
        deviation = np.sqrt(signal)
        return np.asarray(deviation * deviation.sum() / (2 * budget))
