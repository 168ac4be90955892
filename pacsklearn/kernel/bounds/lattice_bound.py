"""Principal axes of the outputs, the least noise along them, and what integers reveal under it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.rounding import OUTWARD


def logdet_allocation(signal: Floats, budget: float) -> Floats:
    """Choose the noise ``e`` of least sum with ``1/2 sum ln(1 + v_i/e_i) = budget``.

    Parameters
    ----------
    signal : ndarray of shape (k,)
        Positive variances ``v`` of the signal.
    budget : float
        Nats.

    Returns
    -------
    ndarray of shape (k,)

    Notes
    -----
    The Lagrange condition is ``e_i (e_i + v_i) = t v_i / 2``, hence with ``x = v_i / t``:
    ``v_i / e_i = x + sqrt(x (x + 2))``, and ``t`` solves a decreasing scalar equation. Source:
    residual-pac, equation 2 and Proposition 2.

    Examples
    --------
    >>> import numpy as np
    >>> float(logdet_allocation(np.array([1.0]), np.log(2.0) / 2)[0])
    1.0
    """
    largest = float(np.max(signal))
    relative = signal / largest

    def ratios(log_t: float) -> Floats:
        x = relative * np.exp(-log_t)
        return np.asarray(x + np.sqrt(x * (x + 2)))

    def excess(log_t: float) -> float:
        return float(0.5 * np.sum(np.log1p(ratios(log_t))) - budget)

    # Exact for small budgets, where ln(1 + x + sqrt(x (x + 2))) is sqrt(2 x).
    guess = 2 * float(np.log(np.sum(np.sqrt(2 * relative)) / (2 * budget)))
    low, high = guess - 1.0, guess + 1.0
    while excess(low) < 0:
        low -= max(1.0, budget)
    while excess(high) > 0:
        high += 1.0
    # The excess falls as t grows, so the enclosed root is the only one (Lagrange condition).
    root = brentq(excess, low, high, xtol=1e-14, rtol=1e-14)
    return np.asarray(signal / ratios(root))


class SpanCoordinates(NamedTuple):
    """Uncorrelated coordinates of m points, most variable first.

    Attributes
    ----------
    coordinates : ndarray of shape (m, k)
        The points' coordinates along the principal axes of their weighted covariance.
    variances : ndarray of shape (k,)
        Eigenvalues of the weighted covariance, decreasing, all positive.
    mixing : ndarray of shape (k, m)
        ``mixing @ rows`` are the principal axes. Applied to any other centred linear description
        of the same points it gives the axes there, by weighted least squares.
    """

    coordinates: Floats
    variances: Floats
    mixing: Floats


def span_coordinates(rows: Floats, weights: Floats) -> SpanCoordinates:
    """Return the principal coordinates of centred ``rows`` without a d x d matrix.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
        Points with weighted mean zero.
    weights : ndarray of shape (m,)
        Non-negative, summing to one.

    Returns
    -------
    SpanCoordinates
        With ``k <= min(m - 1, d)`` axes; ``k = 0`` when all points coincide.

    Notes
    -----
    Costs O(m^2 d) time and a few copies of ``rows``.

    Examples
    --------
    >>> import numpy as np
    >>> span = span_coordinates(np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([0.5, 0.5]))
    >>> span.variances
    array([2.])
    """
    m, d = rows.shape
    # Rows times the roots of their weights: the Gram matrix is the weighted covariance.
    root_weights = np.sqrt(weights)
    scaled = root_weights[:, None] * rows
    # A triangle has the left singular vectors of the whole: the right ones are never formed.
    square = np.asarray(np.linalg.qr(scaled.T, mode="r")).T if d > m else scaled
    left, singular, _ = np.linalg.svd(square, full_matrices=False)
    largest = singular[0] if singular.size else 0.0
    # What is this small beside the largest is rounding of it.
    keep = singular > max(m, d) * float(np.finfo(np.float64).eps) * largest
    # Centred rows span at most m - 1 directions; what is beyond is rounding.
    keep[min(m - 1, d) :] = False
    left, singular = left[:, keep], singular[keep]
    mixing = (left / singular).T * root_weights
    coordinates = np.empty((m, singular.size))
    likely = weights > 1e-150
    coordinates[likely] = (left * singular)[likely] / root_weights[likely, None]
    if not likely.all():
        coordinates[~likely] = rows[~likely] @ (rows.T @ mixing.T)
    # A deviation may be positive where its square vanishes: the candidates still differ there. A
    # variance stated too large asks for more noise, and the bound is that of the integers.
    variances = np.maximum(singular**2, np.finfo(np.float64).tiny)
    return SpanCoordinates(coordinates, variances, mixing)


_LEAST_SIGMA = 2**10


def linear_bound(centres: ArrayLike, weights: ArrayLike, sigma: int) -> float:
    """Bound the mutual information by the mean squared distance from an integer centre.

    For ``W = z[s] + noise``, independent discrete Gaussians of parameter ``sigma``:
    ``I(s; W) <= sum_i E (z_i - c_i)^2 / (2 sigma^2)``, with ``c_i`` the integer nearest the mean.

    Parameters
    ----------
    centres : array-like of int, shape (m, k)
        Integer output of every candidate; entries below 2**61 in absolute value.
    weights : array-like of shape (m,)
        Current weights of the candidates, non-negative, summing to one.
    sigma : int
        Parameter of the discrete Gaussian, at least 2**10.

    Returns
    -------
    float
        Nats, an upper bound in spite of rounding; 0.0 when all candidates of positive weight agree.

    Raises
    ------
    TypeError, ValueError
        If the centres are not integers, or an argument has the wrong shape or range.

    Notes
    -----
    ``I(s; W) <= E KL(law of W given s || Q)`` for any fixed Q. With Q the discrete Gaussian around
    the integers c, the divergence is that of a shift by an integer a, which is exactly
    ``a^2 / (2 sigma^2)``: the normalisers agree and the noise has mean zero. A weight of exactly
    zero counts as impossible; one that underflowed on its way from log space contributes less
    than 1e-200 nats.

    Examples
    --------
    >>> from pacsklearn.bounds import linear_bound
    >>> round(linear_bound([[0], [1024]], [0.5, 0.5], 1024), 6)
    0.125
    """
    z, p, sigma = _check(centres, weights, sigma)
    # E KL(law given s || Q) with Q around an integer: each term is that of a shift by an integer.
    # Any fixed Q bounds I(s; W): the integer nearest the mean makes it nearly the least.
    distances = _centred(z, p) / sigma
    distances *= distances
    return float(0.5 * np.sum(p * np.sum(distances, axis=1))) * OUTWARD


def logdet_bound(centres: ArrayLike, weights: ArrayLike, sigma: int) -> float:
    """Bound the mutual information by the entropy that the variances allow.

    For ``W = z[s] + noise``, independent discrete Gaussians of parameter ``sigma``:
    ``I(s; W) <= sum_i 1/2 ln(1 + (v_i + 1/12) / sigma^2)``, ``v_i`` the variance of ``z_i`` under
    the weights, over the coordinates on which the candidates differ.

    Parameters
    ----------
    centres : array-like of int, shape (m, k)
        Integer output of every candidate; entries below 2**61 in absolute value.
    weights : array-like of shape (m,)
        Current weights of the candidates, non-negative, summing to one.
    sigma : int
        Parameter of the discrete Gaussian, at least 2**10.

    Returns
    -------
    float
        Nats, an upper bound in spite of rounding; 0.0 when all candidates of positive weight agree.

    Raises
    ------
    TypeError, ValueError
        If the centres are not integers, or an argument has the wrong shape or range.

    Notes
    -----
    1. ``I(s; W) = H(W) - H(noise) <= sum_i [H(W_i) - H(N_i)]``. Coordinates that are constant are
       independent of everything and drop out.
    2. Add a uniform variable on (-1/2, 1/2) to an integer variable of variance v: its differential
       entropy equals the integer's entropy and its variance is v + 1/12, so the entropy is at most
       ``1/2 ln(2 pi e (v + 1/12))``.
    3. The noise has weights ``exp(-x^2 / (2 s)) / Z`` with ``s = sigma^2``. Poisson summation gives
       ``Z = sqrt(2 pi s) theta``, ``theta = 1 + 2 sum_j exp(-2 pi^2 s j^2) >= 1``. Differentiating
       ``ln Z``, ``E x^2 = 2 s^2 (ln Z)' = s (1 - delta)`` with
       ``0 < delta = -2 s theta' / theta <= 8 pi^2 s sum_j j^2 exp(-2 pi^2 s j^2)``.
    4. So the variance of the noise is at most sigma^2 and its entropy
       ``ln Z + E x^2 / (2 s) >= 1/2 ln(2 pi e sigma^2) - delta / 2``. For ``sigma >= 2**10`` delta
       is below ``exp(-2e7)``, far below 1e-300, and the outward factor of 1 + 1e-12 on a term of
       at least ``ln(1 + 1 / (12 sigma^2)) / 2`` covers it.

    Source of the continuous formula: residual-pac, equation 2.

    Examples
    --------
    >>> from pacsklearn.bounds import logdet_bound
    >>> round(logdet_bound([[-1024], [1024]], [0.5, 0.5], 1024), 6)
    0.346574
    """
    z, p, sigma = _check(centres, weights, sigma)
    offsets = _centred(z, p)
    # Any centre gives at least the variance, so the rounding of the mean is on the safe side.
    offsets -= p @ offsets
    offsets /= sigma
    offsets *= offsets
    # Step 1: coordinates on which all possible candidates agree are independent of everything.
    differs = np.any(z[p > 0.0] != z[np.argmax(p)], axis=0)
    variances = np.sum(p[:, None] * offsets, axis=0)[differs]
    # Steps 2 to 4: entropy of the Gaussian at variance v + 1/12, less that of the noise.
    return float(0.5 * np.sum(np.log1p(variances + 1.0 / (12.0 * sigma**2)))) * OUTWARD


def _centred(z: NDArray[np.int64], p: Floats) -> Floats:
    """Return the distances from the integer nearest the weighted mean, subtracted exactly."""
    # Subtracted as integers: centres beyond 2**53 would lose close candidates as doubles.
    offsets = z - z[np.argmax(p)]
    nearest = np.rint(p @ offsets.astype(np.float64)).astype(np.int64)
    distances: Floats = (offsets - nearest).astype(np.float64)
    return distances


def _check(
    centres: ArrayLike, weights: ArrayLike, sigma: int
) -> tuple[NDArray[np.int64], Floats, int]:
    sigma = check_integer(name="sigma", value=sigma, minimum=_LEAST_SIGMA)
    z = np.asarray(centres)
    if not np.issubdtype(z.dtype, np.signedinteger):
        raise TypeError(f"centres must hold signed integers, got dtype {z.dtype}.")
    if z.ndim != 2 or z.shape[0] == 0:
        raise ValueError(f"centres must have shape (m, k) with m >= 1, got {z.shape}.")
    if z.size and (z.min() <= -(2**61) or z.max() >= 2**61):
        raise ValueError("centres must be below 2**61 in absolute value; use a coarser grid.")
    p = np.asarray(weights, dtype=np.float64)
    if p.shape != z.shape[:1]:
        raise ValueError(
            f"weights must have one entry for each of the {z.shape[0]} candidates, got shape "
            f"{p.shape}."
        )
    # A bound under weights that are no probabilities would be one of nothing.
    total = float(np.sum(p))
    if not np.all(p >= 0.0) or not abs(total - 1.0) <= 1e-9:
        raise ValueError(f"weights must be non-negative and sum to one, got a sum of {total!r}.")
    return z.astype(np.int64), p / total, sigma
