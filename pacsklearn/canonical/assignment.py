"""Optimal renaming of exchangeable parts (clusters, components)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Layout

_MOST_ROUNDS = 10


def assign_to_mean(parts: Floats) -> NDArray[np.intp]:
    """Return the order of the parts of each candidate that brings all candidates closest together.

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
    return assign_up_to_sign(parts, signed=False)[0]


def in_mean_order(vectors: Floats, layout: Layout) -> Floats:
    """Return vectors of one block of parts, with these as :func:`assign_to_mean` orders them."""
    ((_, shape),) = layout.blocks
    parts = vectors.reshape(-1, *shape)
    order = assign_to_mean(parts)
    return np.take_along_axis(parts, order[:, :, None], axis=1).reshape(vectors.shape)


def assign_up_to_sign(
    parts: Floats, *, signed: bool = True
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Arrange parts as :func:`assign_to_mean` does, where parts may also be turned around.

    Parameters
    ----------
    parts : ndarray of shape (m, k, p)
    signed : bool, default=True
        Whether they may; all signs are one otherwise.

    Returns
    -------
    order : ndarray of shape (m, k)
    sign : ndarray of shape (m, k)
        Of the parts in the common order.
    """
    m, k, _ = parts.shape
    order, sign = np.tile(np.arange(k), (m, 1)), np.ones((m, k))
    # One candidate's own: a mean of parts in no common order is close to none of them.
    reference = parts[0]
    for _ in range(_MOST_ROUNDS):
        matches = [_match(reference, candidate, signed=signed) for candidate in parts]
        new, turns = (np.stack(side) for side in zip(*matches, strict=True))
        if np.array_equal(new, order) and np.array_equal(turns, sign):
            break
        order, sign = new, turns
        placed = np.take_along_axis(parts, order[:, :, None], axis=1)
        reference = (placed * sign[:, :, None]).mean(axis=0)
    return order, sign


def _match(
    reference: Floats, candidate: Floats, *, signed: bool
) -> tuple[NDArray[np.intp], Floats]:
    if not signed:
        order = linear_sum_assignment(cdist(reference, candidate, "sqeuclidean"))[1]
        return order, np.ones(order.size)
    # Squared distances of a part and of its mirror image differ by the product only.
    product = reference @ candidate.T
    order = linear_sum_assignment(-np.abs(product))[1]
    return order, np.where(product[np.arange(order.size), order] < 0, -1.0, 1.0)
