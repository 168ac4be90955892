"""What knowing of some units tells about others, whoever releases what."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pacsklearn.kernel.bounds.arrays import Floats

# Enough for a standard error below half a percentage point; the draws of known units decide it.
_DRAWS = 48
_TARGETS = 64
# Units that are known and chosen against a target, and targets that are looked at for many.
_CHOICES = 1024
_WORST = 4
# Pairs of so many units are all looked at.
_PAIRED = 2048
# Of them, so many at once: what is between the products stays in the cache.
_BLOCK = 128
# Candidates of equal weight, times pairs of a row, below 2^24.
_EXACT = 2**13


def known_rows_success(
    members: ArrayLike,
    weights: ArrayLike,
    *,
    most: int = 7,
    seed: int = 0,
    mates: NDArray[np.bool_] | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return success at other units' memberships of one who knows some units' and all candidates.

    Parameters
    ----------
    members : array-like of bool, shape (n_units, m)
        Units whose membership is a secret.
    weights : array-like of shape (m,)
        Prior.
    most : int, default=7
        Largest number k of known units.
    seed : int, default=0
        Public seed of the units that the averages are over.
    mates : ndarray of bool, shape (n_mates, m), optional
        Units that were dealt together: of a small set that all candidates hold evenly, all but one
        tell the last, and each by itself next to nothing.

    Returns
    -------
    uniform, worst, errors : ndarray of shape (most + 1,)
        Entry k: the average success over the secret and over other units, when k units drawn
        uniformly are known; the largest success at one unit that was found, when k units are
        chosen against it; and the standard error of the first, 0 where it is exact.
        Fewer than k other units count as all known: success 1.

    Notes
    -----
    Given the known units, success is exact: the candidates fall into classes that agree on them,
    and in each class the likelier answer is right with its share of the class. Averages over
    uniform units are exact for k = 0, and for k = 1 up to 2,048 units; the others are over 48 draws
    of the known ones and 64 others each, and have a standard error. The worst unit is exact for
    k = 0, and for k = 1 up to 1,024 units, of which known ones are chosen beyond; for larger k each
    known unit is the one that, after those before it, tells most about the target, for the four
    targets that one unit tells most about, and against mates among mates: the largest success is
    at least so large.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.kernel.bounds.known_rows import known_rows_success
    >>> members = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=bool)
    >>> uniform, worst, errors = known_rows_success(members, np.full(4, 0.25), most=2)
    >>> worst.tolist()
    [0.5, 0.5, 1.0]
    """
    # Rule 12: what the worst target loses to one who knows k memberships chosen against it.
    table = np.asarray(members, dtype=bool)
    prior = np.asarray(weights, dtype=np.float64)
    prior = prior / prior.sum()
    n, generator = len(table), np.random.default_rng(seed)
    some = min(n, most + _TARGETS)
    drawn = np.stack([generator.choice(n, some, replace=False) for _ in range(_DRAWS)])
    draws = _drawn(table[drawn], prior, most)
    uniform, errors = draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(_DRAWS)
    inside = np.concatenate([table[i : i + _PAIRED] @ prior for i in range(0, n, _PAIRED)])
    uniform[0], errors[0] = np.maximum(inside, 1 - inside).mean(), 0.0
    if most and 2 <= n <= _PAIRED:
        uniform[1], errors[1] = _of_pairs(table, prior), 0.0
    choices = generator.choice(n, min(n, _CHOICES), replace=False)
    # Of a larger set so few tell next to nothing.
    few = table[:0] if mates is None else mates[: 2 * most]
    return uniform, _worst(table, choices, prior, most, few), errors


def _drawn(tables: NDArray[np.bool_], prior: Floats, most: int) -> Floats:
    """Return average success over the same last units, after each number of first ones (1: none).

    Of several draws of units, shape (n_draws, n_units, m). In a class of candidates that agree,
    success is half the class's mass, and half of how far the masses inside and outside are apart.
    Leaving the last known unit out joins classes in pairs.
    """
    n_draws, n_units, _ = tables.shape
    success = np.ones((n_draws, most + 1))
    top = min(most, n_units - 1)
    codes = np.tensordot(1 << np.arange(top)[::-1], tables[:, :top], axes=(0, 1))
    codes += np.arange(n_draws)[:, None] << top  # no class has candidates of several draws
    unit = float(prior.max())
    weights = (prior / unit).astype(_precision(prior / unit))
    signed = np.where(tables[:, top:], weights, -weights).transpose(0, 2, 1)
    place, ones = (codes.ravel(), np.arange(codes.size)), np.ones(codes.size, weights.dtype)
    joined = sparse.csr_array((ones, place), shape=(n_draws << top, codes.size))
    apart = joined @ signed.reshape(codes.size, -1)
    for k in range(top, -1, -1):
        far = np.abs(apart).reshape(n_draws, -1).sum(axis=1, dtype=np.float64)
        success[:, k] = (1 + far * unit / apart.shape[1]) / 2
        apart = apart[::2] + apart[1::2]
    return success


