"""How far apart the outputs are that two secrets may give, along slices and as a whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.divergence.bottleneck_transport import bottleneck_distance
from pacsklearn.srpp.divergence.quantile_transport import merged_ranks, sliced_distances
from pacsklearn.universe.vector_distances import vector_distances

Members = Sequence[tuple[Sequence[int], Sequence[int]]]

# More pairs of draws than this are matched in one order that bounds the distance from above.
_MOST_MATCHED = 2**22


def slice_distances(vectors: Floats, instances: Members, directions: Floats) -> Floats:
    """Return the distances along each slice under its best coupling, one row for each pair of laws.

    Parameters
    ----------
    vectors : ndarray of shape (n_worlds, d)
        Output of each world.
    instances : sequence of (sequence of int, sequence of int)
        Worlds of the two laws of each pair, repetitions counted.
    directions : ndarray of shape (n_slices, d)

    Returns
    -------
    ndarray of shape (n_pairs, n_slices)
    """
    distances = np.empty((len(instances), directions.shape[0]))
    for row, (left, right) in enumerate(instances):
        distances[row] = sliced_distances(vectors[list(left)], vectors[list(right)], directions)
    return distances


def full_distance(vectors: Floats, instances: Members) -> tuple[float, bool]:
    """Return largest distance over the pairs of laws, of whole vectors, and whether it is exact.

    For laws of so many draws that matching them takes too long it is bounded from above, by the
    coupling along the direction in which the laws differ most.
    """
    largest, exact = 0.0, True
    for left, right in instances:
        i, j = list(left), list(right)
        if len(set(i)) == 1 or len(set(j)) == 1:
            distance = float(vector_distances(vectors[i], vectors[j]).max())
        elif len(i) * len(j) <= _MOST_MATCHED:
            distance = bottleneck_distance(vectors[i], vectors[j])
        else:
            distance, exact = _one_ordering(vectors[i], vectors[j]), False
        largest = max(largest, distance)
    return largest, exact


def rounding_slack(vectors: Floats) -> float:
    """Bound what rounding in projections and norms takes off a distance from above."""
    norm = float(np.max(np.linalg.norm(vectors, axis=1), initial=0.0))
    return float(4 * (vectors.shape[1] + 4) * np.finfo(np.float64).eps * norm)


def _one_ordering(X: Floats, Y: Floats) -> float:
    axis = X.mean(axis=0) - Y.mean(axis=0)
    i, j = np.argsort(X @ axis, kind="stable"), np.argsort(Y @ axis, kind="stable")
    of_x, of_y = merged_ranks(i.size, j.size)
    difference = X[i[of_x]] - Y[j[of_y]]
    origin = np.zeros((1, difference.shape[1]))
    return float(vector_distances(difference, origin).max())
