"""A calibrated noise law on an integer lattice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.information.arrays import Floats

Integers = NDArray[np.int64]

LATTICE_SCALE: Final = 2**20
"""Parameter of every discrete Gaussian, in grid steps (algorithms.md section 2)."""


@dataclass(frozen=True, eq=False)
class LatticeLaw:
    """Whole numbers for each candidate or world, and how to read what is released of them.

    A release is a centre and independent discrete Gaussian noise; everything afterwards is the
    public map :meth:`decode`. Which centre is the secret's is no part of it.

    Parameters
    ----------
    centres : ndarray of int64, shape (m, k)
        Each output in grid steps; secret material.
    step : ndarray of shape (k,)
        Grid step of each coordinate, in the coordinate's unit.
    axes : ndarray of shape (k, d)
        Output direction of each coordinate.
    origin : ndarray of shape (d,)
        Output at ``w = 0``.
    scale : int
        :data:`LATTICE_SCALE`, or 0 for a law without noise.
    """

    centres: Integers = field(repr=False)
    step: Floats = field(repr=False)
    axes: Floats = field(repr=False)
    origin: Floats = field(repr=False)
    scale: int

    @property
    def dimension(self) -> int:
        """Number k of noisy coordinates."""
        return int(self.centres.shape[1])

    @property
    def is_noiseless(self) -> bool:
        """Whether outputs are released as they are."""
        return self.scale == 0

    @property
    def noise_variances(self) -> Floats:
        """Variance of the noise of each released number; (d,)."""
        return np.asarray(
            np.einsum("k,kd,kd->d", np.square(self.step * self.scale), self.axes, self.axes)
        )

    def decode(self, observed: Integers) -> Floats:
        """Output vector of shape (d,) for the released integers; a public function."""
        return np.asarray(self.origin + (observed * self.step) @ self.axes)

    def log_likelihood(self, observed: Integers) -> Floats:
        """Log-density of the released integers for each centre, up to a constant; (m,)."""
        # Subtracted as integers: as doubles, centres beyond 2**53 would be rounded before.
        difference = (self.centres - observed).astype(np.float64)
        if self.is_noiseless:
            return np.where((difference == 0).all(axis=1), 0.0, -np.inf)
        return np.asarray(-np.sum((difference / self.scale) ** 2, axis=1) / 2)


@final
@dataclass(frozen=True, eq=False)
class NoiseLaw(LatticeLaw):
    """Noise for one release: integer centres, one for each candidate, and how to read the result.

    The release is ``w = centres[s] + noise`` with independent discrete Gaussian noise of parameter
    :data:`LATTICE_SCALE`; everything afterwards is the public map :meth:`decode` of integers.
    A law never sees which candidate was drawn. Its centres are secret material.

    Parameters
    ----------
    centres : ndarray of int64, shape (m, k)
        Each candidate's output in grid steps.
    step : ndarray of shape (k,)
        Grid step of each coordinate, in the coordinate's unit.
    axes : ndarray of shape (k, d)
        Output direction of each coordinate.
    origin : ndarray of shape (d,)
        Output at ``w = 0``.
    scale : int
        :data:`LATTICE_SCALE`, or 0 for a law without noise.
    bound : float
        Upper bound on the mutual information in nats, or on the success that a criterion caps.
    proof : str
        Why the bound holds.
    backend : str
        Name of the backend that calibrated the law.
    noise_power : float
        Sum of the noise variances over the coordinates the backend works in, in the metric.
    released_power : float
        Power of the part of it that is added: noise outside the span of the outputs tells
        nothing and is left out.
    confidence : float
        Probability that the bound holds; 1.0 when it is a proof.
    information : float, optional
        Bound on the mutual information where ``bound`` is on something else: the success that a
        criterion caps.
    """

    bound: float
    proof: str
    backend: str
    noise_power: float
    released_power: float
    confidence: float = 1.0
    information: float | None = None

    def observe(self, index: int, noise: Integers) -> Integers:
        """Integer vector released for candidate ``index`` with this integer noise."""
        return np.asarray(self.centres[index] + noise)
