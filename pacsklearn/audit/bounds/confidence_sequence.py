"""Confidence interval of a success probability that holds whenever counting stops."""

from __future__ import annotations

import math
from functools import partial

from scipy.optimize import brentq
from scipy.special import betaln, xlog1py, xlogy

from pacsklearn._validation import as_inner_share, check_integer

# Outward slack for the root finder and the rounding of the logarithms.
_SLACK = 1e-9


def confidence_sequence(n_successes: int, n_trials: int, level: float) -> tuple[float, float]:
    """Return the interval that covers a success probability at all numbers of trials at once.

    Parameters
    ----------
    n_successes, n_trials : int
        Successes so far, of trials so far.
    level : float
        Least probability, in (0, 1), that the true probability lies in every one of the intervals
        for 1, 2, 3, ... trials; so also in the one at which somebody who looks after each trial
        decides to stop.

    Returns
    -------
    low, high : float

    Notes
    -----
    Under a success probability ``p`` the ratio ``B(s + 1/2, f + 1/2) / (B(1/2, 1/2) p^s (1-p)^f)``
    of ``s`` successes and ``f`` failures is a martingale with mean 1, the likelihood ratio of a
    mixture of coins against one coin. It ever reaches ``1 / a`` with a probability of at most ``a``
    (Ville's inequality); the interval holds the ``p`` for which it is below ``1 / a``, with
    ``a = 1 - level``.

    The trials need not be independent: it is enough that each, given those before it, succeeds with
    a probability of at most ``p`` for ``low`` to be right about ``p``.

    Source: Ville (1939); Robbins (1970), with the mixture of Jeffreys.

    Examples
    --------
    >>> low, high = confidence_sequence(570, 1000, 0.999)
    >>> round(low, 3), round(high, 3)
    (0.497, 0.641)
    """
    trials = check_integer(name="n_trials", value=n_trials, minimum=1)
    right = check_integer(name="n_successes", value=n_successes, minimum=0)
    if right > trials:
        raise ValueError(f"n_successes must be at most n_trials={trials}, got {right}.")
    level = as_inner_share("level", level)
    wrong = trials - right
    # Where the log of the ratio, without the part that depends on p, leaves the interval.
    most = betaln(right + 0.5, wrong + 0.5) - math.log(math.pi) + math.log(1 - level)

    def beyond(successes: int, p: float) -> float:
        return float(most - xlogy(successes, p) - xlog1py(trials - successes, -p))

    def least(successes: int) -> float:
        """Return the smallest probability of ``successes`` that is left."""
        share = successes / trials
        root = brentq(partial(beyond, successes), 1e-300, share, xtol=1e-300, rtol=1e-12)
        return float(root) * (1 - _SLACK)

    return (least(right) if right else 0.0), (1 - least(wrong) if wrong else 1.0)
