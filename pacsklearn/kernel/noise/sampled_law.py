"""Calibrated noise for a secret that can be sampled but not enumerated."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, variances_along
from pacsklearn.kernel.outputs.metric import Metric

Integers = NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False)
class GuardedSpan:
    """Coordinates of any output around a public centre, pulled back into a public ellipsoid.

    Part of the mechanism: a function of the one output and of public constants. An output whose
    ``q = 1/2 sum_i y_i^2 / reference_i`` exceeds ``q_max`` is replaced by the point of the
    ellipsoid ``q = q_max`` on the way to the centre; what lies outside the span is dropped.

    Parameters
    ----------
    centre : ndarray of shape (d,)
    metric : Metric
    directions : ndarray of shape (k, d')
        Orthonormal directions in the metric's root space.
    axes : ndarray of shape (k, d)
        Output direction of each coordinate.
    reference : ndarray of shape (k,)
    q_max : float
    exponent : int, default=0
        Coordinates, reference and ``q_max`` count in units of ``2**exponent``, which comes from the
        trials: distances of outputs of any size have squares that neither vanish nor overflow.
    """

    centre: Floats
    metric: Metric = field(repr=False)
    directions: Floats = field(repr=False)
    axes: Floats = field(repr=False)
    reference: Floats = field(repr=False)
    q_max: float
    exponent: int = 0

    def coordinates(self, output: Floats) -> Floats:
        """Guarded coordinates of one output of shape (d,); shape (k,)."""
        # What overflows on the way is an output without coordinates, and says so nowhere.
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.ldexp(output - self.centre, -self.exponent)
            free = self.directions @ self.metric.root(moved[None, :])[0]
            scaled = free / np.sqrt(2.0 * self.reference)
        largest = float(np.max(np.abs(scaled), initial=0.0))
        if largest == 0.0 or not math.isfinite(largest):
            return np.zeros_like(free)
        # Divided first: the squares of far outliers overflow.
        radius = largest * float(np.linalg.norm(scaled / largest))
        if radius * radius > self.q_max:
            return np.asarray(free * (math.sqrt(self.q_max) / radius))
        return np.asarray(free)

    def point(self, output: Floats, step: Floats) -> Integers:
        """Lattice point of one output of shape (d,); secret when the output is."""
        return np.rint(self.coordinates(output) / step).astype(np.int64)

    def distance(self, coordinates: Floats) -> float:
        """``q`` of guarded coordinates, at most ``q_max`` in spite of rounding."""
        return min(float(np.sum(coordinates**2 / (2.0 * self.reference))), self.q_max)


@final
@dataclass(frozen=True, eq=False)
class SampledLaw:
    """Noise for one release of a sampled secret: how to round, and how to read the result.

    The release is ``w = point(output) + noise`` with independent discrete Gaussian noise of
    parameter :data:`~pacsklearn.kernel.noise.noise_law.LATTICE_SCALE`. The law knows trials only,
    never the secret.

    Parameters
    ----------
    span : GuardedSpan
    step : ndarray of shape (k,)
        Grid step of each coordinate.
    bound : float
        Upper bound on the mutual information, in nats, that holds with ``confidence``.
    confidence : float
    proof, backend : str
    noise_power : float
        Sum of the noise variances in the metric.
    mean_distance : float
        Upper confidence bound for the mean ``q``; the certificate.
    enlargement : float
        Noise power over that of the same shape without a certificate.
    n_calibration, n_certificate : int
        Trials behind shape and certificate.
    """

    span: GuardedSpan = field(repr=False)
    step: Floats = field(repr=False)
    bound: float
    confidence: float
    proof: str
    backend: str
    noise_power: float
    mean_distance: float
    enlargement: float
    n_calibration: int
    n_certificate: int
    scale: int = LATTICE_SCALE

    @property
    def dimension(self) -> int:
        """Number k of noisy coordinates."""
        return int(self.step.shape[0])

    def point(self, output: Floats) -> Integers:
        """Lattice point of one output of shape (d,); secret when the output is."""
        return self.span.point(output, self.step)

    @property
    def released_power(self) -> float:
        """Power of the noise that is added: all of it lies in the span."""
        return self.noise_power

    @property
    def noise_variances(self) -> Floats:
        """Variance of the noise of each released number; (d,)."""
        return variances_along(self.span.axes, self.step * LATTICE_SCALE)

    def decode(self, observed: Integers) -> Floats:
        """Output vector of shape (d,) for the released integers; a public function."""
        return np.asarray(self.span.centre + (observed * self.step) @ self.span.axes)
