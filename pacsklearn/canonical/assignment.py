"""Optimal renaming of exchangeable parts (clusters, components)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

__all__ = ["assign_to_mean"]

Floats = NDArray[np.float64]

_MOST_ROUNDS = 10


def assign_to_mean(parts: Floats) -> NDArray[np.intp]:
    """Order of the parts of each candidate that brings all candidates closest together.

    Parameters
    ----------
    parts : ndarray of shape (m, k, p)
        k exchangeable points for each of m candidates.

    Returns
    -------
    ndarray of shape (m, k)
        ``parts[i, order[i]]`` stand in the common order: an optimal assignment (not a greedy one)
        to the first candidate, then to the mean, until nothing moves.
    """
    m, k, _ = parts.shape
    order = np.tile(np.arange(k), (m, 1))
    reference = parts[0]
    for _ in range(_MOST_ROUNDS):
        new = np.stack(
            [
                linear_sum_assignment(cdist(reference, candidate, "sqeuclidean"))[1]
                for candidate in parts
            ]
        )
        if np.array_equal(new, order):
            break
        order = new
        reference = np.take_along_axis(parts, order[:, :, None], axis=1).mean(axis=0)
    return order
