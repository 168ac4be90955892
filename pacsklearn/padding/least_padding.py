"""The least padding that hides integers which only grow; information of a finite channel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn._validation import as_nats
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.rounding import OUTWARD


def channel_information(weights: ArrayLike, channel: ArrayLike) -> float:
    """Return the mutual information between what goes into a channel and what comes out.

    Parameters
    ----------
    weights : array-like of shape (n,)
        Probabilities of the inputs, summing to one.
    channel : array-like of shape (n, w)
        Probabilities of the outputs for each input; rows sum to one.

    Returns
    -------
    float
        Nats, rounded outward; 0.0 when all inputs of positive weight have the same row.

    Notes
    -----
    With ``x`` the ratio of an output's probability given the input to its probability overall,
    the terms ``x ln x - x + 1`` are non-negative and sum to the same, without cancellation.

    Examples
    --------
    >>> from pacsklearn.bounds import channel_information
    >>> round(channel_information([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]]), 6)
    0.693147
    """
    p, rows = np.asarray(weights, dtype=np.float64), np.asarray(channel, dtype=np.float64)
    if rows.ndim != 2 or p.shape != rows.shape[:1] or rows.size == 0:
        raise ValueError(
            "channel must have one row for each of the weights, got shapes "
            f"{p.shape} and {rows.shape}."
        )
    if not (
        np.all(p >= 0.0)
        and np.all(rows >= 0.0)
        and abs(float(p.sum()) - 1.0) <= 1e-9
        and np.all(np.abs(rows.sum(axis=1) - 1.0) <= 1e-9)
    ):
        raise ValueError("weights and every row of channel must be >= 0 and sum to one.")
    possible = p > 0.0
    p, rows = p[possible] / p.sum(), rows[possible]
    rows = rows[:, np.any(rows > 0.0, axis=0)]
    # Differences to one row: exactly zero where all agree, whatever the rounding of the mean.
    base = rows[np.argmax(p)]
    overall = base + p @ (rows - base)
    # Subnormal probabilities count as the smallest normal one: far below the outward factor.
    overall = np.maximum(overall, np.finfo(np.float64).tiny)
    x = (rows - overall) / overall
    d = np.clip(x, -1e-3, 1e-3)
    series = d * d * (1 / 2 - d * (1 / 6 - d * (1 / 12 - d / 20)))
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.log1p(np.where(np.abs(x) < 0.5, x, 0.0))
        ratio = np.where(np.abs(x) < 0.5, near, np.log(rows) - np.log(overall))
        logs = np.where(rows > 0.0, rows * ratio, 0.0)
    exact = logs - (rows - overall)
    terms = np.where(np.abs(x) < 1e-3, overall * series, exact)
    return float(np.sum(p @ np.maximum(terms, 0.0))) * OUTWARD


Integers = NDArray[np.int64]

RESOLUTION = 2**52
"""Probabilities of a padding are multiples of one over this, so that they are doubles exactly."""

_MOST_LEVELS = 256
_SWEEPS = 150
_FLOOR = 1e-250


class Padding(NamedTuple):
    """Random map from values to values at least as large.

    Attributes
    ----------
    values : ndarray of int64, shape (n,)
        What goes in, increasing.
    levels : ndarray of int64, shape (w,)
        What comes out, increasing.
    counts : ndarray of int64, shape (n, w)
        Probability of each level, in multiples of ``1 / RESOLUTION``; zero below the value.
    information : float
        Mutual information between value and level, in nats, rounded outward.
    expected, mean_square : float
        Means of level minus value and of its square.
    method : str
        ``"none"``, ``"buckets"`` or ``"rate-distortion"``.
    """

    values: Integers
    levels: Integers
    counts: Integers
    information: float
    expected: float
    mean_square: float
    method: str


def least_padding(values: ArrayLike, weights: ArrayLike, budget: float) -> Padding:
    """Return the padding of the least mean among random maps that reveal at most ``budget``.

    Parameters
    ----------
    values : array-like of int, shape (n,)
        Distinct.
    weights : array-like of shape (n,)
        Their probabilities.
    budget : float
        Nats, at least 0.

    Returns
    -------
    Padding
        Its ``information`` is that of the probabilities that are drawn from, and at most
        ``budget``; its mean is within the tolerance of the iteration of the least possible. The
        cheaper of it and :func:`bucket_padding`.

    Notes
    -----
    Minimising ``E (level - value)`` subject to ``level >= value`` and a mutual information is a
    rate-distortion problem; restricting levels to values loses nothing, because the largest value
    not above a level is a function of the level. Solved by Blahut's iteration for a price of
    information and bisection over the price; for more than 256 values the levels are thinned out.
    Probabilities are then rounded to multiples of ``1 / RESOLUTION``, the rest going to the
    largest level, and mixed with constant padding (mutual information is convex in the map) until
    the exact figure fits. Source: Blahut, Computation of channel capacity and rate-distortion
    functions, 1972. The one-sided problem: black-box-privatization.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import least_padding
    >>> padding = least_padding([10, 11, 19], [0.5, 0.25, 0.25], 0.3)
    >>> bool(padding.information <= 0.3), round(padding.expected, 2)
    (True, 1.68)
    """
    z, p = _check(values, weights)
    budget = as_nats("budget", budget)
    if budget >= _entropy(p):
        return _padding(z, z, p, np.diag(np.full(z.size, RESOLUTION)), "none")
    buckets = bucket_padding(z, p, budget)
    levels = _levels(z, p)
    shares = _optimal_shares(z, levels, p, budget)
    top = np.zeros_like(shares)
    top[:, -1] = 1.0
    mixed = 1.0
    for _ in range(200):
        counts = _rational(mixed * shares + (1.0 - mixed) * top)
        padding = _padding(z, levels, p, counts, "rate-distortion")
        if padding.information <= budget:
            return padding if padding.expected < buckets.expected else buckets
        mixed *= min(budget / padding.information, 1.0 - 1e-9)
    return buckets


def bucket_padding(values: ArrayLike, weights: ArrayLike, budget: float) -> Padding:
    """Return deterministic padding: every value is rounded up to the largest of its bucket.

    Parameters
    ----------
    values, weights, budget
        As in :func:`least_padding`.

    Returns
    -------
    Padding
        Of the least mean among the bucketings on the lower convex hull of mean and information;
        one bucket (padding to the maximum) is always among them.

    Notes
    -----
    A deterministic map reveals the entropy of its buckets. For a price of information the best
    contiguous buckets follow from a shortest path over the values, in O(n^2); the price is found
    by bisection.
    """
    z, p = _check(values, weights)
    budget = as_nats("budget", budget)
    n = z.size
    mass = np.concatenate([[0.0], np.cumsum(p)])
    moment = np.concatenate([[0.0], np.cumsum(p * (z - z[0]))])
    # share[i, j] and pad[i, j] of the bucket values[i..j].
    share = np.maximum(mass[None, 1:] - mass[:-1, None], 0.0)
    pad = (z - z[0])[None, :] * share - (moment[None, 1:] - moment[:-1, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.where(share > 0.0, -share * np.log(share), 0.0)

    def best(price: float) -> Padding:
        cost = np.zeros(n + 1)
        start = np.zeros(n, dtype=np.int64)
        for j in range(n):
            ways = cost[: j + 1] + pad[: j + 1, j] + price * surprise[: j + 1, j]
            start[j] = int(np.argmin(ways))
            cost[j + 1] = ways[start[j]]
        counts = np.zeros((n, n), dtype=np.int64)
        j = n - 1
        while j >= 0:
            counts[start[j] : j + 1, j] = RESOLUTION
            j = int(start[j]) - 1
        return _padding(z, z, p, counts, "buckets")

    one = np.zeros((n, n), dtype=np.int64)
    one[:, -1] = RESOLUTION
    chosen = _padding(z, z, p, one, "buckets")
    low, high = 0.0, float(z[-1] - z[0]) / max(budget, 1e-12)
    for _ in range(50):
        price = 0.5 * (low + high)
        padding = best(price)
        if padding.information <= budget:
            high = price
            if padding.expected < chosen.expected:
                chosen = padding
        else:
            low = price
        if high - low <= 1e-6 * high:
            break
    return chosen


def _optimal_shares(z: Integers, levels: Integers, p: Floats, budget: float) -> Floats:
    """Return Blahut's map at the price for which the information is the budget at most."""
    distance = (levels[None, :] - z[:, None]) / float(z[-1] - z[0])
    below, inside = np.zeros_like(distance), 0.0
    below[:, -1] = 1.0
    above, outside = None, math.inf
    marginal = np.full(levels.size, 1.0 / levels.size)
    low, high = math.log(1e-3), math.log(1e9)
    for _ in range(29):
        price = 0.5 * (low + high)
        kernel = np.where(distance >= 0.0, np.exp(-math.exp(price) * np.abs(distance)), 0.0)
        marginal = _marginal(kernel, p, 0.99 * marginal + 0.01 / levels.size)
        shares = _shares(kernel, marginal)
        information = channel_information(p, shares)
        if information <= budget:
            low, below, inside = price, shares, information
        else:
            high, above, outside = price, shares, information
        if budget * (1 - 1e-5) <= information <= budget:
            break
    if above is None or outside == math.inf:
        return below
    # Mutual information is convex in the map: the mixture reveals at most the mixed figures.
    part = (budget - inside) / (outside - inside)
    return (1.0 - part) * below + part * above


