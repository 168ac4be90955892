"""Renyi divergence between two mixtures of Gaussians, by the best coupling of their means."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, linear_sum_assignment
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from pacsklearn.information.arrays import Floats

# Terms further above the least that a coupling needs are never used by the best one.
_WIDEST = 600.0
# Logarithm of the share of a sufficient variance below which no smaller one is looked for.
_LOWEST = -300.0


def transport_divergence(left: ArrayLike, right: ArrayLike, order: float) -> float:
    """Bound on the divergence of order ``order`` when noise of deviation 1 hides which side it is.

    Parameters
    ----------
    left, right : array-like of shape (n, d)
        Means of either side, each as likely.
    order : float
        Above 1.

    Returns
    -------
    float
        In nats.

    Notes
    -----
    ``ln E exp(order (order - 1) |x - y|^2 / 2) / (order - 1)`` under the coupling that makes it
    least: divergences of coupled components, by joint convexity. Never above ``order / 2`` times
    the squared infinity-Wasserstein distance. Source: srpp, equation (21), the distribution-aware
    general Wasserstein mechanism, with ``q = 1``: larger ``q`` never gives less.

    Examples
    --------
    >>> round(transport_divergence([[0.0], [3.0]], [[0.5], [3.0]], 4.0), 4)
    0.3361
    """
    squares = cdist(np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)) ** 2
    if squares.shape[0] != squares.shape[1]:
        raise ValueError(f"left and right must have as many rows, got {squares.shape}.")
    exponents = order * (order - 1) / 2 * squares
    least = max(float(exponents.min(axis=0).max()), float(exponents.min(axis=1).max()))
    chosen = linear_sum_assignment(np.exp(np.minimum(exponents - least, _WIDEST)))
    # Any coupling gives a bound: terms that were cut off count in full here.
    moment = float(logsumexp(exponents[chosen])) - math.log(squares.shape[0])
    return max(moment, 0.0) / (order - 1)


def transport_variance(
    pairs: list[tuple[Floats, Floats]], order: float, epsilon: float, largest: float
) -> float:
    """Least variance with which no pair of sides has a divergence above ``epsilon``.

    Parameters
    ----------
    pairs : list of (ndarray, ndarray)
        Means of both sides, of shape (n, d) each.
    order, epsilon : float
    largest : float
        A variance that is enough.
    """

    def excess(log: float) -> float:
        scale = math.exp(-log / 2)
        worst = max(transport_divergence(x * scale, y * scale, order) for x, y in pairs)
        return math.log(max(worst, 1e-300) / epsilon)

    high, low = math.log(largest), math.log(largest) - 1.0
    if excess(high) >= 0:
        return largest
    while excess(low) <= 0:
        if low < math.log(largest) + _LOWEST:  # both sides of every pair are the same
            return math.exp(low)
        high, low = low, low - 2.0
    return min(math.exp(brentq(excess, low, high, xtol=1e-9)) * (1 + 1e-8), largest)
