"""Slice distances and noise when outputs and directions are only samples of what is meant."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacsklearn.srpp.divergence.renyi_calibration import least_variance

__all__ = [
    "FINITE_SAMPLE_ASSUMPTIONS",
    "dkw_margin",
    "finite_sample_average_variance",
    "finite_sample_joint_variance",
    "upper_slice_distances",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

FINITE_SAMPLE_ASSUMPTIONS = (
    "the data sets of a secret are independent draws of one law, not chosen by looking at outputs",
    "no two secrets' outputs differ more in their outermost quantiles than in those samples show",
    "no two outputs are farther apart along any slice than the stated largest distance",
)
"""What Theorems 4.7 and 4.8 of srpp need, for a guarantee's text."""


def dkw_margin(n: int, failure: float) -> float:
    """Distance within which an empirical distribution function stays of the true one.

    Parameters
    ----------
    n : int
        Independent draws.
    failure : float
        Probability with which it does not.

    Notes
    -----
    Inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant.
    """
    return math.sqrt(math.log(2 / failure) / (2 * n))


def upper_slice_distances(
    X: Floats,
    Y: Floats,
    directions: Floats,
    failure: float,
    *,
    known: tuple[bool, bool] = (False, False),
) -> Floats:
    """Upper confidence bounds on the distances of two laws along each slice, all at once.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    Y : ndarray of shape (m, d)
        Independent draws of either law.
    directions : ndarray of shape (n_slices, d)
    failure : float
        Probability that any of the bounds fails, given the assumptions.
    known : (bool, bool)
        Whether a sample is the law itself, as a single data set is.

    Returns
    -------
    ndarray of shape (n_slices,)

    Raises
    ------
    ValueError
        When there are too few draws for the confidence that is asked for.

    Notes
    -----
    The largest difference of quantiles over the range that the samples show, each moved outwards
    by its margin, in both directions (srpp, section 4.3.2 has one). The union bound over slices
    and both samples is included. Quantiles within the margin of 0 and 1 are not seen, so that an
    assumption about them is needed: see :data:`FINITE_SAMPLE_ASSUMPTIONS`.
    """
    share = failure / (2 * directions.shape[0])
    e, f = (
        0.0 if exact else dkw_margin(sample.shape[0], share)
        for sample, exact in zip((X, Y), known, strict=True)
    )
    margin = max(e, f)
    if margin >= 0.5:
        needed = math.ceil(2 * math.log(2 / share)) + 1
        raise ValueError(
            f"For a confidence of {1 - failure:.6g} along {directions.shape[0]} slices at least "
            f"{needed} draws of each law are needed, got {X.shape[0]} and {Y.shape[0]}; draw more "
            "data sets, or use fewer slices."
        )
    left, right = np.sort(directions @ X.T, axis=1), np.sort(directions @ Y.T, axis=1)
    times = _times(X.shape[0], Y.shape[0], e, f, margin)
    high, low = _quantile(times + e, X.shape[0]), _quantile(times - f, Y.shape[0])
    first = np.abs(left[:, high] - right[:, low]).max(axis=1)
    high, low = _quantile(times + f, Y.shape[0]), _quantile(times - e, X.shape[0])
    return np.asarray(np.maximum(first, np.abs(right[:, high] - left[:, low]).max(axis=1)))


def finite_sample_average_variance(
    distances: Floats, order: float, epsilon: float, gamma: float, largest: float
) -> float:
    """Variance for a mean over a continuous slice distribution, with confidence ``1 - gamma``.

    Parameters
    ----------
    distances : ndarray of shape (n_slices,)
        Upper bounds along independent directions, all valid with probability ``1 - gamma / 2``.
    order, epsilon : float
        Renyi order and allowed divergence.
    gamma : float
        Probability of failure.
    largest : float
        Bound on every distance, known beforehand.

    Notes
    -----
    Source: srpp, Theorem 4.7.
    """
    _check_largest(distances, largest)
    mean = float(np.mean(distances**2)) + largest**2 * _hoeffding(distances.size, gamma)
    return order / (2 * epsilon) * mean


def finite_sample_joint_variance(
    distances: Floats, order: float, epsilon: float, gamma: float, largest: float
) -> float:
    """Variance for a log-moment over a continuous slice distribution; as above.

    Source: srpp, Theorem 4.8. Never above the variance for ``largest`` along every slice.
    """
    _check_largest(distances, largest)
    margin = _hoeffding(distances.size, gamma)

    def cost(variance: float) -> float:
        rate = order * (order - 1) / (2 * variance)
        # ln(mean exp(a_l) + (exp(b) - 1) margin), with b above every a_l.
        top = rate * largest**2
        moments = float(np.mean(np.exp(rate * distances**2 - top)))
        inside = moments - math.expm1(-top) * margin
        return (top + math.log(inside)) / (order - 1)

    high = order * largest**2 / (2 * epsilon)
    # With a margin above 1 the moment bound is no bound any more; the range is.
    while cost(high) > epsilon:
        high *= 1 + margin
    low = order * float(np.mean(distances**2)) / (2 * epsilon)
    return min(
        least_variance(cost, epsilon, max(low, high * 1e-12), high),
        order * largest**2 / (2 * epsilon),
    )


def _hoeffding(n: int, gamma: float) -> float:
    return math.sqrt(math.log(4 / gamma) / (2 * n))


def _check_largest(distances: Floats, largest: float) -> None:
    if not distances.max(initial=0.0) <= largest:
        raise ValueError(
            f"largest must bound every distance along a slice, got {largest!r}, and one of the "
            "upper bounds is above it; state a larger one."
        )


def _times(n: int, m: int, e: float, f: float, margin: float) -> Floats:
    """A time in every piece on which all four quantiles are constant, its ends included."""
    steps = [
        np.arange(n + 1) / n - e,
        np.arange(n + 1) / n + e,
        np.arange(m + 1) / m - f,
        np.arange(m + 1) / m + f,
    ]
    ends = np.unique(np.clip(np.concatenate(steps), margin, 1 - margin))
    middles = (ends[:-1] + ends[1:]) / 2
    return np.concatenate([ends, middles])


def _quantile(times: Floats, n: int) -> Indices:
    return np.clip(np.ceil(times * n - 1e-9).astype(np.int64) - 1, 0, n - 1)
