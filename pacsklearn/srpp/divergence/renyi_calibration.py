"""Gaussian noise for a Renyi bound on slices: costs of a variance, and least variance of a cost.

Distances are those of the outputs under two secrets along each slice (see
:mod:`~pacsklearn.srpp.divergence.quantile_transport`), one row for each pair of secrets and prior.
Costs are Renyi divergences of order ``order``, in nats.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from pacsklearn.kernel.bounds.arrays import Floats

# Root finding stops within this share of the variance; the larger end is returned.
_RELATIVE = 1e-12


def average_cost(distances: Floats, weights: Floats, order: float, variance: float) -> float:
    """Return the largest mean over the slices of the Renyi divergence, in nats.

    Parameters
    ----------
    distances : ndarray of shape (n_pairs, n_slices)
    weights : ndarray of shape (n_slices,)
        Of the slices; positive, they sum to 1.
    order : float
        Renyi order, above 1.
    variance : float
        Of the noise along every slice.

    Notes
    -----
    The maximum over pairs is taken outside the mean, which is never above Theorem 4.5 of srpp.
    """
    return _scaled(order * _mean_square(distances, weights) / 2, variance)


def joint_cost(distances: Floats, weights: Floats, order: float, variance: float) -> float:
    """Return the largest log-moment over slices of the divergence (srpp, equation 11).

    Parameters are those of :func:`average_cost`.
    """
    if not np.any(distances):
        return 0.0
    if variance <= 0:
        return math.inf
    exponents = (order - 1) * order * distances**2 / (2 * variance)
    moments = logsumexp(exponents + np.log(weights), axis=1)
    return max(float(np.max(moments)), 0.0) / (order - 1)


def worst_slice_cost(distances: Floats, order: float, variance: float) -> float:
    """Return largest Renyi divergence along any slice, in nats: what Theorem 4.6 of srpp bounds."""
    return _scaled(order * float(np.max(distances, initial=0.0)) ** 2 / 2, variance)


def full_cost(distance: float, order: float, variance: float) -> float:
    """Return Renyi divergence of the whole vector at infinity-Wasserstein distance ``distance``."""
    return _scaled(order * distance**2 / 2, variance)


def average_variance(distances: Floats, weights: Floats, order: float, epsilon: float) -> float:
    """Return the least variance with :func:`average_cost` at most ``epsilon``."""
    return order * _mean_square(distances, weights) / (2 * epsilon)


def joint_variance(distances: Floats, weights: Floats, order: float, epsilon: float) -> float:
    """Return the least variance with :func:`joint_cost` at most ``epsilon``.

    Never above :func:`worst_slice_variance`, which is the published formula.
    """
    high = worst_slice_variance(distances, order, epsilon)
    if high == 0:
        return 0.0
    low = average_variance(distances, weights, order, epsilon)
    return least_variance(
        lambda variance: joint_cost(distances, weights, order, variance), epsilon, low, high
    )


def worst_slice_variance(distances: Floats, order: float, epsilon: float) -> float:
    """Return the variance of Theorem 4.6 of srpp."""
    return order * float(np.max(distances, initial=0.0)) ** 2 / (2 * epsilon)


def full_variance(distance: float, order: float, epsilon: float) -> float:
    """Return the least variance with :func:`full_cost` at most ``epsilon``."""
    return order * distance**2 / (2 * epsilon)


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


def _mean_square(distances: Floats, weights: Floats) -> float:
    return float(np.max(distances**2 @ weights, initial=0.0))


def _scaled(cost: float, variance: float) -> float:
    if cost == 0:
        return 0.0
    return cost / variance if variance > 0 else math.inf
