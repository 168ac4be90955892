"""What the guesses about many coins, from one run, say against differential privacy."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from scipy.stats import binom

from pacsklearn._validation import as_count, as_inner_share, as_probability


def one_run_p_value(
    epsilon: float, delta: float, n_coins: int, n_guesses: int, n_right: int
) -> float:
    """Return chance of so many right guesses about fair coins under (epsilon, delta)-DP, at most.

    Parameters
    ----------
    epsilon, delta : float
        What is claimed of a mechanism whose input has one entry for each coin.
    n_coins : int
        Independent fair coins, each of which decided one entry.
    n_guesses, n_right : int
        Coins that were guessed from what one run released, and right guesses among them. Which
        coins are guessed may depend on the release; how many may not.

    Returns
    -------
    float
        In [0, 1].

    Notes
    -----
    Without ``delta`` the right guesses are dominated by a binomial with success probability
    ``e^epsilon / (1 + e^epsilon)``. ``delta`` adds ``2 n_coins delta`` times the largest, over
    ``i``, of the chance that the binomial lies 1 to ``i`` below ``n_right``, divided by
    ``i``.
    Source: Steinke, Nasr and Jagielski (2023), Theorem 5.2.

    Examples
    --------
    >>> round(one_run_p_value(1.0, 0.0, 1000, 100, 90), 5)
    3e-05
    >>> one_run_p_value(10.0, 1e-5, 1000, 100, 90) > 0.5
    True
    """
    coins = as_count("n_coins", n_coins, minimum=1)
    guesses = as_count("n_guesses", n_guesses, minimum=0)
    right = as_count("n_right", n_right, minimum=0)
    if not right <= guesses <= coins:
        raise ValueError(
            "n_right must be at most n_guesses, and that at most n_coins, got "
            f"{right}, {guesses} and {coins}."
        )
    share = float(expit(epsilon))
    reached = float(binom.sf(right - 1, guesses, share))
    delta = as_probability("delta", delta)
    if right == 0:
        return 1.0
    steps = np.arange(1, right + 1)
    # Beyond `right` steps nothing is added to the chance, and the divisor grows.
    below = binom.sf(right - 1 - steps, guesses, share) - reached
    return float(min(reached + 2 * coins * delta * np.max(below / steps), 1.0))


def one_run_epsilon(
    level: float, delta: float, n_coins: int, n_guesses: int, n_right: int
) -> float:
    """Return the epsilon that the guesses refute.

    With a probability of ``level`` it is not above the true one.

    Parameters
    ----------
    level : float
        In (0, 1).
    delta, n_coins, n_guesses, n_right
        As for :func:`one_run_p_value`.

    Returns
    -------
    float
        0.0 when nothing is refuted.
    """
    level = as_inner_share("level", level)

    def refuted(epsilon: float) -> bool:
        return one_run_p_value(epsilon, delta, n_coins, n_guesses, n_right) < 1 - level

    if not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while refuted(high):
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
