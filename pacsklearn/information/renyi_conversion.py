"""From Renyi bounds at every order to (epsilon, delta)."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import minimize_scalar

__all__ = ["approximate_epsilon", "gaussian_epsilon"]


def gaussian_epsilon(rate: float, delta: float) -> float:
    """Epsilon of the (epsilon, delta) bound of divergences ``rate * order``, at the best order.

    Parameters
    ----------
    rate : float
        Renyi divergence divided by its order, in nats.
    delta : float
        Between 0 and 1.

    Notes
    -----
    The minimum over ``order > 1`` of ``rate * order + ln(1 / delta) / (order - 1)``.
    Source: srpp, Lemma B.1 and appendix B.4.3.

    Examples
    --------
    >>> round(gaussian_epsilon(0.02, 1e-5), 4)
    0.9797
    """
    if rate == 0:
        return 0.0
    return rate + 2 * math.sqrt(rate * math.log(1 / _delta(delta)))


def approximate_epsilon(cost: Callable[[float], float], delta: float) -> float:
    """Epsilon of the (epsilon, delta) bound of divergences ``cost(order)``, at the best order.

    Any order gives a bound that holds, so the search need not be exact to be sound.

    Parameters
    ----------
    cost : callable
        Renyi divergence of an order, in nats.
    delta : float
        Between 0 and 1.
    """
    wanted = math.log(1 / _delta(delta))
    if cost(2.0) == 0:
        return 0.0

    def bound(log: float) -> float:
        excess = math.exp(log)
        return cost(1 + excess) + wanted / excess

    # Far from the best order the bound is infinite at worst; a grid brackets the minimum.
    grid = [math.log(10) * i / 4 for i in range(-32, 33)]
    best = min(range(len(grid)), key=lambda i: bound(grid[i]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(bound, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
    return min(float(found.fun), bound(grid[best]))


def _delta(delta: float) -> float:
    if not 0 < delta < 1:
        raise ValueError(f"delta must be strictly between 0 and 1, got {delta!r}.")
    return delta
