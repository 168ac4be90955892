"""Success of the optimal adversary at sets of candidates, bounded in closed form: no draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mixture import GaussianMixture

# Entries of a table that stays in the cache.
_CELLS = 2**18
# How much wider than the mixture the reference is, in its own directions; the least bound at one
# nat, and below it hardly matters.
_WIDER = 2.0
# Sets for each candidate from which on eigenvectors are cheaper than the form itself.
_FEW = 8
# Eigenvectors with less of the trace but for the largest, for each candidate, are bounded together.
_LEAST_SHARE = 2.0**-9
# exp() of more overflows.
_LARGEST_LOG = 700.0


def overlap_success(mixture: GaussianMixture, sets: NDArray[np.bool_]) -> Floats:
    """Return upper bounds on ``1/2 + E|P(set | y) - 1/2|``, with certainty.

    Parameters
    ----------
    mixture : GaussianMixture
    sets : ndarray of bool, shape (t, m)
        Candidates of each set.

    Returns
    -------
    ndarray of shape (t,)
        At most 1; rounded outward.

    Notes
    -----
    Let ``g = sum_j e_j p_j f_j`` with ``f_j`` the density of candidate j's release and ``e_j`` 1
    inside the set, -1 outside. Then ``2 E|P(set | y) - 1/2|`` is the integral of ``|g|``, and by
    Cauchy and Schwarz its square is at most the integral of ``g^2 / q``, for any density ``q``:
    that is ``(e p)' K (e p)`` with ``K_ij`` the integral of ``f_i f_j / q``. For a normal ``q``
    around the mean, with variance ``s`` along a direction of the candidates' covariance, ``K_ij``
    is the product over the directions of

        s / sqrt(2 s - 1) exp((2 s a b - (s - 1)(a^2 + b^2)) / (4 s - 2)),

    ``a`` and ``b`` the signals of both. Candidates in different neighbourhoods are integrated apart
    (triangle inequality), each with a ``q`` of its own, so that no far one widens another's.

    A logarithm of ``K_ij`` is off by less than ``(k + 8) 2^-50`` times the largest sum of absolute
    values that enter one; to the quadratic form is added what that may make of it, and
    ``m^2 2^-50`` of the sum of its absolute values for the products. Of many sets each is
    multiplied with the wide eigenvectors of the form alone, in single precision
    (:func:`wide_factors`).
    """
    whole = np.zeros(len(sets))
    for here, table, error in _overlaps(mixture):
        weights = mixture.weights[here]
        if not np.all(np.isfinite(table)):
            whole += weights.sum()  # the integral of |g| is at most that of its parts
            continue
        own = weights[:, None] * table * weights
        # p' |K| p times the error bounds that of any signs.
        outward = (error + here.size**2 * 2.0**-50) * float(own.sum())
        factors, rest, wrong = wide_factors(own, len(sets))
        step = max(1, _CELLS // here.size)
        for start in range(0, len(sets), step):
            some = sets[start : start + step]
            signs = (some if here.size == some.shape[1] else some[:, here]).astype(factors.dtype)
            signs -= 0.5
            with np.errstate(over="ignore", invalid="ignore"):
                part = signs @ factors
                squares = np.einsum("ij,ij->i", part, signs if factors is own else part)
                squares = 4 * squares.astype(np.float64)
                roots = np.sqrt(np.maximum(squares * (1 + wrong) + (rest + outward), 0.0))
            # What overflows bounds nothing, and is left out.
            whole[start : start + step] += np.fmin(roots * (1 + 1e-12), weights.sum())
    return np.minimum(0.5 + whole / 2 * (1 + 1e-12), 1.0)


def _overlaps(mixture: GaussianMixture) -> Iterator[tuple[NDArray[np.intp], Floats, float]]:
    """Yield each neighbourhood's candidates, integrals, and largest error of a logarithm."""
    leaders, home, _ = mixture.neighbourhoods
    for place, leader in enumerate(leaders):
        here = np.flatnonzero(home == place)
        signals = mixture.seen_from(int(leader), here)
        weights = mixture.weights[here]
        signals = signals - (weights / weights.sum()) @ signals
        covariance = signals.T @ (weights[:, None] / weights.sum() * signals)
        values, vectors = np.linalg.eigh(covariance)
        signals, variances = signals @ vectors, 1 + _WIDER * np.maximum(values, 0.0)
        ratios = 2 * variances - 1
        halves = (signals**2) @ ((variances - 1) / (2 * ratios))
        crossed = (signals * (variances / ratios)) @ signals.T
        constant = float(np.log(variances / np.sqrt(ratios)).sum())
        logs = crossed - halves[:, None] - halves + constant
        # Of |a b| s / (2 s - 1) at most a^2 and b^2 in the mean, and of both halves no more.
        reach = 2 * float(np.max(np.einsum("ij,ij->i", signals, signals))) + constant
        error = float(np.expm1(min((signals.shape[1] + 8) * 2.0**-50 * reach, 1.0)))
        with np.errstate(over="ignore"):
            yield here, np.where(logs < _LARGEST_LOG, np.exp(logs), np.inf), error


def wide_factors(own: Floats, n_sets: int) -> tuple[Any, float, float]:
    """Return what is multiplied with the signs of each set, and what this leaves out of a form.

    Parameters
    ----------
    own : ndarray of shape (m, m)
        Positive semidefinite.
    n_sets : int
        How many sets the form is taken at, by signs or by ones and zeros.

    Returns
    -------
    factors : ndarray of shape (m, r)
        The form itself where sets are few, of which eigenvectors would cost more.
    rest : float
        At most so much is left out: ``m`` times the largest eigenvalue that is not multiplied, and
        what rounding may take away beside what is relative to the rest.
    wrong : float
        Relative error of the squares.

    Notes
    -----
    With ``u = 2^-24``, factors ``F`` and their rounding, a product of ``m`` signs with a column is
    off by ``(m + 2) u`` times the column's sum of absolute values, and these errors have a length
    of ``d = (m + 2) u sqrt(m) |F|`` at most. A length ``l`` is seen as at least ``l - d``, so its
    square is at most ``(1 + c)`` of what is seen and ``(1 + 1 / c) d^2`` more, here for ``c`` a
    thousandth; sums of ``r`` squares are off by ``(r + 2) u``. What is too small for single
    precision adds less than ``m sqrt(r) 2^-125`` to ``d``, and ``r 2^-125`` to the squares.
    """
    m, unit = len(own), 2.0**-24
    if n_sets <= _FEW * m:
        return own, 0.0, 0.0
    values, vectors = np.linalg.eigh(own)
    wide = values > values[:-1].sum() * _LEAST_SHARE / m
    factors = vectors[:, wide] * np.sqrt(values[wide])
    missed = (m + 2) * unit * math.sqrt(m) * float(np.linalg.norm(factors)) + m**1.5 * 2.0**-125
    rest = m * float(np.max(values[~wide], initial=0.0)) + (1 + 2.0**10) * missed**2
    rest += m * 2.0**-125
    with np.errstate(over="ignore"):
        single = factors.astype(np.float32)
    return single, rest, (1 + 2.0**-10) * (1 + 2 * (m + 2) * unit) - 1
