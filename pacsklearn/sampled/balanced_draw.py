"""One subset drawn from all balanced ones: the draw, its entropy, and what knowing some tells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.bounds.arrays import Floats


def draw_balanced(
    keys: NDArray[np.uint64], coins: ArrayLike, strata: NDArray[np.int64], rate: float
) -> NDArray[np.bool_]:
    """Draw a subset that holds the floor or the ceiling of ``rate * n`` units of each stratum.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n_units,)
        Independent and uniform.
    coins : array-like of shape (n_strata,)
        Independent and uniform in [0, 1).
    strata : ndarray of int64, shape (n_units,)
        Stratum of each unit, from 0 to ``n_strata - 1``.
    rate : float

    Returns
    -------
    ndarray of bool, shape (n_units,)
        Every subset of these sizes is equally likely, up to ties of the keys (below
        ``n**2 * 2**-65``), and every unit is in with probability ``rate``.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.sampled.balanced_draw import draw_balanced
    >>> keys = np.array([5, 1, 9, 3, 7], dtype=np.uint64)
    >>> draw_balanced(keys, [0.9], np.zeros(5, dtype=np.int64), 0.4).tolist()
    [False, True, False, True, False]
    """
    throws = np.asarray(coins, dtype=np.float64)
    counts = np.bincount(strata, minlength=throws.size)
    held = np.floor(rate * counts)
    more = rate * counts - held
    held += (more > 0) & (throws >= 1.0 - more)
    order = np.lexsort((keys, strata))
    rank = np.empty(strata.size, dtype=np.int64)
    rank[order] = np.arange(strata.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(rank < held[strata])


def balanced_draw_entropy(counts: ArrayLike, rate: float) -> tuple[float, float]:
    """Return the entropy of the drawn subset, and minus the log of the largest probability.

    Parameters
    ----------
    counts : array-like of int, shape (n_strata,)
        Units of each stratum.
    rate : float
    """
    total, least = 0.0, 0.0
    for n, times in _tallied(counts):
        each = [(share, _log_choose(n, size)) for size, share in _sizes(n, rate)]
        total += times * sum(share * (ways - math.log(share)) for share, ways in each)
        least += times * min(ways - math.log(share) for share, ways in each)
    return total, least


def known_units_success(counts: ArrayLike, rate: float, *, most: int = 7) -> tuple[Floats, Floats]:
    """Return success at other units' memberships of one who knows some and how subsets are drawn.

    Parameters
    ----------
    counts : array-like of int, shape (n_strata,)
        Units of each stratum.
    rate : float
    most : int, default=7
        Largest number k of known units.

    Returns
    -------
    uniform, worst : ndarray of shape (most + 1,)
        Entry k: the average success over the secret and over other units, when k units drawn
        uniformly are known; and the success at the worst unit, for the k units that tell most
        about it. 1 where nobody else is left.

    Notes
    -----
    Exact. A known unit tells about its own stratum only, where sizes are fixed up to one: of a
    stratum of n units it moves the others' probability by about ``1 / n``.

    Examples
    --------
    >>> from pacsklearn.sampled.balanced_draw import known_units_success
    >>> [round(float(x), 6) for x in known_units_success([4], 0.5, most=1)[0]]
    [0.5, 0.666667]
    """
    tallied = _tallied(counts)
    n_all = sum(n * times for n, times in tallied)
    inside = [[_success(n, rate, j) for j in range(most + 1)] for n, _ in tallied]
    uniform, worst = np.ones(most + 1), np.ones(most + 1)
    for k in range(min(most, n_all - 1) + 1):
        # Units of other strata tell nothing, and of its own there may be fewer.
        worst[k] = max(own[min(k, n - 1)] for (n, _), own in zip(tallied, inside, strict=True))
        averages = (
            n
            * times
            * math.fsum(_hypergeometric(n_all - 1, n - 1, k, j) * own[j] for j in range(k + 1))
            for (n, times), own in zip(tallied, inside, strict=True)
        )
        uniform[k] = min(math.fsum(averages) / n_all, 1.0)
    return uniform, worst


def _tallied(counts: ArrayLike) -> list[tuple[int, int]]:
    """Return the sizes of strata, and how many have each: of blocks there are many alike."""
    sizes, times = np.unique(np.asarray(counts, dtype=np.int64), return_counts=True)
    return list(zip(sizes.tolist(), times.tolist(), strict=True))


def _sizes(n: int, rate: float) -> list[tuple[int, float]]:
    """Return how many of a stratum's units are drawn, and how likely so many are."""
    low = math.floor(rate * n)
    more = rate * n - low
    return [(low, 1.0 - more), (low + 1, more)] if more > 0 else [(low, 1.0)]


def _success(n: int, rate: float, k: int) -> float:
    """Return the success at one more unit of a stratum of n, knowing k of it."""
    if k >= n:
        return 1.0
    right = []
    for j in range(k + 1):
        one = sum(share * _pattern(n, size, j + 1, k - j) for size, share in _sizes(n, rate))
        other = sum(share * _pattern(n, size, j, k - j + 1) for size, share in _sizes(n, rate))
        right.append(math.comb(k, j) * max(one, other))
    return min(math.fsum(right), 1.0)


def _pattern(n: int, size: int, ins: int, outs: int) -> float:
    """Return probability that given units are in, and others out, of a subset of ``size`` of n."""
    first = math.prod(max(size - i, 0) / (n - i) for i in range(ins))
    return math.prod((max(n - size - i, 0) / (n - ins - i) for i in range(outs)), start=first)


def _hypergeometric(n: int, marked: int, drawn: int, j: int) -> float:
    """Return the probability of j marked ones among so many drawn."""
    return math.comb(drawn, j) * _pattern(n, marked, j, drawn - j)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
