"""Where an output stands in the span of trials: guarded coordinates, and a lattice point."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.kernel.outputs.metric import Metric


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
        """Return the guarded coordinates of one output of shape (d,); shape (k,)."""
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
        """Return the lattice point of one output of shape (d,); secret when the output is."""
        return np.rint(self.coordinates(output) / step).astype(np.int64)

    def distance(self, coordinates: Floats) -> float:
        """Return ``q`` of guarded coordinates, at most ``q_max`` in spite of rounding."""
        return min(float(np.sum(coordinates**2 / (2.0 * self.reference))), self.q_max)
