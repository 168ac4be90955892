"""One-sided confidence bounds for the mean of bounded independent draws."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from pacsklearn._validation import as_inner_share, check_integer
from pacsklearn.kernel.bounds.arrays import Floats

# Covers the rounding of sums of up to 1e9 terms in [0, 1].
_ROUNDING = 1e-12
# Small bets are best for many draws or a large variance, the largest for few draws near the end.
_BETS = 0.95 * 0.5 ** np.arange(8)


def upper_mean_bounds(
    sums: ArrayLike, sums_of_squares: ArrayLike, n: int, low: float, high: float, gamma: float
) -> Floats:
    """Bound the means of many bounded variables from above, from sums alone.

    An empirical Bernstein bound of each column, with the whole of ``gamma`` for each: divide
    ``gamma`` by the number of columns for a statement about all of them.

    Parameters
    ----------
    sums, sums_of_squares : array-like of shape (c,)
        Of ``n`` independent draws of each variable, with relative errors below 1e-12. Draws of
        different columns may depend on each other.
    n : int
        Number of draws of each variable, at least 2.
    low, high : float
        Range that none of the variables leaves.
    gamma : float
        Failure probability of each column, strictly between 0 and 1.

    Returns
    -------
    ndarray of shape (c,)
        At most ``high``; rounded outward.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, lies outside its range, or the sums are not those of
        draws in ``[low, high]``.

    Notes
    -----
    With ``x`` scaled to [0, 1], the product of ``1 + bet (mu - x_i)`` is one on average at the true
    mean ``mu``, so it exceeds ``1 / gamma`` with probability ``gamma`` at most, and it grows with
    ``mu``. Its logarithm is at least ``n (bet d - psi(bet) (v + d^2))`` with ``d = mu - mean(x)``,
    ``v`` the mean square of ``x - mean(x)`` and ``psi(bet) = -ln(1 - bet) - bet``: the bound is the
    ``d`` at which this passes ``ln(8 / gamma)``, the least of eight bets fixed beforehand. Where
    the variance is small it is less than half of Maurer and Pontil's distance from the mean.
    Sources: Fan, Grama and Liu, Exponential inequalities for martingales with applications, 2015,
    Lemma 4.1; Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting,
    2024, Section 3.

    Examples
    --------
    >>> from pacsklearn.bounds import upper_mean_bounds
    >>> upper_mean_bounds([0.0, 500.0], [0.0, 500.0], 1000, 0.0, 1.0, 0.05).round(4)
    array([0.0054, 0.5573])
    """
    n = check_integer(name="n", value=n, minimum=2)
    gamma, low, high = checked_range(gamma, low, high)
    total = np.asarray(sums, dtype=np.float64)
    squares = np.asarray(sums_of_squares, dtype=np.float64)
    if total.ndim != 1 or total.shape != squares.shape:
        raise ValueError(
            "sums and sums_of_squares must have one entry for each column, got shapes "
            f"{total.shape} and {squares.shape}."
        )
    size, width = max(abs(low), abs(high)), high - low
    slack = _ROUNDING * size
    mean, square = total / n, squares / n
    inside = (mean >= low - slack) & (mean <= high + slack)
    if not np.all(inside & (square >= mean**2 - 2 * slack * size)):
        raise ValueError(
            f"sums and sums_of_squares are not those of {n} draws between low={low!r} and "
            f"high={high!r}."
        )
    # Sums are off by rounding: mean and variance are moved outward by as much.
    variance = np.maximum(square - mean**2, 0.0) + 4 * slack * size
    scaled_mean = np.clip((mean + slack - low) / width, 0.0, 1.0)
    return rescaled(_least_bet(scaled_mean, variance / width**2, n, gamma), low, high)


def chernoff_bounds(means: ArrayLike, n: int, gamma: float) -> Floats:
    """Bound the means of variables in [0, 1] from above, from their sample means alone.

    Parameters
    ----------
    means : array-like of shape (c,)
        Of ``n`` independent draws of each variable.
    n : int
        At least 1.
    gamma : float
        Failure probability of each column, strictly between 0 and 1.

    Returns
    -------
    ndarray of shape (c,)
        At most 1; rounded outward.

    Notes
    -----
    A sample mean is ``x`` or less with probability at most ``exp(-n kl(x, mu))`` for a true mean
    ``mu > x``, with ``kl`` the divergence of two coins: the bound is the ``mu`` at which this is
    ``gamma``. It is tight for small means whatever the variance. Source: Hoeffding, Probability
    inequalities for sums of bounded random variables, 1963, Theorem 1.

    Examples
    --------
    >>> from pacsklearn.kernel.bounds.mean_bound import chernoff_bounds
    >>> chernoff_bounds([0.0, 0.5], 1000, 0.05).round(4)
    array([0.003 , 0.5386])
    """
    n = check_integer(name="n", value=n, minimum=1)
    gamma, _, _ = checked_range(gamma, 0.0, 1.0)
    x = np.asarray(means, dtype=np.float64)
    if x.ndim != 1 or not np.all((x >= 0.0) & (x <= 1.0 + 1e-9)):
        raise ValueError(f"means must be a vector of numbers in [0, 1], got shape {x.shape}.")
    x = np.minimum(x + _ROUNDING, 1.0)
    # Hoeffding 1963, Theorem 1: P(mean <= x) <= exp(-n kl(x, mu)); solved for mu by bisection,
    # whose upper end is kept: the bound is never below the exact one.
    needed = math.log(1.0 / gamma) / n
    low, high = x.copy(), np.ones_like(x)
    for _ in range(50):
        middle = (low + high) / 2
        enough = rel_entr(x, middle) + rel_entr(1.0 - x, 1.0 - middle) >= needed
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return np.minimum(high + _ROUNDING, 1.0)


def _least_bet(mean: Floats, variance: Floats, n: int, gamma: float) -> Floats:
    """Bound by the best of a few fixed bets; ``variance`` is divided by the number of draws."""
    # Eight bets that are fixed beforehand share gamma (union bound).
    needed = math.log(_BETS.size / gamma) / n
    best = np.full(mean.shape, np.inf)
    for bet in _BETS:
        cost = -math.log1p(-bet) - bet
        root = bet**2 - 4 * cost * (cost * variance + needed)
        # Where the bet never pays, it bounds nothing.
        gap = (bet - np.sqrt(np.maximum(root, 0.0))) / (2 * cost)
        best = np.minimum(best, np.where(root >= 0, gap, np.inf))
    return np.asarray(mean + best * (1.0 + _ROUNDING))


def rescaled(mean: float | Floats, low: float, high: float) -> Floats:
    """Return means of variables that were scaled to [0, 1], in their own range; rounded outward."""
    outward = _ROUNDING * (abs(low) + abs(high))
    return np.asarray(np.minimum(low + (high - low) * (mean * (1.0 + _ROUNDING)) + outward, high))


def checked_range(gamma: float, low: float, high: float) -> tuple[float, float, float]:
    """Return the failure probability and range, checked."""
    gamma = as_inner_share("gamma", gamma)
    low, high = float(low), float(high)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"low must be below high and both finite, got {low!r} and {high!r}.")
    return gamma, low, high
