"""Gaussian noise calibrated along slices: from the worlds' outputs to a law on the lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.binary_scale import power_by, scaled_by
from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.noise.lattice import lattice_centres
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Integers, Support, origin_in_unit_of
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.srpp.divergence import renyi_calibration as renyi
from pacsklearn.srpp.divergence.anisotropic_covariance import anisotropic_covariance
from pacsklearn.srpp.divergence.lattice_smoothing import smoothing_excess
from pacsklearn.srpp.divergence.renyi_calibration import transport_divergence, transport_variance
from pacsklearn.srpp.divergence.renyi_conversion import (
    approximate_epsilon,
    concentrated_epsilon,
    epsilon_at_order,
    gaussian_epsilon,
)
from pacsklearn.srpp.divergence.world_distances import (
    full_distance,
    rounding_slack,
    slice_distances,
)
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_law import RenyiCosts, SlicedLaw
from pacsklearn.srpp.scenarios.scenario import Members, Worlds, matched


@final
@dataclass(frozen=True)
class SlicedTarget:
    """What a sliced law has to achieve.

    Parameters
    ----------
    epsilon : float
        Allowed Renyi divergence, in nats.
    order : float
        Its order.
    aggregation : str
        ``"average"``, ``"joint"`` or ``"full"``.
    profile : SliceProfile
    anisotropic : bool
        Let the noise differ by direction.
    delta : float
        Of the (epsilon, delta) conversions.
    """

    epsilon: float
    order: float
    aggregation: str
    profile: SliceProfile
    anisotropic: bool = False
    delta: float = 1e-5

    def too_small(self) -> ValueError:
        """Return the error of a budget that rounding to the lattice alone exceeds."""
        return ValueError(
            f"epsilon={self.epsilon!r} is too small for the integer lattice; give at least 1e-9."
        )


Sides = list[tuple[Members, Members]]
Outputs = list[tuple[Floats, Floats]]

_EXACT_STEPS = 2.0**51
_MOST_SHAPED = 400
_PROOFS = {
    "average": "distances along every slice, for each pair and prior (srpp, Lemma 4.1 and "
    "Corollary 4.1)",
    "joint": "log-moment of the divergences along the slices (srpp, Lemma 4.1 and Corollary 4.1)",
    "full": "moment of the distances of the whole vectors under the best coupling "
    "(distribution-aware general Wasserstein mechanism; srpp, appendix A.3)",
}


def sliced_law(
    vectors: Floats, worlds: Worlds, target: SlicedTarget, metric: Metric | None = None
) -> SlicedLaw:
    """Return the law with as much noise as the target asks for, its costs taken on the lattice.

    Parameters
    ----------
    vectors : ndarray of shape (n_worlds, d)
        Output of each world; d is the profile's dimension.
    worlds : Worlds
    target : SlicedTarget
    metric : Metric, optional
        What noise costs in each direction: "isotropic" noise costs the same in all of them.

    Returns
    -------
    SlicedLaw

    Notes
    -----
    The published formula takes the largest distance of all pairs along each slice first (Theorem
    4.5) or the worst slice (Theorem 4.6); pairs and slices are kept apart here, which never needs
    more noise. Noise lives in the directions in which the worlds' outputs differ. Divergences do
    not change under the linear map to the metric's coordinates, nor do slices: a direction of the
    outputs is one of the coordinates too. Rounding to the lattice is accounted for: distances are
    those of the whole numbers that are released, enlarged by what rounding in their computation
    can take off, and the noise is enlarged until the cost is within the budget.

    Nothing is noised, and nothing charged, where the whole numbers that would leave without noise
    are the same on both sides of every pair, as often: not where a distance came out as zero.
    """
    instances = [(left.members, right.members) for left, right in worlds.instances()]
    cost_of_noise = IdentityMetric() if metric is None else metric
    support = Support(vectors)
    # From all worlds alike, so that the unit says nothing of the true one.
    exponent = support.exponent(cost_of_noise)
    scaled = support.scaled(-exponent)
    law = _in_ordinary_units(vectors, scaled, cost_of_noise, instances, target)
    return replace(
        law,
        axes=scaled_by(law.axes, exponent),
        origin=origin_in_unit_of(law.origin, support, exponent),
        noise_power=power_by(law.noise_power, exponent),
    )


def _in_ordinary_units(
    vectors: Floats, support: Support, metric: Metric, instances: Sides, target: SlicedTarget
) -> SlicedLaw:
    span = support.span(metric)
    axes = span.mixing @ support.deviations
    # Outputs that agree have equal coordinates to the last bit: some leave without noise.
    _, first, same = np.unique(vectors, axis=0, return_index=True, return_inverse=True)
    coordinates = span.coordinates[first[same.ravel()]]
    profile = target.profile
    slices = unit_directions(profile.directions, axes)
    distances = slice_distances(coordinates, instances, slices)
    farthest, exact = full_distance(coordinates, instances)
    agreeing = _agreeing(coordinates, support.mean, axes, target)
    if not any(differing(agreeing.centres, instances)):
        return agreeing
    if target.aggregation != "full" and not np.any(distances):
        raise ValueError(
            "The outputs of a protected pair differ, but along no slice of the profile, so the "
            "slices give no noise: use slices along which they differ, or aggregation='full'."
        )
    sides = matched_sides(coordinates, instances)
    variances, turn = _shape(distances, farthest, slices, target, sides)
    if turn is not None:
        coordinates, axes, slices = coordinates @ turn.T, turn @ axes, slices @ turn.T
    # Whole numbers stay exact doubles, and so their differences, where worlds of no common pair
    # are far apart: more noise than the pairs ask for, 2**-32 of the farthest world's number.
    least = (np.max(np.abs(coordinates), axis=0, initial=0.0) * LATTICE_SCALE / _EXACT_STEPS) ** 2
    enlarged, hair = 1.0, 1e-12
    while True:
        released = np.maximum(enlarged * variances, least)
        step = np.sqrt(released) / LATTICE_SCALE
        centres = lattice_centres(coordinates, step, "sliced")
        costs = _costs(centres, step, slices, instances, target, exact=exact)
        cost = costs.of(target.aggregation)
        if cost <= target.epsilon:
            break
        enlarged *= (cost / target.epsilon) * (1 + hair)
        hair *= 2
        # Written so that what is no number ends it, too.
        if not enlarged < 1e6:
            raise target.too_small()
    return SlicedLaw(
        centres=centres,
        step=step,
        axes=axes,
        origin=support.mean,
        scale=LATTICE_SCALE,
        aggregation=target.aggregation,
        costs=costs,
        proof=_PROOFS[target.aggregation],
        noise_power=float(released @ np.sum(axes**2, axis=1)),
    )


def differing(centres: Integers, instances: Sides) -> list[bool]:
    """Return whether the sides of each pair release different weighted integers."""
    numbers = np.unique(centres, axis=0, return_inverse=True)[1].ravel()
    size = int(numbers.max()) + 1

    def shares(members: Members, times: int) -> NDArray[np.int64]:
        return np.bincount(numbers[list(members)], minlength=size) * times

    return [
        not np.array_equal(shares(left, len(right)), shares(right, len(left)))
        for left, right in instances
    ]


def matched_sides(coordinates: Floats, instances: Sides) -> Outputs | None:
    """Return outputs of both sides of each pair, as many; None where their numbers do not match."""
    sides = []
    for left, right in instances:
        both = matched(left, right)
        if both is None:
            return None
        sides.append((coordinates[list(both[0])], coordinates[list(both[1])]))
    return sides


def unit_directions(directions: Floats, axes: Floats) -> Floats:
    """Return the slices of the outputs as unit directions of the coordinates.

    Zero where none differ.
    """
    turned = directions @ axes.T
    # Exactly, before lengths are taken: squares may vanish, each direction's at its own size.
    largest = np.max(np.abs(turned), axis=1, keepdims=True, initial=0.0)
    turned = np.ldexp(turned, -np.frexp(largest)[1])
    lengths = np.linalg.norm(turned, axis=1, keepdims=True)
    return np.asarray(np.divide(turned, lengths, out=np.zeros_like(turned), where=lengths > 0))


def _shape(
    distances: Floats,
    farthest: float,
    slices: Floats,
    target: SlicedTarget,
    sides: Outputs | None,
) -> tuple[Floats, Floats | None]:
    """Return the variances, and the turn of the coordinates along which they are.

    None for as they are.
    """
    profile, order, epsilon = target.profile, target.order, target.epsilon
    k = slices.shape[1]
    if target.aggregation == "full":
        variance = renyi.full_cost(farthest, order) / epsilon
        if sides is not None:
            variance = transport_variance(sides, order, epsilon, variance)
        return np.full(k, variance), None
    joint = target.aggregation == "joint"
    if not target.anisotropic:
        weights = profile.weights
        if joint:
            return np.full(k, renyi.joint_variance(distances, weights, order, epsilon)), None
        return np.full(k, renyi.average_cost(distances, weights, order) / epsilon), None
    if k > _MOST_SHAPED:
        raise ValueError(
            f"noise='anisotropic' shapes at most {_MOST_SHAPED} numbers, and {k} are released; use "
            "noise='isotropic'."
        )
    solution = anisotropic_covariance(
        distances, slices, profile.weights, order, epsilon, joint=joint
    )
    variances, vectors = np.linalg.eigh(solution.covariance)
    return variances, vectors.T


def _costs(
    centres: Integers,
    step: Floats,
    slices: Floats,
    instances: Sides,
    target: SlicedTarget,
    *,
    exact: bool,
) -> RenyiCosts:
    """Return the costs of the whole numbers that are released, rounded outwards."""
    # In units of the noise: the same whole numbers whatever the step.
    scaled = centres / LATTICE_SCALE
    units = unit_directions(slices, np.diag(step * LATTICE_SCALE))
    distances = slice_distances(scaled, instances, units)
    # A distance that projections rounded away counts as well.
    distances[differing(centres, instances)] += rounding_slack(scaled)
    farthest, _ = full_distance(scaled, instances)
    farthest *= OUTWARD
    weights, order = target.profile.weights, target.order
    d = centres.shape[1]

    def joint(at: float) -> float:
        return renyi.joint_cost(distances, weights, at, 1.0) * OUTWARD + smoothing_excess(d, at)

    excess = smoothing_excess(d, order)
    average = renyi.average_cost(distances, weights, order) * OUTWARD + excess
    full = renyi.full_cost(farthest, order) * OUTWARD
    full_epsilon = gaussian_epsilon(full / order, target.delta) * OUTWARD
    whole = target.aggregation == "full"
    sides = matched_sides(scaled, instances) if whole else None
    if sides is not None:
        moment = max(transport_divergence(*each, order) for each in sides) * OUTWARD
        if moment < full:
            full = moment
            full_epsilon = min(full_epsilon, epsilon_at_order(full, order, target.delta))
    worst = renyi.worst_slice_cost(distances, order) * OUTWARD + excess
    average_epsilon = concentrated_epsilon(average / order, target.delta) * OUTWARD
    joint_epsilon = approximate_epsilon(joint, target.delta) * OUTWARD
    # A slice tells no more than the whole, whose price may be the lower one here.
    most, most_epsilon = (full, full_epsilon) if whole else (math.inf, math.inf)
    return RenyiCosts(
        order=order,
        average=min(average, most),
        joint=min(joint(order), most),
        worst_slice=min(worst, most),
        full=full,
        delta=target.delta,
        average_epsilon=min(average_epsilon, most_epsilon),
        joint_epsilon=min(joint_epsilon, most_epsilon),
        full_epsilon=full_epsilon,
        full_is_exact=exact,
    )


def _agreeing(coordinates: Floats, origin: Floats, axes: Floats, target: SlicedTarget) -> SlicedLaw:
    """Return the law without noise, for outputs in which no protected pair differs."""
    farthest = np.max(np.abs(coordinates), axis=0)
    step = np.where(farthest > 0, farthest / _EXACT_STEPS, 1.0)
    return SlicedLaw.noiseless(
        target.order,
        target.delta,
        centres=lattice_centres(coordinates, step, "sliced"),
        step=step,
        axes=axes,
        origin=origin,
        aggregation=target.aggregation,
        proof="no protected pair differs: both sides give the same whole numbers, as often",
    )
