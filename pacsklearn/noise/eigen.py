"""Noise shaped by the eigenvalues of the output covariance."""

from __future__ import annotations

from typing import final

import numpy as np

from pacsklearn.core.noise_law import Integers
from pacsklearn.information.arrays import Floats
from pacsklearn.information.lattice_bound import linear_bound
from pacsklearn.noise.closed_form import ClosedFormBackend


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

    def bound(self, centres: Integers, weights: Floats, scale: int) -> float:
        return linear_bound(centres, weights, scale)
