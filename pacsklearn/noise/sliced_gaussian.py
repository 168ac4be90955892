"""Gaussian noise calibrated along slices: from the worlds' outputs to a law on the lattice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.noise_law import LATTICE_SCALE
from pacsklearn.core.scenario import Worlds
from pacsklearn.core.sliced_law import RenyiCosts, SlicedLaw
from pacsklearn.information import renyi_calibration as renyi
from pacsklearn.information.anisotropic_covariance import anisotropic_covariance
from pacsklearn.information.lattice_smoothing import smoothing_excess
from pacsklearn.information.renyi_conversion import (
    approximate_epsilon,
    concentrated_epsilon,
    gaussian_epsilon,
)
from pacsklearn.information.world_distances import (
    full_distance,
    rounding_slack,
    slice_distances,
    worst_case_distance,
)
from pacsklearn.noise.sampled_worlds import SampledWorlds
from pacsklearn.noise.sliced_target import SlicedTarget

__all__ = ["sliced_law"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Members = list[tuple[tuple[int, ...], tuple[int, ...]]]

_LARGEST_CENTRE = 2.0**60
_EXACT_STEPS = 2.0**51
_MOST_SHAPED = 400
_OUTWARD = 1 + 1e-12
_PROOFS = {
    "average": "distances along every slice, for each pair and prior (srpp, Lemma 4.1 and "
    "Corollary 4.1)",
    "joint": "log-moment of the divergences along the slices (srpp, Lemma 4.1 and Corollary 4.1)",
    "full": "distance of the whole vectors (general Wasserstein mechanism)",
}


def sliced_law(vectors: Floats, worlds: Worlds, target: SlicedTarget) -> SlicedLaw:
    """Law with as much noise as the target asks for, its costs taken on the lattice.

    Parameters
    ----------
    vectors : ndarray of shape (n_worlds, d)
        Output of each world; d is the profile's dimension.
    worlds : Worlds
    target : SlicedTarget

    Returns
    -------
    SlicedLaw

    Notes
    -----
    The published formula takes the largest distance of all pairs along each slice first (Theorem
    4.5) or the worst slice (Theorem 4.6); pairs and slices are kept apart here, which never needs
    more noise. Rounding to the lattice is accounted for: distances are those of the whole numbers
    that are released, enlarged by what rounding in their computation can take off, and the noise
    is enlarged until the cost is within the budget.
    """
    instances = [(left.members, right.members) for left, right in worlds.instances()]
    origin = vectors.mean(axis=0)
    agreed = np.ptp(vectors, axis=0) == 0
    origin[agreed] = vectors[0, agreed]
    centred = vectors - origin
    centred[:, agreed] = 0.0
    distances = _along_slices(centred, instances, target)
    farthest, exact = full_distance(centred, instances, coupled=target.coupled)
    if farthest == 0:
        return _agreeing(vectors, origin, target)
    published = _published_power(distances, farthest, target)
    if target.worst_case:
        farthest = worst_case_distance(centred, instances)
    variances, axes = _shape(distances, farthest, target)
    sampled = None
    if target.confidence < 1:
        sampled = SampledWorlds.of(centred, instances, target)
        variances = np.full(centred.shape[1], sampled.variance())
    enlarged, hair = 1.0, 1e-12
    while True:
        step = np.sqrt(enlarged * variances) / LATTICE_SCALE
        if not np.all(step > 0):
            raise ValueError(
                "The outputs of the worlds are too close together: the noise would be below the "
                "smallest number. Rescale them."
            )
        centres = _round((centred if axes is None else centred @ axes.T) / step)
        costs = _costs(centres, step, axes, instances, target, exact=exact)
        if sampled is not None:
            costs = sampled.raised(costs, enlarged * float(variances[0]))
        cost = costs.of(target.aggregation)
        if cost <= target.epsilon:
            break
        enlarged *= (cost / target.epsilon) * (1 + hair)
        hair *= 2
        if not enlarged < 1e6:
            raise ValueError(
                f"epsilon={target.epsilon!r} is too small for the integer lattice; give at least "
                "1e-9."
            )
    return SlicedLaw(
        centres=centres,
        step=step,
        axes=axes,
        origin=origin,
        scale=LATTICE_SCALE,
        aggregation=target.aggregation,
        costs=costs,
        proof=_PROOFS[target.aggregation],
        noise_power=float(enlarged * variances.sum()),
        published_power=published,
        confidence=target.confidence,
        assumptions=() if sampled is None else sampled.assumptions,
    )


def _shape(
    distances: Floats, farthest: float, target: SlicedTarget
) -> tuple[Floats, Floats | None]:
    """Variances, and the axes along which they are; None for the outputs themselves."""
    profile, order, epsilon = target.profile, target.order, target.epsilon
    d = profile.dimension
    if target.worst_case or target.aggregation == "full":
        return np.full(d, renyi.full_variance(farthest, order, epsilon)), None
    joint = target.aggregation == "joint"
    if not target.anisotropic:
        calibrate = renyi.joint_variance if joint else renyi.average_variance
        return np.full(d, calibrate(distances, profile.weights, order, epsilon)), None
    if d > _MOST_SHAPED:
        raise ValueError(
            f"noise='anisotropic' shapes at most {_MOST_SHAPED} numbers, and {d} are released; use "
            "noise='isotropic'."
        )
    found = anisotropic_covariance(
        distances, profile.directions, profile.weights, order, epsilon, joint=joint
    )
    variances, vectors = np.linalg.eigh(found.covariance)
    return np.maximum(variances, found.floor / 2), vectors.T


def _published_power(distances: Floats, farthest: float, target: SlicedTarget) -> float:
    weights, order, epsilon = target.profile.weights, target.order, target.epsilon
    if target.aggregation == "average":
        variance = renyi.published_average_variance(distances, weights, order, epsilon)
    elif target.aggregation == "joint":
        variance = renyi.worst_slice_variance(distances, weights, order, epsilon)
    else:
        variance = renyi.full_variance(farthest, order, epsilon)
    return target.profile.dimension * variance


def _along_slices(vectors: Floats, instances: Members, target: SlicedTarget) -> Floats:
    directions = target.profile.directions
    return slice_distances(vectors, instances, directions, coupled=target.coupled)


def _costs(
    centres: Integers,
    step: Floats,
    axes: Floats | None,
    instances: Members,
    target: SlicedTarget,
    *,
    exact: bool,
) -> RenyiCosts:
    """Costs of the whole numbers that are released, rounded outwards."""
    # In units of the noise: the same whole numbers whatever the step.
    scaled = centres / LATTICE_SCALE
    turned = target.profile.directions if axes is None else target.profile.directions @ axes.T
    spread = turned * (step * LATTICE_SCALE)
    deviations = np.linalg.norm(spread, axis=1)
    distances = slice_distances(
        scaled, instances, spread / deviations[:, None], coupled=target.coupled
    )
    moved = distances.any(axis=1)
    distances[moved] += rounding_slack(scaled)
    farthest, _ = full_distance(scaled, instances, coupled=target.coupled)
    farthest *= _OUTWARD
    weights, order = target.profile.weights, target.order
    d = centres.shape[1]

    def joint(at: float) -> float:
        return renyi.joint_cost(distances, weights, at, 1.0) * _OUTWARD + smoothing_excess(d, at)

    excess = smoothing_excess(d, order)
    average = renyi.average_cost(distances, weights, order, 1.0) * _OUTWARD + excess
    full = renyi.full_cost(farthest, order, 1.0) * _OUTWARD
    return RenyiCosts(
        order=order,
        average=average,
        joint=joint(order),
        worst_slice=renyi.worst_slice_cost(distances, weights, order, 1.0) * _OUTWARD + excess,
        full=full,
        delta=target.delta,
        average_epsilon=concentrated_epsilon(average / order, target.delta) * _OUTWARD,
        joint_epsilon=approximate_epsilon(joint, target.delta) * _OUTWARD,
        full_epsilon=gaussian_epsilon(full / order, target.delta) * _OUTWARD,
        full_is_exact=exact,
    )


def _agreeing(vectors: Floats, origin: Floats, target: SlicedTarget) -> SlicedLaw:
    """Law without noise: no protected pair of secrets gives different outputs."""
    zero = RenyiCosts(target.order, 0.0, 0.0, 0.0, 0.0, target.delta, 0.0, 0.0, 0.0, True)
    centred = vectors - origin
    farthest = np.max(np.abs(centred), axis=0)
    step = np.where(farthest > 0, farthest / _EXACT_STEPS, 1.0)
    return SlicedLaw(
        centres=_round(centred / step),
        step=step,
        axes=None,
        origin=origin,
        scale=0,
        aggregation=target.aggregation,
        costs=zero,
        proof="the data sets of every protected pair give the same output",
        noise_power=0.0,
        published_power=0.0,
    )


def _round(values: Floats) -> Integers:
    with np.errstate(over="ignore"):
        return np.clip(np.rint(values), -_LARGEST_CENTRE, _LARGEST_CENTRE).astype(np.int64)
