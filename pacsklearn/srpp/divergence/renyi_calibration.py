"""Gaussian noise for a Renyi bound on slices: costs of a variance, and least variance of a cost.

Distances are those of the outputs under two secrets along each slice (see
:mod:`~pacsklearn.srpp.divergence.world_distances`), one row for each pair of secrets and prior.
Costs are Renyi divergences of order ``order``, in nats.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, linear_sum_assignment

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.divergence.log_moment import log_moment
from pacsklearn.universe.vector_distances import vector_distances

# Root finding stops within this share of the variance; the larger end is returned.
_RELATIVE = 1e-12


def average_cost(distances: Floats, weights: Floats, order: float) -> float:
    """Return the largest mean over the slices of the Renyi divergence, in nats, at variance 1.

    As every cost here but :func:`joint_cost` it falls as the inverse of the variance: over an
    allowed cost it is the least variance that meets that.

    Parameters
    ----------
    distances : ndarray of shape (n_pairs, n_slices)
    weights : ndarray of shape (n_slices,)
        Of the slices; positive, they sum to 1.
    order : float
        Renyi order, above 1.

    Notes
    -----
    The maximum over pairs is taken outside the mean, which is never above Theorem 4.5 of srpp.
    """
    return order * float(np.max(distances**2 @ weights, initial=0.0)) / 2


def joint_cost(distances: Floats, weights: Floats, order: float, variance: float) -> float:
    """Return the largest log-moment over slices of the divergence (srpp, equation 11).

    Parameters are those of :func:`average_cost`, and the variance of the noise along every slice.
    """
    if not np.any(distances):
        return 0.0
    if variance <= 0:
        return math.inf
    exponents = (order - 1) * order * distances**2 / (2 * variance)
    return float(np.max(log_moment(exponents, np.log(weights)))) / (order - 1)


def worst_slice_cost(distances: Floats, order: float) -> float:
    """Return largest Renyi divergence along any slice, in nats: what Theorem 4.6 of srpp bounds."""
    return full_cost(float(np.max(distances, initial=0.0)), order)


def full_cost(distance: float, order: float) -> float:
    """Return Renyi divergence of the whole vector at infinity-Wasserstein distance ``distance``."""
    return order * distance**2 / 2


def joint_variance(distances: Floats, weights: Floats, order: float, epsilon: float) -> float:
    """Return the least variance with :func:`joint_cost` at most ``epsilon``.

    Never above that of :func:`worst_slice_cost`, which is the published formula.
    """
    high = worst_slice_cost(distances, order) / epsilon
    if high == 0:
        return 0.0
    low = average_cost(distances, weights, order) / epsilon
    return least_variance(
        lambda variance: joint_cost(distances, weights, order, variance), epsilon, low, high
    )


def least_variance(
    cost: Callable[[float], float], epsilon: float, low: float, high: float
) -> float:
    """Return smallest variance, up to rounding and from above, where a falling cost is ``epsilon``.

    Parameters
    ----------
    cost : callable
        Decreasing in the variance.
    epsilon : float
        Allowed cost.
    low, high : float
        Bracket: the cost is at most ``epsilon`` at ``high``.
    """
    if low >= high or cost(low) <= epsilon:
        return min(low, high)
    if cost(high) >= epsilon:  # by rounding alone: the bracket is as good as closed
        return high
    root = brentq(lambda log: cost(math.exp(log)) - epsilon, math.log(low), math.log(high))
    variance, step = math.exp(root), _RELATIVE
    while cost(variance) > epsilon and variance < high:
        variance *= 1 + step
        step *= 2
    return min(variance, high)


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
    least: divergences of coupled components, by joint convexity. Where terms span more than a
    double does, any coupling of the largest ones is taken: callers hold it against ``order / 2``
    times the squared infinity-Wasserstein distance. Source: srpp, equation (21), the
    distribution-aware general Wasserstein mechanism, with ``q = 1``: larger ``q`` never gives less.

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
    chosen = linear_sum_assignment(np.expm1(np.minimum(exponents - least, _WIDEST)))
    # Any coupling gives a bound: terms that were cut off count in full here.
    return float(log_moment(exponents[chosen], -math.log(len(exponents)))) / (order - 1)


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
