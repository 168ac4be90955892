"""From Renyi bounds, or a Gaussian's shift, to (epsilon, delta)."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr

from pacsklearn._validation import as_inner_share


def gaussian_epsilon(rate: float, delta: float) -> float:
    """Return the epsilon of the (epsilon, delta) bound between Gaussians, exactly.

    For releases that are noised by Gaussians whose means are, in some coupling, never further
    apart than ``sqrt(2 rate)`` standard deviations: nothing tells them apart better than two such
    Gaussians.

    Parameters
    ----------
    rate : float
        Renyi divergence divided by its order, in nats: half the squared shift.
    delta : float
        Between 0 and 1.

    Notes
    -----
    The level at which ``F(s / 2 - e / s) - exp(e) F(-s / 2 - e / s)`` is delta, for a shift ``s``
    and the normal distribution function ``F``. Source: Balle and Wang, Improving the Gaussian
    mechanism for differential privacy, 2018, Theorem 8.

    Examples
    --------
    >>> round(gaussian_epsilon(0.02, 1e-5), 4)
    0.7255
    """
    wanted = math.log(as_inner_share("delta", delta))
    if rate == 0:
        return 0.0
    shift = math.sqrt(2 * rate)

    def excess(epsilon: float) -> float:
        ours = float(log_ndtr(shift / 2 - epsilon / shift))
        theirs = epsilon + float(log_ndtr(-shift / 2 - epsilon / shift))
        # Rounding may leave nothing of the difference: it is below every delta then.
        return ours + math.log1p(-math.exp(min(theirs - ours, -1e-300))) - wanted

    if excess(0.0) <= 0:
        return 0.0
    high = concentrated_epsilon(rate, delta)
    if excess(high) >= 0:
        return high
    return min(float(brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-13)) * (1 + 1e-12), high)


def concentrated_epsilon(rate: float, delta: float) -> float:
    """Return the epsilon at ``delta`` of divergences ``rate * order``, at the best order.

    Parameters
    ----------
    rate : float
        Renyi divergence divided by its order, in nats; also a mean of such rates, for a mean of
        epsilons.
    delta : float
        Between 0 and 1.

    Examples
    --------
    >>> round(concentrated_epsilon(0.02, 1e-5), 4)
    0.7943
    """
    return approximate_epsilon(lambda order: rate * order, delta)


def epsilon_at_order(cost: float, order: float, delta: float) -> float:
    """Return the epsilon of the (epsilon, delta) bound of a Renyi divergence of one order.

    Notes
    -----
    ``cost + ln((order - 1) / order) - ln(delta order) / (order - 1)``. Source: Canonne, Kamath and
    Steinke, The discrete Gaussian for differential privacy, 2020, Proposition 12.
    """
    excess, delta = order - 1, as_inner_share("delta", delta)
    return max(cost + math.log(excess / order) - math.log(delta * order) / excess, 0.0)


def approximate_epsilon(cost: Callable[[float], float], delta: float) -> float:
    """Return the epsilon at ``delta`` of divergences ``cost(order)``, at the best order.

    Any order gives a bound that holds, so the search need not be exact to be sound.

    Parameters
    ----------
    cost : callable
        Renyi divergence of an order, in nats.
    delta : float
        Between 0 and 1.
    """
    if not cost(2.0):
        return 0.0

    def bound(log: float) -> float:
        order = 1 + math.exp(log)
        return epsilon_at_order(cost(order), order, delta)

    # Far from the best order the bound is infinite at worst; a grid brackets the minimum.
    grid = [math.log(10) * i / 2 for i in range(-12, 13)]
    best = min(range(len(grid)), key=lambda i: bound(grid[i]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    refined = minimize_scalar(bound, bounds=(low, high), method="bounded", options={"xatol": 1e-6})
    return min(float(refined.fun), bound(grid[best]))