def _marginal(kernel: Floats, p: Floats, start: Floats) -> Floats:
    """Return the fixed point of Blahut's iteration, extrapolated (Varadhan and Roland, 2008)."""

    def sweep(marginal: Floats) -> Floats:
        new = marginal * ((p / np.maximum(kernel @ marginal, _FLOOR)) @ kernel)
        return np.asarray(new / new.sum())

    marginal = start
    for _ in range(_SWEEPS):
        first = sweep(marginal)
        second = sweep(first)
        step, bend = first - marginal, second - 2.0 * first + marginal
        size = float(np.linalg.norm(bend))
        if float(np.max(np.abs(step))) < 1e-12 or size == 0.0:
            return second
        stride = min(max(float(np.linalg.norm(step)) / max(size, 1e-100), 1.0), 1e4)
        ahead = marginal + 2.0 * stride * step + stride**2 * bend
        marginal = sweep(np.maximum(ahead, 0.1 * second))
    return marginal


def _shares(kernel: Floats, marginal: Floats) -> Floats:
    joint = kernel * marginal
    total = joint.sum(axis=1, keepdims=True)
    lost = total[:, 0] < _FLOOR
    joint[lost], total[lost] = 0.0, 1.0
    joint[lost, -1] = 1.0
    return np.asarray(joint / total)


