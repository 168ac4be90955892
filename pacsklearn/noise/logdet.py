"""Noise shaped for the log-determinant bound."""

from __future__ import annotations

from typing import final

from pacsklearn.core.noise_law import Integers
from pacsklearn.information.arrays import Floats
from pacsklearn.information.lattice_bound import logdet_bound
from pacsklearn.information.logdet_allocation import logdet_allocation
from pacsklearn.noise.closed_form import ClosedFormBackend


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
