"""Noise for laws of which the enumerated data sets are only a sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.noise_law import LATTICE_SCALE
from pacsklearn.core.sliced_law import RenyiCosts
from pacsklearn.information.finite_sample_slices import (
    FINITE_SAMPLE_ASSUMPTIONS,
    finite_sample_average_variance,
    finite_sample_joint_variance,
    upper_slice_distances,
)
from pacsklearn.information.renyi_conversion import concentrated_epsilon, epsilon_at_order
from pacsklearn.noise.sliced_target import SlicedTarget

__all__ = ["SampledWorlds"]

Floats = NDArray[np.float64]

_MARGIN = 1.01


@final
@dataclass(frozen=True, eq=False)
class SampledWorlds:
    """Upper confidence bounds on the distances along each slice, and the noise they ask for.

    Parameters
    ----------
    distances : ndarray of shape (n_slices,)
        Of the worst pair along each slice; all valid with probability ``1 - gamma / 2``.
    dimension : int
        Numbers that are released.
    target : SlicedTarget

    Notes
    -----
    Source: srpp, Theorems 4.7 and 4.8. Outputs are rounded to the lattice after the bounds were
    computed, which moves a projection by half a step for each number at most; every distance is
    enlarged by twice that.
    """

    distances: Floats = field(repr=False)
    dimension: int
    target: SlicedTarget

    @classmethod
    def of(
        cls,
        vectors: Floats,
        instances: list[tuple[tuple[int, ...], tuple[int, ...]]],
        target: SlicedTarget,
    ) -> SampledWorlds:
        """Bounds for the worlds of each pair of laws."""
        failure = (1 - target.confidence) / (2 * len(instances))
        found = [
            upper_slice_distances(
                vectors[list(left)],
                vectors[list(right)],
                target.profile.directions,
                failure,
                known=(len(set(left)) == 1, len(set(right)) == 1),
            )
            for left, right in instances
        ]
        return cls(np.max(found, axis=0), vectors.shape[1], target)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the bounds rest on, with the stated largest distance."""
        return (
            *FINITE_SAMPLE_ASSUMPTIONS[:-1],
            f"{FINITE_SAMPLE_ASSUMPTIONS[-1]}, {self.target.largest_distance:g}",
            "the directions were drawn independently and uniformly",
        )

    def variance(self) -> float:
        """Least variance along every slice, from above."""
        variance = self._least(0.0)
        enlarged = self._least(_MARGIN * variance)
        if not enlarged <= _MARGIN * variance:
            raise ValueError("Too many numbers are released for the lattice; release fewer.")
        return enlarged

    def raised(self, costs: RenyiCosts, variance: float) -> RenyiCosts:
        """Costs with the calibrated one as it is for the sampled laws."""
        aggregation, order = self.target.aggregation, self.target.order
        # Exact for the mean; a log-moment falls faster than the variance grows.
        bound = self.target.epsilon * self.variance() / variance
        cost = max(costs.of(aggregation), bound)
        if aggregation == "average":
            epsilon = concentrated_epsilon(cost / order, costs.delta)
            return replace(costs, average=cost, average_epsilon=epsilon)
        epsilon = epsilon_at_order(cost, order, costs.delta)
        return replace(costs, joint=cost, joint_epsilon=epsilon)

    def _least(self, variance: float) -> float:
        rounding = math.sqrt(self.dimension * variance) / LATTICE_SCALE
        target = self.target
        assert target.largest_distance is not None
        calibrate = (
            finite_sample_joint_variance
            if target.aggregation == "joint"
            else finite_sample_average_variance
        )
        return calibrate(
            self.distances + rounding,
            target.order,
            target.epsilon,
            1 - target.confidence,
            target.largest_distance + rounding,
        )