def _levels(z: Integers, p: Floats) -> Integers:
    if z.size <= _MOST_LEVELS:
        return z
    half = _MOST_LEVELS // 2
    spread = np.searchsorted(z, np.linspace(z[0], z[-1], half))
    mass = np.searchsorted(np.cumsum(p), np.linspace(0.0, 1.0, half))
    chosen = np.unique(np.clip(np.concatenate([spread, mass, [z.size - 1]]), 0, z.size - 1))
    return np.asarray(z[chosen])


def _rational(shares: Floats) -> Integers:
    counts = np.floor(shares * RESOLUTION).astype(np.int64)
    counts[:, -1] += RESOLUTION - counts.sum(axis=1)
    return np.asarray(counts)


def _padding(z: Integers, levels: Integers, p: Floats, counts: Integers, method: str) -> Padding:
    assert np.all(counts >= 0)
    assert np.all(counts.sum(axis=1) == RESOLUTION)
    shares = counts / RESOLUTION
    gap = np.maximum(levels[None, :] - z[:, None], 0).astype(np.float64)
    expected, square = (float(p @ (shares * gap**power).sum(axis=1)) for power in (1, 2))
    return Padding(z, levels, counts, channel_information(p, shares), expected, square, method)


def _entropy(p: Floats) -> float:
    positive = p[p > 0.0]
    return float(-np.sum(positive * np.log(positive)))


def _check(values: ArrayLike, weights: ArrayLike) -> tuple[Integers, Floats]:
    z, p = np.asarray(values), np.asarray(weights, dtype=np.float64)
    if z.ndim != 1 or z.size == 0 or not np.issubdtype(z.dtype, np.integer):
        raise ValueError(
            f"values must be a vector of integers, got shape {z.shape} and dtype {z.dtype}."
        )
    if p.shape != z.shape or not np.all(p >= 0.0) or not abs(float(p.sum()) - 1.0) <= 1e-9:
        raise ValueError(
            "weights must be one probability for each of the values and sum to one, got shape "
            f"{p.shape}."
        )
    order = np.argsort(z)
    z = z[order].astype(np.int64)
    if np.any(z[1:] == z[:-1]) or z[-1] >= 2**61 or z[0] <= -(2**61):
        raise ValueError("values must be distinct and below 2**61 in absolute value.")
    return z, p[order] / p.sum()
