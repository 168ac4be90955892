"""The same noise in every direction."""

from __future__ import annotations

from typing import final

import numpy as np

from pacsklearn.core.metric import Metric
from pacsklearn.core.noise_law import Integers
from pacsklearn.core.support import Support
from pacsklearn.information.arrays import Floats
from pacsklearn.information.lattice_bound import linear_bound
from pacsklearn.noise.closed_form import ClosedFormBackend


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

    def bound(self, centres: Integers, weights: Floats, scale: int) -> float:
        return linear_bound(centres, weights, scale)
