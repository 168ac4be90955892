"""How many rows of a minibatch differ between two data sets: laws, moments and tails.

Two data sets of ``n_rows`` rows differ in ``n_differing`` of them. A batch is drawn in one of three
ways: ``"without-replacement"`` (a uniform set of ``batch_size`` rows), ``"with-replacement"``
(``batch_size`` independent rows) or ``"poisson"`` (every row with probability
``batch_size / n_rows``, so ``batch_size`` rows on average).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from pacsklearn._validation import as_inner_share, as_probability, check_choice, check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.trials.mean_bound import upper_mean_bound

SAMPLINGS: Final = ("without-replacement", "with-replacement", "poisson")
"""Ways of drawing a batch."""

# Covers the rounding of the closed forms and of sums over the law.
_OUTWARD = 1 + 1e-11


def largest_batch(n_rows: int, batch_size: int, sampling: str) -> int:
    """Return the most rows that a batch can have.

    Poisson batches are cut off 40 standard deviations above their mean, where the chance of a row
    more is below 1e-100.
    """
    if sampling != "poisson":
        return batch_size
    return min(n_rows, int(batch_size + 40 * (math.sqrt(batch_size) + 1)))


def largest_discrepancy(n_rows: int, n_differing: int, batch_size: int, sampling: str) -> int:
    """Return the most differing rows that any batch can hold (srpp, Proposition I.1).

    Examples
    --------
    >>> [largest_discrepancy(50_000, 20, 512, sampling) for sampling in SAMPLINGS]
    [20, 512, 20]
    """
    _, d, b = _check(n_rows, n_differing, batch_size, sampling)
    if sampling == "without-replacement":
        return min(b, d)
    if sampling == "with-replacement":
        return b if d else 0
    return d


def second_moment(n_rows: int, n_differing: int, batch_size: int, sampling: str) -> float:
    """Return the mean square of the number of differing rows in a batch, rounded up.

    Examples
    --------
    >>> round(second_moment(50_000, 20, 512, "without-replacement"), 4)
    0.2446
    """
    n, d, b = _check(n_rows, n_differing, batch_size, sampling)
    mean = b * d / n
    if sampling == "without-replacement":
        variance = mean * (1 - d / n) * ((n - b) / (n - 1) if n > 1 else 0.0)
    elif sampling == "with-replacement":
        variance = mean * (1 - d / n)
    else:
        variance = mean * (1 - b / n)
    return (variance + mean**2) * _OUTWARD


def discrepancy_log_law(n_rows: int, n_differing: int, batch_size: int, sampling: str) -> Floats:
    """Return the logarithms of the probabilities of 0, 1, ... differing rows in a batch.

    Hypergeometric, binomial over the draws, or binomial over the differing rows. Each grows
    stochastically with ``n_differing``: the law of the largest number bounds all others. Chances
    too small for a double are told too: at a large order a batch full of differing rows counts,
    however unlikely.

    Returns
    -------
    ndarray of shape (largest_discrepancy + 1,)
    """
    n, d, b = _check(n_rows, n_differing, batch_size, sampling)
    counts = np.arange(largest_discrepancy(n, d, b, sampling) + 1)
    if sampling == "without-replacement":
        law = stats.hypergeom.logpmf(counts, n, d, b)
    elif sampling == "with-replacement":
        law = stats.binom.logpmf(counts, b, d / n)
    else:
        law = stats.binom.logpmf(counts, d, b / n)
    return np.asarray(law, dtype=np.float64)


def variation_second_moment(variation: float, n_rows: int, batch_size: int, sampling: str) -> float:
    """Return the mean square discrepancy of independent rows at a total variation distance.

    The rows of both data sets are coupled one by one, so that each differs with probability
    ``variation``; the mean is over the coupling and the batch.

    Notes
    -----
    Without replacement the count is exactly binomial (``batch_size``, ``variation``). With
    replacement a row that is drawn twice counts twice, which adds
    ``b (b - 1) variation (1 - variation) / n_rows`` to the formula of srpp, appendix D.3.
    """
    n, _, b = _check(n_rows, 0, batch_size, sampling)
    tau = as_probability("variation", variation)
    if sampling == "poisson":
        chance = b / n * tau
        return (n * chance * (1 - chance) + (n * chance) ** 2) * _OUTWARD
    moment = b * tau * (1 - tau) + (b * tau) ** 2
    if sampling == "with-replacement":
        moment += b * (b - 1) * tau * (1 - tau) / n
    return moment * _OUTWARD


def variation_tail(
    variation: float, n_rows: int, batch_size: int, sampling: str, delta: float
) -> int:
    """Return the count that a batch exceeds with probability ``delta`` at most; rows as before.

    Exact quantiles, which are never above Hoeffding's (srpp, equation 41) without replacement.
    With replacement the number of differing rows and their draws take half of ``delta`` each.
    """
    n, _, b = _check(n_rows, 0, batch_size, sampling)
    tau, delta = as_probability("variation", variation), as_inner_share("delta", delta)
    if sampling == "without-replacement":
        return _quantile(b, tau, delta)
    if sampling == "poisson":
        return _quantile(n, b / n * tau, delta)
    return _quantile(b, _quantile(n, tau, delta / 2) / n, delta / 2)


def sampled_second_moment(draws: ArrayLike, largest: int, gamma: float) -> float:
    """Return the bound on the mean square of a count from draws.

    Parameters
    ----------
    draws : array-like of int, shape (n_draws,)
        Independent draws of the count.
    largest : int
        Most that the count can be: the batch size.
    gamma : float
        Probability, over the draws, that the bound fails.

    Notes
    -----
    By empirical Bernstein and betting bounds, which use that the count is small nearly always:
    tighter than Hoeffding's inequality, as published (srpp, Lemma D.1).
    """
    counts = _counts(draws, largest)
    if largest == 0:
        return 0.0
    return upper_mean_bound(counts**2, 0.0, float(largest) ** 2, as_inner_share("gamma", gamma))


def sampled_tail(draws: ArrayLike, largest: int, delta: float, gamma: float) -> int:
    """Return the count that is exceeded with probability ``delta`` at most, from draws.

    ``largest`` when there are too few draws for this ``delta``: they must be more than
    ``ln(2 / gamma) / (2 delta^2)``.

    Notes
    -----
    Source: srpp, Lemma D.2, by the inequality of Dvoretzky, Kiefer and Wolfowitz.
    """
    counts = np.sort(_counts(draws, largest))
    slack = math.sqrt(math.log(2 / as_inner_share("gamma", gamma)) / (2 * counts.size))
    share = 1 - (as_inner_share("delta", delta) - slack)
    if share >= 1:
        return largest
    rank = math.ceil(share * counts.size * (1 + 1e-12))
    return largest if rank > counts.size else int(counts[rank - 1])


def _quantile(n: int, chance: float, delta: float) -> int:
    quantile = int(stats.binom.isf(delta, n, chance))
    while stats.binom.sf(quantile, n, chance) > delta:
        quantile += 1
    return min(quantile, n)


def _counts(draws: ArrayLike, largest: int) -> Floats:
    counts = np.asarray(draws, dtype=np.float64)
    if counts.ndim != 1 or counts.size < 2:
        raise ValueError(f"draws must have shape (n >= 2,), got {counts.shape}.")
    check_integer(name="largest", value=largest, minimum=0)
    if not np.all((counts >= 0) & (counts <= largest)):
        raise ValueError(f"draws must be counts between 0 and largest={largest}.")
    return counts


def _check(n_rows: int, n_differing: int, batch_size: int, sampling: str) -> tuple[int, int, int]:
    check_choice(name="sampling", value=sampling, allowed=SAMPLINGS)
    n = check_integer(name="n_rows", value=n_rows, minimum=1)
    d = check_integer(name="n_differing", value=n_differing, minimum=0)
    b = check_integer(name="batch_size", value=batch_size, minimum=1)
    if d > n:
        raise ValueError(f"n_differing must be at most n_rows={n}, got {d}.")
    if b > n and sampling != "with-replacement":
        raise ValueError(f"batch_size must be at most n_rows={n}, got {b}.")
    return n, d, b
