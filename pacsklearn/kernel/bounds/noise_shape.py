"""Noise with independent coordinates along axes of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mixture import GaussianMixture


@final
@dataclass(frozen=True, eq=False)
class NoiseShape:
    """Noise with independent coordinates along orthonormal axes.

    Parameters
    ----------
    axes : ndarray of shape (k, k)
        Columns are directions in the space of the outputs.
    variances : ndarray of shape (k,)
    """

    axes: Floats = field(repr=False)
    variances: Floats = field(repr=False)

    @property
    def power(self) -> float:
        """Sum of the variances."""
        return float(self.variances.sum())

    def scaled(self, factor: float) -> NoiseShape:
        """Return the same shape with ``factor`` times the power."""
        return NoiseShape(self.axes, factor * self.variances)

    def mixture(self, outputs: Floats, weights: Floats) -> GaussianMixture:
        """Return the outputs of shape (m, k) as this noise blurs them."""
        return GaussianMixture((outputs @ self.axes) / np.sqrt(self.variances), weights)
