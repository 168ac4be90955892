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
    moments = logsumexp(exponents + np.log(weights), axis=1)
    return max(float(np.max(moments)), 0.0) / (order - 1)


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
