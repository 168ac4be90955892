"""Success of the optimal adversary at sets of candidates, bounded in closed form: no draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mixture import GaussianMixture

# Entries of a table that stays in the cache.
_CELLS = 2**18
# How much wider than the mixture the reference is, in its own directions; the least bound at one
# nat, and below it hardly matters.
_WIDER = 2.0
# Sets for each candidate from which on single precision pays.
_FEW = 8
# Candidates that are multiplied at once.
_BLOCK = 128
# Directions, or half the candidates, among which are those by which most sets are seen to need no
# closer look; and what all others may change of the worst square.
_DIRECTIONS = 64
_REST = 0.25
# exp() of more overflows.
_LARGEST_LOG = 700.0


@final
class OverlapSuccess:
    """What bounds ``1/2 + E|P(set | y) - 1/2|`` from above, with certainty.

    Parameters
    ----------
    mixture : GaussianMixture
    n_sets : int
        How many will be asked for, at once or a few at a time.

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
    ``m^2 2^-50`` of the sum of its absolute values for the products. One is subtracted from
    ``K_ij``, which is near it, and ``(e p)' (e p)`` added again in doubles: the rest is small,
    and so is what single precision makes of it (:func:`form_bounds`).
    """

    def __init__(self, mixture: GaussianMixture, n_sets: int) -> None:
        self._parts, self._n_sets = list(_neighbourhoods(mixture)), n_sets
        self._shape = mixture.signals.shape

    def of(self, sets: NDArray[np.bool_]) -> Floats:
        """Return a bound for each set, given as its candidates; at most 1, rounded outward."""
        whole = np.zeros(len(sets))
        for here, weights, form, outward in self._parts:
            mass, some = weights.sum(), sets if here.size == sets.shape[1] else sets[:, here]
            with np.errstate(over="ignore", invalid="ignore"):
                squares = (2 * probabilities(some, weights) - mass) ** 2 + outward
                squares += form_bounds(form, some, signed=True, n_sets=self._n_sets)
                roots = np.sqrt(np.maximum(squares, 0.0))
            # What overflows bounds nothing: the integral of |g| is at most that of its parts.
            whole += np.fmin(roots * (1 + 1e-12), mass)
        return np.minimum(0.5 + whole / 2 * (1 + 1e-12), 1.0)

    def screen(self, least: float) -> Callable[[NDArray[np.bool_]], Floats]:
        """Return a bound as :meth:`of`, but a farther one where it is at most ``least``.

        Notes
        -----
        ``p_i K_ij p_j`` is ``N N'``, of low rank, and a rest ``R`` that changes the square of no
        set by more than ``m`` times its largest singular value, which is at most the Frobenius norm
        of ``R``, or the root of that of ``R' R``, or again. Doubles change these by less than
        ``m^1.5 2^-51`` of themselves, and a millionth is added. In single precision,
        ``u = 2^-24``, an entry of ``N' e`` is off by less than ``4 (b + m / b + 4) u`` times the
        sum of the absolute values of N's column, adding blocks of ``b``; all entries together by
        ``d``, and their squares' sum ``c^2``, taken in doubles, by
        ``2 c d + d^2 <= d (1 + c^2) + d^2``. Nothing is won where the rest is most of it.
        """
        (here, weights, form, outward), (m, k) = self._parts[0], self._shape
        square = (2 * least - 1) ** 2
        # The posterior is linear in k numbers, and next, where that pays, in products of two.
        width = max(min(_DIRECTIONS, m // 2), k + 3, min((k + 1) * (k + 3) // 2, m // 8))
        if width > m / 2 or here.size < m:
            return self.of
        # Any N would do, for what it misses is in the rest: its columns span those of a few
        # candidates, once multiplied, which lie near the largest eigenvectors.
        joint = form + np.outer(weights, weights)
        basis, _ = np.linalg.qr(joint @ joint[:, :: m // width])
        values, vectors = np.linalg.eigh(basis.T @ joint @ basis)
        # Beside a closer look each costs less the more candidates there are.
        kept = m**2 * values > 128 * _REST * square
        factor = basis @ (vectors[:, kept] * np.sqrt(values[kept]))
        rest, power = joint - factor @ factor.T, 1
        while (norm := np.linalg.norm(rest) ** (1 / power)) * m > _REST * square and power < 4:
            rest, power = rest.T @ rest, 2 * power
        # N is rounded once, and of 2 N at most twice its absolute values are added: three times,
        # and four with products of errors.
        wrong = (_BLOCK + m / _BLOCK + 4) * 2.0**-22 * np.linalg.norm(np.abs(factor).sum(axis=0))
        beside = float(m * norm * (1 + 1e-6) + 2 * outward + wrong * (1 + wrong))
        if 2 * beside > square:
            return self.of
        near = 2 * factor.astype(np.float32), 1 + float(wrong) + 1e-9, beside
        return partial(self._screened, least, near)

    def _screened(self, least: float, near: _Near, sets: NDArray[np.bool_]) -> Floats:
        twice, slope, beside = near
        # e = 2 a - 1 for the memberships a: N' e = (2 N)' a less the sums of N's columns.
        blocks = (slice(i, i + _BLOCK) for i in range(0, len(twice), _BLOCK))
        signed = sum(probabilities(sets[:, b], twice[b]) for b in blocks) - twice.sum(0, float) / 2
        squares = slope * np.einsum("ij,ij->i", signed, signed) + beside
        bounds = np.asarray(np.minimum(0.5 + np.sqrt(squares) / 2, 1.0))
        # Whatever is left out has a bound that holds, and none that is above the worst.
        if (left := np.flatnonzero(bounds > least)).size:
            bounds[left] = self.of(sets[left])
        return bounds


# A neighbourhood's candidates, weights, p_i (K_ij - 1) p_j, and error of the form.
_Part = tuple[NDArray[np.intp], Floats, Floats, float]
# Twice N, what the square is multiplied with, and what is added to it.
_Near = tuple[NDArray[np.float32], float, float]


def _neighbourhoods(mixture: GaussianMixture) -> Iterator[_Part]:
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
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = np.where(logs < _LARGEST_LOG, np.expm1(logs), np.inf)
            form = weights[:, None] * beyond * weights
            # p' |K| p times the error bounds that of any signs.
            whole = float(form.sum()) + float(weights.sum()) ** 2
            yield here, weights, form, (error + here.size**2 * 2.0**-50) * whole


def probabilities(sets: NDArray[np.bool_], weights: NDArray[Any]) -> NDArray[Any]:
    """Return what the members of each set weigh."""
    step, kind = max(1, _CELLS // len(weights)), weights.dtype  # turned into it a few at a time
    parts = (sets[i : i + step].astype(kind) @ weights for i in range(0, len(sets), step))
    return np.concatenate(list(parts))


def form_bounds(form: Floats, sets: NDArray[np.bool_], *, signed: bool, n_sets: int) -> Floats:
    """Return ``v' form v`` for the vector of each set, or a little more, never less.

    Parameters
    ----------
    form : ndarray of shape (m, m)
        Symmetric.
    sets : ndarray of bool, shape (t, m)
    signed : bool
        Whether ``v`` is 1 inside of a set and -1 outside, instead of 1 and 0.
    n_sets : int
        How many there are in all: many are multiplied in single precision.

    Returns
    -------
    ndarray of shape (t,)

    Notes
    -----
    A triangle of blocks is multiplied, twice those beside the diagonal. With ``u`` half the
    precision, numbers are off by ``u`` when rounded, and two sums of ``b`` each, the size of a
    block, by ``b u`` of the sum of absolute values, in whatever order they are added: products
    with -1, 0 and 1 are exact, and the blocks' own sums are added in doubles. ``4 u`` more cover
    products of errors, and ``m^2`` times the smallest number what is too small.
    """
    m = len(form)
    kind: Any = np.float64 if n_sets <= _FEW * m else np.float32
    precision, parts = np.finfo(kind), [slice(i, i + _BLOCK) for i in range(0, m, _BLOCK)]
    rounded = form.astype(kind)
    error = (_BLOCK + 2) * float(precision.eps) * float(np.abs(form).sum())
    error += m**2 * float(precision.smallest_subnormal)
    bounds = np.full(len(sets), error)
    step = max(_BLOCK, _CELLS // m)
    for start in range(0, len(sets), step):
        vectors: NDArray[Any] = sets[start : start + step].astype(kind)
        if signed:
            vectors += vectors - 1
        for i, rows in enumerate(parts):
            for columns in parts[: i + 1]:
                times = 1.0 if rows == columns else 2.0
                product = vectors[:, rows] @ (times * rounded[rows, columns])
                bounds[start : start + step] += np.einsum("ij,ij->i", product, vectors[:, columns])
    return bounds
