"""Noise calibrated along slices, on an integer lattice, and what it costs in every sense."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Self, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import Integers, LatticeLaw
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.trials.guarded_span import GuardedSpan

AGGREGATIONS: Final = ("average", "joint", "full")
"""How divergences along slices become one number; ``"full"`` is the whole vector's."""


@final
@dataclass(frozen=True)
class RenyiCosts:
    """Renyi divergences of one order between what any protected pair of secrets would release.

    Parameters
    ----------
    order : float
        Renyi order.
    average : float
        Weighted mean over the slices, in nats.
    joint : float
        Log-moment over the slices: a slice drawn at random and its direction are seen.
    worst_slice : float
        Along the worst slice of the profile.
    full : float
        Of the whole released vector.
    delta : float
        For which the next three are.
    average_epsilon, joint_epsilon, full_epsilon : float
        Of the (epsilon, delta) bounds, each at its best order.
    full_is_exact : bool
        Whether the distance behind ``full`` was computed exactly or bounded from above.
    """

    order: float
    average: float
    joint: float
    worst_slice: float
    full: float
    delta: float
    average_epsilon: float
    joint_epsilon: float
    full_epsilon: float
    full_is_exact: bool

    @classmethod
    def of_whole(
        cls, order: float, full: float, delta: float, epsilon: float, *, exact: bool = False
    ) -> Self:
        """Return costs of which only the whole release's are known; slices tell no more."""
        return cls(order, full, full, full, full, delta, epsilon, epsilon, epsilon, exact)

    def of(self, aggregation: str) -> float:
        """Return the cost under one of :data:`AGGREGATIONS`."""
        return float(getattr(self, aggregation))


@final
@dataclass(frozen=True, eq=False)
class SlicedLaw(LatticeLaw):
    """Noise for one release: whole numbers for each world, and how to read the result.

    The release is ``w = centre + noise`` with independent discrete Gaussian noise of
    parameter :data:`~pacsklearn.kernel.noise.noise_law.LATTICE_SCALE`; everything afterwards is the
    public map :meth:`decode`. A law never sees which world is the true one. Its centres are secret.

    Parameters
    ----------
    centres : ndarray of int64, shape (n_worlds, k)
        Each world's output in grid steps.
    step : ndarray of shape (k,)
        Grid step of each coordinate.
    axes : ndarray of shape (k, d)
        Output direction of each coordinate. They span what the worlds' outputs differ in; nothing
        else of the output depends on the world.
    origin : ndarray of shape (d,)
        Output at ``w = 0``.
    scale : int
        ``LATTICE_SCALE``, or 0 where all worlds agree and no noise is needed.
    aggregation : str
        What was calibrated: one of :data:`AGGREGATIONS`.
    costs : RenyiCosts
        What the noise costs, evaluated on the whole numbers.
    proof : str
        Why the calibrated cost is a bound.
    noise_power : float
        Sum of the noise variances.
    confidence : float
        Probability that the bound holds; 1.0 when it is a proof.
    assumptions : tuple of str
        What a confidence below 1 rests on.
    span : GuardedSpan, optional
        Where the release is made on a table that is none of the worlds: how its output becomes
        coordinates, clipped to a public ball.
    """

    aggregation: str
    costs: RenyiCosts
    proof: str
    noise_power: float
    confidence: float = 1.0
    assumptions: tuple[str, ...] = ()
    span: GuardedSpan | None = field(default=None, repr=False)

    @classmethod
    def noiseless(cls, order: float, delta: float, **parts: Any) -> Self:
        """Return the law without noise, where nothing that is released differs.

        ``parts`` are its others.
        """
        zero = RenyiCosts.of_whole(order, 0.0, delta, 0.0, exact=True)
        return cls(**parts, scale=0, costs=zero, noise_power=0.0)

    @property
    def cost(self) -> float:
        """The calibrated cost, in nats at the costs' order."""
        return self.costs.of(self.aggregation)

    def observe(self, centre: Integers, sampler: Sampler) -> Integers:
        """Return the whole numbers released for a world's own; only noise is drawn."""
        return np.asarray(centre + (0 if self.is_noiseless else sampler.noise(self.dimension)))

    def point(self, output: Floats | None) -> Integers:
        """Return the whole numbers of a table's own output; the centre's where there is none."""
        if self.span is None or output is None:
            return np.zeros(self.dimension, dtype=np.int64)
        return self.span.point(output, self.step)
