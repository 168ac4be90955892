"""Renyi divergence between two mixtures of Gaussians, by the best coupling of their means."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, linear_sum_assignment
from scipy.special import logsumexp

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.universe.vector_distances import vector_distances

# Terms further above the least that a coupling needs are never used by the best one.
_WIDEST = 600.0
# Logarithm of the share of a sufficient variance below which no smaller one is looked for.
_LOWEST = -300.0


def transport_divergence(left: ArrayLike, right: ArrayLike, order: float) -> float:
    """Bound the divergence of order ``order`` under noise of standard deviation 1.

    Parameters
    ----------
    left, right : array-like of shape (n, d)
        Means of either side, as many, each as likely.
    order : float
        Above 1.

    Returns
    -------
    float
        In nats; infinite where some distance, in deviations of the noise, is beyond 1e150.

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
    x, y = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    return _divergence(vector_distances(x, y), order)


def _divergence(distances: Floats, order: float) -> float:
    with np.errstate(over="ignore"):
        exponents = order * (order - 1) / 2 * distances**2
    least = max(float(exponents.min(axis=0).max()), float(exponents.min(axis=1).max()))
    if math.isinf(least):
        return math.inf
    chosen = linear_sum_assignment(np.exp(np.minimum(exponents - least, _WIDEST)))
    # Any coupling gives a bound: terms that were cut off count in full here.
    moment = float(logsumexp(exponents[chosen])) - math.log(len(exponents))
    return max(moment, 0.0) / (order - 1)


def transport_variance(
    pairs: list[tuple[Floats, Floats]], order: float, epsilon: float, largest: float
) -> float:
    """Return the least variance with which no pair of sides has a divergence above ``epsilon``.

    Parameters
    ----------
    pairs : list of (ndarray, ndarray)
        Means of both sides, of shape (n, d) each.
    order, epsilon : float
    largest : float
        A variance that is enough; positive.
    """
    if not 0 < largest < math.inf:
        raise ValueError(f"largest must be a positive finite variance, got {largest!r}.")

    distances = [vector_distances(x, y) for x, y in pairs]

    def excess(log: float) -> float:
        with np.errstate(over="ignore"):
            worst = max(_divergence(each * math.exp(-log / 2), order) for each in distances)
        return math.log(min(max(worst, 1e-300), 1e300) / epsilon)

    high, low = math.log(largest), math.log(largest) - 1.0
    if excess(high) >= 0:
        return largest
    while excess(low) <= 0:
        if low < math.log(largest) + _LOWEST:  # both sides of every pair are the same
            return math.exp(low)
        high, low = low, low - 2.0
    return min(math.exp(brentq(excess, low, high, xtol=1e-9)) * (1 + 1e-8), largest)
