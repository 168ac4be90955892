"""Exact infinity-Wasserstein distance between samples of vectors, by bottleneck matching."""

from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching, maximum_flow

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.divergence.quantile_transport import as_sample
from pacsklearn.universe.vector_distances import vector_distances


def bottleneck_distance(X: Floats, Y: Floats) -> float:
    """Return infinity-Wasserstein distance between two samples of vectors, in the Euclidean norm.

    The smallest radius within which all mass of one sample can be carried to the other: a binary
    search over the distances that occur, with a perfect matching (equal sizes) or a saturating
    flow of whole numbers (unequal sizes) as the test.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    Y : ndarray of shape (m, d)

    Returns
    -------
    float
        One of the distances between a row of ``X`` and a row of ``Y``.

    Raises
    ------
    ValueError
        For empty or infinite samples, and other dimensions.

    Notes
    -----
    ``n m`` distances are held. Source: srpp, Lemma P.2 (equal sizes) and appendix A.5.2 (flows).

    Examples
    --------
    >>> import numpy as np
    >>> bottleneck_distance(np.zeros((1, 2)), np.array([[3.0, 4.0], [0.0, 0.0]]))
    5.0
    """
    X, Y = as_sample(X, "X"), as_sample(Y, "Y")
    if X.shape[1] != Y.shape[1]:
        raise ValueError(
            "X and Y must have the same number of columns, got arrays of shape "
            f"{X.shape} and {Y.shape}."
        )
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