def _of_pairs(table: NDArray[np.bool_], prior: Floats) -> float:
    """Return the average success at one unit, knowing another, over all ordered pairs of units.

    With signs for memberships, success is half of one and the larger of two numbers: how far the
    signs of both agree or disagree, and how far the target's own are from even.
    """
    unit, n = float(prior.max()), len(table)
    weights = prior / unit
    kind = _precision(weights)
    signs = np.where(table, 1, -1).astype(kind)
    weighed = signs * weights.astype(kind)
    uneven, far = np.abs(weighed.sum(axis=1)), 0.0
    for start in range(0, n, _BLOCK):
        end = start + _BLOCK
        alike = np.abs(weighed[start:end] @ signs[start:].T)
        known_first = np.maximum(alike, uneven[start:]).sum(axis=1)
        known_last = np.maximum(alike[:, _BLOCK:], uneven[start:end, None]).sum(axis=1)
        far += float(known_first.sum(dtype=np.float64) + known_last.sum(dtype=np.float64))
    # A unit is no other one: all of its mass is on the side that is known.
    return float((1 + (far * unit - n) / (n * (n - 1))) / 2)


def _precision(weights: Floats) -> Any:
    """Return the type of sums of signed weights: whole numbers below 2^24 are exact in single."""
    return np.float32 if np.all(weights == 1) and weights.size < _EXACT else np.float64


def _worst(
    table: NDArray[np.bool_],
    choices: NDArray[np.int64],
    prior: Floats,
    most: int,
    mates: NDArray[np.bool_],
) -> Floats:
    """Return the largest success at one unit, by the number of units that are chosen against it."""
    unit, n = float(prior.max()), len(table)
    # In units of the largest weight: sums of equal ones are whole numbers, the same everywhere.
    weights = prior / unit
    signs, parted, uneven = weights.astype(_precision(weights)), np.empty(n), 0.0
    known = np.where(table[choices], 1, -1).astype(signs.dtype).T
    for start in range(0, n, _BLOCK):
        part = slice(start, start + _BLOCK)
        signed = np.where(table[part], signs, -signs)
        # Half of all mass, and half of how far the signs of both agree or disagree.
        agreed = np.abs(signed @ known)
        # A unit is no other one.
        itself = np.flatnonzero((choices >= start) & (choices < start + _BLOCK))
        agreed[choices[itself] - start, itself] = 0
        own = np.abs(signed.sum(axis=1))
        parted[part], uneven = np.maximum(agreed.max(axis=1), own), max(uneven, float(own.max()))
    far = np.full(most + 1, weights.sum())
    far[0] = uneven
    top = min(most, n - 1)
    far[1 : top + 1] = 0.0
    likely = np.argsort(-parted, kind="stable")[:_WORST]
    against = [(table[target], table[choices[choices != target]]) for target in likely]
    against += [(mate, np.delete(mates, i, axis=0)) for i, mate in enumerate(mates)]
    for target, others in against:
        end = min(top, len(others)) + 1
        apart = _against(np.where(target, signs, -signs), others, end - 1)
        far[1:end] = np.maximum(far[1:end], apart)
    # Who knows one more knows no less.
    return np.asarray(np.minimum((1 + np.maximum.accumulate(far) * unit) / 2, 1.0))


def _against(signed: Floats, others: NDArray[np.bool_], most: int) -> Floats:
    """Return the distance of both answers' masses over classes that agree on known units.

    Each known unit is the one that parts them most after those before it.
    """
    chosen: list[int] = []
    classes, inside, far = signed[None, :], others.astype(signed.dtype), np.empty(most)
    for k in range(most):
        held = inside @ classes.T
        gains = np.abs(held).sum(axis=1) + np.abs(classes.sum(axis=1) - held).sum(axis=1)
        gains[chosen] = -1.0  # it would tell nothing more
        best = int(np.argmax(gains))
        chosen.append(best)
        far[k] = gains[best]
        classes = np.vstack([classes * inside[best], classes * (1 - inside[best])])
        classes = classes[classes.any(axis=1)]
    return far
