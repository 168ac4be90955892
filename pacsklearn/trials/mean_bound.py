"""A one-sided confidence bound for the mean of bounded independent draws, from the draws."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mean_bound import checked_range, rescaled

# Part of the failure probability that goes to the betting bound, which is rarely the worse one.
_BETTING_SHARE = 7 / 8


def upper_mean_bound(samples: ArrayLike, low: float, high: float, gamma: float) -> float:
    """Bound the mean of a bounded variable from above with confidence ``1 - gamma``.

    The smaller of an empirical Bernstein bound and a betting bound. Nothing is assumed about the
    distribution beyond its range; in particular it may put mass where no draw has landed.

    Parameters
    ----------
    samples : array-like of shape (n,)
        Independent draws of one distribution, at least two of them.
    low, high : float
        Range that the variable never leaves.
    gamma : float
        Probability, over the draws, that the true mean lies above the returned number at most;
        strictly between 0 and 1. It is split: 7/8 for betting, 1/8 for Bernstein.

    Returns
    -------
    float
        At most ``high``; rounded outward.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, lies outside its range, or a sample lies outside
        ``[low, high]``.

    Notes
    -----
    *Betting.* Scale the variable to ``x`` in [0, 1] and let its mean be at least ``m``. Then
    ``1 - c + c (1 - x) / (1 - m)`` is non-negative with mean at most 1 for every ``c`` in [0, 1],
    so is the product over the draws, and so is an average of such products over a list of ``c``
    that is fixed before the draws: it reaches ``1 / gamma`` with probability at most ``gamma``
    (Markov). It grows with ``m``, and the bound is the ``m`` at which it gets there. The list is
    geometric, from 1 down to an eighth of ``sqrt(2 ln(1 / gamma) / n)``, which is of the order of
    the best constant bet for the largest possible variance. Source: Waudby-Smith and Ramdas,
    Estimating means of bounded random variables by betting, 2024.

    *Empirical Bernstein.* Maurer and Pontil, Empirical Bernstein bounds and sample-variance
    penalization, 2009, Theorem 4.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import upper_mean_bound
    >>> round(upper_mean_bound(np.zeros(1000), 0.0, 1.0, 0.05), 5)
    0.00506
    """
    draws = np.asarray(samples, dtype=np.float64)
    if draws.ndim != 1 or draws.size < 2:
        raise ValueError(
            f"samples must have shape (n >= 2,), got {draws.shape}; draw at least two."
        )
    gamma, low, high = checked_range(gamma, low, high)
    if not np.all((draws >= low) & (draws <= high)):
        raise ValueError(
            f"samples must lie between low={low!r} and high={high!r}; clip the variable itself, "
            "as a part of what is bounded, not only its draws."
        )
    x = np.clip((draws - low) / (high - low), 0.0, 1.0)
    betting = _betting(x, gamma * _BETTING_SHARE)
    bernstein = _bernstein(
        np.mean(x), np.var(x, ddof=1), draws.size, gamma * (1.0 - _BETTING_SHARE)
    )
    return float(rescaled(min(betting, float(bernstein)), low, high))


def _bernstein(
    mean: Floats | np.floating, variance: Floats | np.floating, n: int, gamma: float
) -> Floats:
    log_term = math.log(2.0 / gamma)
    return np.asarray(
        mean + np.sqrt(2.0 * variance * log_term / n) + 7.0 * log_term / (3.0 * (n - 1))
    )


def _betting(x: Floats, gamma: float) -> float:
    """Return the smallest mean, rounded up, at which the products pass ``1 / gamma``."""
    log_term = math.log(1.0 / gamma)
    smallest = min(math.sqrt(2.0 * log_term / x.size) / 8.0, 0.5)
    bets = 0.5 ** np.arange(math.ceil(-math.log2(smallest)) + 1)
    # Equal draws are bet on at once: outputs of a finite space repeat.
    values, counts = np.unique(x, return_counts=True)
    complement = 1.0 - values
    # The margin covers the rounding of the sums of logarithms.
    needed = log_term + math.log(bets.size) + 1e-6

    def passes(mean: float) -> bool:
        ratio = complement / (1.0 - mean) - 1.0
        with np.errstate(divide="ignore"):
            logs = [float(counts @ np.log1p(np.maximum(bet * ratio, -1.0))) for bet in bets]
        # The largest product is enough for stopping early, their sum is what counts.
        largest = max(logs)
        if largest == -math.inf:
            return False
        return largest + math.log(sum(math.exp(log - largest) for log in logs)) >= needed

    below, above = float(np.mean(x)), 1.0
    for _ in range(60):
        middle = 0.5 * (below + above)
        if not below < middle < above or above - below <= 1e-10 * above:
            break
        if passes(middle):
            above = middle
        else:
            below = middle
    return above
