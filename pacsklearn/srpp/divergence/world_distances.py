"""How far apart the outputs are that two secrets may give, along slices and as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching, maximum_flow

from pacsklearn.kernel.bounds.arrays import MOST_CELLS, Floats
from pacsklearn.universe.vector_distances import vector_distances

Indices = NDArray[np.int64]


def sliced_distances(X: Floats, Y: Floats, directions: Floats) -> Floats:
    """Return the infinity-Wasserstein distance between two samples of vectors along each direction.

    The largest difference of their quantile functions: the breakpoints of both are compared as
    whole numbers, so that the result is exact for samples of any two sizes.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        At least one vector; finite, as outputs in the unit of their support are.
    Y : ndarray of shape (m, d)
        The same.
    directions : ndarray of shape (n_slices, d)
        Unit vectors.

    Returns
    -------
    ndarray of shape (n_slices,)
        In the unit of the samples.

    Notes
    -----
    ``O(n_slices (d n + n log n))``, in blocks of slices, so that besides the samples only some
    tens of megabytes are held. Source: srpp, equations 5 (in the limit p to infinity) and 6,
    Proposition 4.1 and Lemma P.1 (equal sizes).

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1.0]]), np.array([[0.0], [0.5], [3.0]])
    >>> sliced_distances(X, Y, np.ones((1, 1)))
    array([2.])
    """
    distances = np.empty(directions.shape[0])
    width = max(1, MOST_CELLS // max(X.shape[0], Y.shape[0]))
    for start in range(0, distances.size, width):
        block = directions[start : start + width]
        distances[start : start + width] = _of_rows(block @ X.T, block @ Y.T)
    return distances


def _of_rows(left: Floats, right: Floats) -> Floats:
    """Return the distances between the rows of two arrays, which may be sorted in place."""
    left.sort(axis=1)
    right.sort(axis=1)
    if left.shape[1] != right.shape[1]:
        i, j = merged_ranks(left.shape[1], right.shape[1])
        left, right = left[:, i], right[:, j]
    difference = np.subtract(left, right, out=left)
    return np.asarray(np.maximum(difference.max(axis=1), -difference.min(axis=1)))


def merged_ranks(n: int, m: int) -> tuple[Indices, Indices]:
    """Return the order statistics of both samples on each piece between merged breakpoints."""
    a = np.arange(1, n + 1, dtype=np.int64) * m
    b = np.arange(1, m + 1, dtype=np.int64) * n
    ends = np.union1d(a, b)
    return np.searchsorted(a, ends), np.searchsorted(b, ends)


Members = Sequence[tuple[Sequence[int], Sequence[int]]]

# More pairs of draws than this are matched in one order that bounds the distance from above.
_MOST_MATCHED = 2**22


def bottleneck_distance(X: Floats, Y: Floats) -> float:
    """Return infinity-Wasserstein distance between two samples of vectors, in the Euclidean norm.

    The smallest radius within which all mass of one sample can be carried to the other: a binary
    search over the distances that occur, with a perfect matching (equal sizes) or a saturating
    flow of whole numbers (unequal sizes) as the test.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        At least one vector; finite, as outputs in the unit of their support are.
    Y : ndarray of shape (m, d)
        The same.

    Returns
    -------
    float
        One of the distances between a row of ``X`` and a row of ``Y``.

    Notes
    -----
    ``n m`` distances are held. Source: srpp, Lemma P.2 (equal sizes) and appendix A.5.2 (flows).

    Examples
    --------
    >>> import numpy as np
    >>> bottleneck_distance(np.zeros((1, 2)), np.array([[3.0, 4.0], [0.0, 0.0]]))
    5.0
    """
    distances = vector_distances(X, Y)
    # Every row has to go somewhere, so nothing below the farthest nearest neighbour will do.
    least = max(float(distances.min(axis=1).max()), float(distances.min(axis=0).max()))
    radii = np.unique(distances[distances >= least])
    low, high = 0, radii.size - 1
    while low < high:
        middle = (low + high) // 2
        within = distances <= radii[middle]
        if _matched(within) if X.shape == Y.shape else _carried(within):
            high = middle
        else:
            low = middle + 1
    return float(radii[low])


def _matched(within: NDArray[np.bool_]) -> bool:
    match = maximum_bipartite_matching(csr_matrix(within), perm_type="column")
    return bool(np.all(match >= 0))


def _carried(within: NDArray[np.bool_]) -> bool:
    """Return whether a flow over the allowed pairs moves all mass.

    Whole numbers, so no rounding.
    """
    n, m = within.shape
    a, b = m // gcd(n, m), n // gcd(n, m)
    i, j = np.nonzero(within)
    source, sink = n + m, n + m + 1
    tails = np.concatenate([i, np.full(n, source), n + np.arange(m)])
    heads = np.concatenate([n + j, np.arange(n), np.full(m, sink)])
    capacity = np.repeat(np.array([min(a, b), a, b], dtype=np.int32), [i.size, n, m])
    graph = csr_matrix((capacity, (tails, heads)), shape=(n + m + 2, n + m + 2))
    return bool(maximum_flow(graph, source, sink).flow_value == n * a)


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
