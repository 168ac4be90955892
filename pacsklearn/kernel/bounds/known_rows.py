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
_CHOICES = 1024
# Others that the greedy choice is measured on.
_OTHERS = 1024
# Pairs of so many units are all looked at.
_PAIRED = 2048
# Of them, so many at once: what is between the products stays in the cache.
_BLOCK = 128
# Candidates of equal weight, times pairs of a row, below 2^24.
_EXACT = 2**13


def known_rows_success(
    members: ArrayLike, weights: ArrayLike, *, most: int = 7, seed: int = 0
) -> tuple[Floats, Floats, Floats]:
    """Success at other units' memberships of one who knows some units' and all candidates.

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

    Returns
    -------
    uniform, greedy, errors : ndarray of shape (most + 1,)
        Entry k: the average success over the secret and over other units, when k units drawn
        uniformly are known; when each known unit is the one that, after those before it,
        tells most about the secret; and the standard error of the first, 0 where it is exact.
        Fewer than k other units count as all known: success 1.

    Notes
    -----
    Given the known units, success is exact: the candidates fall into classes that agree on them,
    and in each class the likelier answer is right with its share of the class. Averages over
    uniform units are exact for k = 0, and for k = 1 up to 2,048 units; the others are over 48 draws
    of the known ones and 64 others each, and have a standard error. Of more than 1,024 units, the
    greedy choice is among so many; its average is over up to 1,024 others.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.kernel.bounds.known_rows import known_rows_success
    >>> members = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=bool)
    >>> uniform, greedy, errors = known_rows_success(members, np.full(4, 0.25), most=2)
    >>> greedy.tolist()
    [0.5, 0.5, 1.0]
    """
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
    among = generator.choice(n, min(n, _CHOICES + most + _OTHERS), replace=False)
    chosen = _greedy(table[among[:_CHOICES]], prior, most)
    order = np.concatenate([among[chosen], np.delete(among, chosen)])
    return uniform, _along(table[order], prior, most), errors


def _drawn(tables: NDArray[np.bool_], prior: Floats, most: int) -> Floats:
    """Average success over the same last units, after each number of first ones; 1 if none are.

    Of several draws of units, shape (n_draws, n_units, m). In a class of candidates that agree,
    success is half the class's mass, and half of how far the masses inside and outside are apart.
    Leaving the last known unit out joins classes in pairs.
    """
    n_draws, n_units, _ = tables.shape
    success = np.ones((n_draws, most + 1))
    top = min(most, n_units - 1)
    codes = np.tensordot(1 << np.arange(top)[::-1], tables[:, :top], axes=(0, 1))
    codes += np.arange(n_draws)[:, None] << top  # no class has candidates of several draws
    signed = np.where(tables[:, top:], prior, -prior).transpose(0, 2, 1).reshape(codes.size, -1)
    place = codes.ravel(), np.arange(codes.size)
    joined = sparse.csr_array((np.ones(codes.size), place), shape=(n_draws << top, codes.size))
    apart = joined @ signed
    for k in range(top, -1, -1):
        far = np.abs(apart).reshape(n_draws, -1).sum(axis=1)
        success[:, k] = (1 + far / apart.shape[1]) / 2
        apart = apart[::2] + apart[1::2]
    return success


def _along(table: NDArray[np.bool_], prior: Floats, most: int) -> Floats:
    """Average success over the units that follow, after each number of known ones; 1 if none do."""
    success = np.ones(most + 1)
    classes = np.zeros(prior.size, dtype=np.int64)
    others = table.astype(np.float64)
    for k in range(min(most + 1, len(table))):
        if k:
            classes = _refined(classes, table[k - 1])
        weighed = _weighed(prior, classes)
        inside = others[k : k + _OTHERS] @ weighed
        success[k] = np.maximum(inside, weighed.sum(axis=0) - inside).sum(axis=1).mean()
    return success


def _of_pairs(table: NDArray[np.bool_], prior: Floats) -> float:
    """Average success at one unit, knowing another, over all ordered pairs of units.

    With signs for memberships, success is half of one and the larger of two numbers: how far the
    signs of both agree or disagree, and how far the target's own are from even.
    """
    unit, n = float(prior.max()), len(table)
    weights = prior / unit
    # Sums of whole numbers below 2^24 are exact in single precision.
    kind: Any = np.float32 if np.all(weights == 1) and weights.size < _EXACT else np.float64
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


def _greedy(table: NDArray[np.bool_], prior: Floats, most: int) -> list[int]:
    """Units that tell most about the secret, each after those before it."""
    chosen: list[int] = []
    classes, members = np.zeros(prior.size, dtype=np.int64), table.astype(np.float64)
    for _ in range(min(most, len(table))):
        weighed = _weighed(prior, classes)
        inside = members @ weighed
        gain = -_logged(inside).sum(axis=1) - _logged(weighed.sum(axis=0) - inside).sum(axis=1)
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        classes = _refined(classes, table[chosen[-1]])
    return chosen


def _weighed(prior: Floats, classes: NDArray[np.int64]) -> Floats:
    """Prior of each candidate in the column of its class; shape (m, n_classes)."""
    weighed = np.zeros((prior.size, int(classes.max()) + 1))
    weighed[np.arange(prior.size), classes] = prior
    return weighed


def _refined(classes: NDArray[np.int64], row: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.asarray(np.unique(2 * classes + row, return_inverse=True)[1].ravel())


def _logged(mass: Floats) -> Floats:
    return np.asarray(mass * np.log(np.where(mass > 0, mass, 1.0)))
