"""The baseline: noise of the published sliced formulas, the same in every direction."""

from __future__ import annotations

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.divergence import renyi_calibration as renyi
from pacsklearn.srpp.divergence.world_distances import full_distance, slice_distances
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget
from pacsklearn.srpp.scenarios.scenario import Worlds
from pacsklearn.universe.vector_distances import vector_distances

__all__ = ["published_average_variance", "published_power", "worst_case_power"]


def published_power(vectors: Floats, worlds: Worlds, target: SlicedTarget) -> float:
    """Noise power that the published formula asks for at the same budget.

    Parameters
    ----------
    vectors : ndarray of shape (n_worlds, d)
        Output of every data set.
    worlds : Worlds
    target : SlicedTarget

    Notes
    -----
    Sources: srpp, Theorems 4.5 (average) and 4.6 (joint); the general Wasserstein mechanism (full).
    """
    profile, order, epsilon = target.profile, target.order, target.epsilon
    members = [(left.members, right.members) for left, right in worlds.instances()]
    if target.aggregation == "full":
        farthest, _ = full_distance(vectors, members)
        return profile.dimension * renyi.full_cost(farthest, order) / epsilon
    distances = slice_distances(vectors, members, profile.directions)
    if target.aggregation == "average":
        variance = published_average_variance(distances, profile.weights, order, epsilon)
    else:
        variance = renyi.worst_slice_cost(distances, order) / epsilon
    return profile.dimension * variance


def worst_case_power(vectors: Floats, worlds: Worlds, target: SlicedTarget) -> float:
    """Noise power for the largest distance between any two listed outputs of a pair.

    The baseline without a prior: data sets that are not listed may be further apart. Source: srpp,
    appendix A.4.
    """
    farthest = max(
        float(vector_distances(vectors[list(left.members)], vectors[list(right.members)]).max())
        for left, right in worlds.instances()
    )
    return target.profile.dimension * renyi.full_cost(farthest, target.order) / target.epsilon


def published_average_variance(
    distances: Floats, weights: Floats, order: float, epsilon: float
) -> float:
    """Variance of Theorem 4.5 of srpp: the maximum over pairs is inside the mean."""
    worst = distances.max(axis=0, initial=0.0)
    return order * float(weights @ worst**2) / (2 * epsilon)
