"""Balanced designs whose subsets resemble each other: half of every block of similar units."""

from __future__ import annotations

import math
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.universe.balanced_design import Bytes, Dealt, dealt_alike, seeded_generator
from pacsklearn.universe.similarity import Similarity

# One unit in so many is in no block, whatever the table is.
FREE = 16
# Segments of more blocks are cut along a curve through all directions, smaller ones one by one.
_SEGMENT = 32
_CURVE_BITS = 24
_ODD = np.uint64(0x9E3779B97F4A7C15)
# Batches of blocks that a walk takes; each sees the imbalance that those before it left.
_BATCHES = 96
# So many blocks are taken one by one.
_SINGLE = 128
# A coin leans in steps of 1/1024, to 1/4 and 3/4 at most.
_STEPS = 1024
_MOST = _STEPS // 2
_GAIN = 8.0
# Share of the widest direction's variance that others count as having, at least.
_LEAST = 1e-6
_LARGEST = 2**10
# Blocks that the spread of moments is taken over.
_SOME = 2**9


@final
class Blocks(NamedTuple):
    """Blocks of equally many units.

    Attributes
    ----------
    units : ndarray of int64, shape (n_blocks, size)
    strata : ndarray of int64, shape (n_blocks,)
        Of each block's units.
    free : ndarray of int64
        Units that are in no block.
    """

    units: NDArray[np.int64]
    strata: NDArray[np.int64]
    free: NDArray[np.int64]


def similar_blocks(
    cells: NDArray[np.uint64],
    places: NDArray[np.int16],
    strata: NDArray[np.int64],
    size: int,
    generator: np.random.Generator,
) -> Blocks:
    """Cut every stratum into blocks of units that are alike.

    Parameters
    ----------
    cells : ndarray of uint64, shape (n_units,)
        Units of one cell are never in one block.
    places : ndarray of int16, shape (n_units, n_directions)
    strata : ndarray of int64, shape (n_units,)
    size : int
        Units of a block.
    generator : Generator
        Public.

    Returns
    -------
    Blocks

    Notes
    -----
    *Free units.* One unit in 16 of every stratum, drawn uniformly, and at least ``size``, is in no
    block. Halves of the free units are dealt as if there were no blocks, so of any sum over units
    the variance over candidates is at least a sixteenth of the unblocked list's (on average over
    the draw of the free units): a list that resembles itself saves at most so much noise,
    whichever table and estimator it is.

    *Equals.* Units of a cell are numbered, and those of one number are a layer, which is cut by
    itself; what is left of a layer that holds no whole blocks is free. So a table with every row
    twice, or eight times, is two, or eight, layers.
    """
    n = cells.size
    shuffled = generator.permutation(n)
    by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
    rank = _ranks(strata[by_stratum])
    n_free = np.maximum(size, -(-np.bincount(strata) // FREE))
    blocked = by_stratum[rank >= n_free[strata[by_stratum]]]
    # One number for each stratum and layer; units of a layer stay in the order that was drawn.
    layer = _copies(cells[blocked] + strata[blocked].view(np.uint64) * _ODD)
    layer += strata[blocked] * (layer.max(initial=0) + 1)
    order = np.argsort(layer, kind="stable")
    blocked, layer = blocked[order], layer[order]
    held = np.diff(np.append(np.flatnonzero(_ranks(layer) == 0), layer.size))
    n_blocks = held // size
    whole = _ranks(layer) < np.repeat(n_blocks * size, held)
    units = _halved(blocked[whole], places, n_blocks[n_blocks > 0], size).reshape(-1, size)
    free = np.ones(n, dtype=bool)
    free[units] = False
    return Blocks(units, strata[units[:, 0]], np.flatnonzero(free))


def _copies(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how many equal keys come before each."""
    copies = np.zeros(keys.size, dtype=np.int64)
    # Mostly there are none, and sorting without their order is much cheaper.
    values = np.sort(keys)
    if np.any(values[1:] == values[:-1]):
        order = np.argsort(keys, kind="stable")
        copies[order] = _ranks(keys[order])
    return copies


def _ranks(keys: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the place of each entry in its run of equal keys."""
    begins = np.ones(keys.size, dtype=bool)
    begins[1:] = keys[1:] != keys[:-1]
    starts = np.flatnonzero(begins)
    return np.arange(keys.size) - np.repeat(starts, np.diff(np.append(starts, keys.size)))


def _halved(
    units: NDArray[np.int64], places: NDArray[np.int16], n_blocks: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Return units of segments of whole blocks, so ordered that each block's are near one another.

    A segment is halved at the middle of the direction in which its own units are widest apart,
    until it is one block.
    """
    ends = np.append(0, np.cumsum(n_blocks))
    if n_blocks.max(initial=0) > _SEGMENT:
        segment = np.repeat(np.arange(n_blocks.size, dtype=np.uint64), n_blocks * size)
        key = segment << np.uint64(32) | _along_a_curve(places)[units]
        units = units[np.argsort(key, kind="stable")]
    own = places[units]
    while (sizes := np.diff(ends)).max(initial=0) > 1:
        for held in np.unique(sizes[(sizes > 1) & (sizes <= _SEGMENT)]):
            at = ends[:-1][sizes == held][:, None] * size + np.arange(held * size)
            widest = _variances(own[at]).argmax(axis=1)[:, None]
            order = np.argsort(own[at, widest], axis=1, kind="stable")
            order = np.take_along_axis(at, order, axis=1)
            units[at], own[at] = units[order], own[order]
        middles = (ends[:-1] + sizes // 2)[sizes > 1]
        ends = np.sort(np.append(ends, middles))
    return units


def _variances(places: NDArray[np.int16]) -> NDArray[np.float64]:
    """Return the variances of each segment's units along each direction, up to a factor."""
    # Sums of whole numbers, and so the same on every processor.
    own = np.ascontiguousarray(places.transpose(0, 2, 1)).astype(np.float64)
    squares = np.einsum("gdu,gdu->gd", own, own)
    return np.asarray(squares * own.shape[2] - own.sum(axis=2) ** 2)


def _along_a_curve(places: NDArray[np.int16]) -> NDArray[np.uint32]:
    """Return the position on a z-order curve.

    Bits of the ranks, those of the widest direction first.
    """
    n, d = places.shape
    left = places.std(axis=0)
    ranks = np.empty((d, n), dtype=np.uint32)
    for axis, along in enumerate(places.T):
        below = np.cumsum(np.bincount(along.astype(np.int64) - along.min())) - 1
        ranks[axis] = (below[along.astype(np.int64) - along.min()] * 2.0**32 / n).astype(np.uint32)
    position = np.zeros(n, dtype=np.uint32)
    for _ in range(_CURVE_BITS):
        axis = int(np.argmax(left))
        left[axis] /= 2
        position = (position << np.uint32(1)) | (ranks[axis] >> np.uint32(31))
        ranks[axis] <<= np.uint32(1)
    return position


def blocked_design(
    similarity: Similarity,
    n_subsets: int,
    included: int,
    *,
    strata: NDArray[np.int64] | None = None,
    seed: int = 0,
) -> Dealt:
    """Draw candidate subsets that hold the same share of every block of similar units.

    Parameters
    ----------
    similarity : Similarity
        Which units are equal, which are near, and the moments whose sums are balanced as well;
        blocks are dealt by fair coins where it has none.
    n_subsets, included : int
        As for :func:`balanced_design`.
    strata : ndarray of int64, shape (n_units,), optional
        Codes from 0; blocks hold units of one stratum.
    seed : int, default=0
        Of the generator. All figures assume that the adversary knows the design.

    Returns
    -------
    Dealt

    Guarantee
    ---------
    Exact: every unit is in ``included`` subsets; every subset holds the same share of each block,
    and of each stratum the floor or the ceiling of its share. At least one unit in 16 of each
    stratum is dealt without blocks (:func:`similar_blocks`). A coin of the walk shows each side
    with probability 1/4 or more, whatever was dealt before it.

    Notes
    -----
    A block holds ``similarity.size`` units, rounded up to a multiple of 2 and of ``n_subsets /
    gcd(n_subsets, included)``. The walk is of the kind of Alweiss, Liu and Sawhney, "Discrepancy
    minimization via a self-balancing walk" (STOC 2021): units are paired afresh for every few
    subsets, and which of a pair goes where is a coin that leans against the imbalance of the
    moments so far. Two subsets (or, at other rates than 1/2, as many as share a unit evenly) take
    opposite sides of a pair within one batch of blocks and meet others in the next, so that
    units' counts are exact and no subset is the complement of another.
    """
    share = math.gcd(n_subsets, included)
    together = n_subsets // share
    step = math.lcm(2, together)
    generator = seeded_generator(seed)
    n_units, moments = similarity.cells.size, similarity.moments
    codes = np.zeros(n_units, dtype=np.int64) if strata is None else strata
    size = -(-similarity.size // step) * step
    blocks = similar_blocks(similarity.cells, similarity.places, codes, size, generator)
    packed = np.empty((n_units, -(-n_subsets // 8)), dtype=np.uint8)
    free, own_seed = blocks.free, int(generator.integers(2**63))
    packed[free], few = dealt_alike(
        free.size, n_subsets, included, strata=codes[free], seed=own_seed
    )
    # Of units at these places of a block, which of the subsets that deal together hold each: runs
    # on a circle, so that each of them holds its share of every ``together`` units.
    runs = np.arange(size)[:, None] * (included // share)
    pattern = ((np.arange(together) - runs) % together < included // share).astype(np.uint8)
    for code in np.unique(blocks.strata):
        # Which unit of a block stands at which place is drawn.
        units = generator.permutation(blocks.units[blocks.strata == code])
        units = generator.permuted(units, axis=1)
        balance = None if moments is None else _Balance(moments, units, pattern, n_subsets)
        for batch in np.split(units, _ends(len(units), len(blocks.units))):
            packed[batch.T] = _dealt(generator, batch.T, pattern, n_subsets, balance)
    return Dealt(packed, min([free[few], *blocks.units[:1]], key=len))


def _ends(n_blocks: int, n_all: int) -> NDArray[np.int64]:
    """Return where the batches of a stratum's blocks end, but the last one.

    Every batch is smaller than the one before: the last ones leave the imbalance that stays.
    """
    if n_all <= _SINGLE:
        return np.arange(1, n_blocks)
    left = np.linspace(1, 0, -(-_BATCHES * n_blocks // n_all) + 1)
    ends: NDArray[np.int64] = np.rint(n_blocks * (1 - left**2)).astype(np.int64)
    return np.unique(ends)[1:-1]


def _dealt(
    generator: np.random.Generator,
    units: NDArray[np.int64],
    pattern: Bytes,
    n_subsets: int,
    balance: _Balance | None,
) -> Bytes:
    """Return the packed memberships of some blocks, whose units have shape (size, n_blocks)."""
    (size, n_blocks), together = units.shape, pattern.shape[1]
    sets = np.arange(n_subsets // together)[:, None]
    subsets = generator.permutation(n_subsets).reshape(sets.size, together)
    # Each set of subsets pairs the places of a block in its own way.
    pairs = generator.permuted(np.tile(np.arange(size), (sets.size, 1)), axis=1)
    one, other = pairs[:, ::2], pairs[:, 1::2]
    first, apart = pattern[::2], pattern[::2] ^ pattern[1::2]
    coins = generator.integers(2**16, size=(*one.shape, n_blocks), dtype=np.uint16)
    swapped = coins >= np.uint16(2**15)
    if balance is not None:
        moments = balance.moments[units.ravel()]
        swapped = coins >= 2.0**15 + balance.lean(moments, subsets, one, other)
    turned = swapped.view(np.uint8)[:, :, None] & apart[..., None]
    held = np.empty((sets.size, size, together, n_blocks), dtype=np.uint8)
    held[sets, one] = turned ^ first[..., None]
    held[sets, other] = turned ^ (first ^ apart)[..., None]
    ordered = np.empty((n_subsets, size, n_blocks), dtype=np.uint8)
    ordered[subsets] = held.transpose(0, 2, 1, 3)
    if balance is not None:
        balance.add(moments, subsets, ordered)
    # Bits side by side in memory are packed four times as fast.
    by_unit = np.ascontiguousarray(ordered.reshape(n_subsets, -1).T)
    return np.packbits(by_unit, axis=1).reshape(size, n_blocks, -1)


class _Balance:
    """Sums of moments over each subset's units of one stratum, less their even share."""

    def __init__(
        self,
        moments: NDArray[np.float32],
        units: NDArray[np.int64],
        pattern: Bytes,
        n_subsets: int,
    ) -> None:
        self.moments = moments
        self._rate = pattern.mean()
        # How the subsets that deal together differ in the places of a pair: few ways in all.
        differ = pattern[::2].astype(np.int64) - pattern[1::2]
        self._ways, way = np.unique(differ, axis=0, return_inverse=True)
        self._way = way.ravel()
        self._sums = np.zeros((n_subsets, moments.shape[1]))
        own = moments[units[:_SOME]].astype(np.float64)
        own -= own.mean(axis=1, keepdims=True)
        flat = own.reshape(-1, own.shape[2])
        # Of the difference of two units of a block.
        spread = 2 * (flat.T @ flat) / (len(own) * (units.shape[1] - 1))
        variances, axes = np.linalg.eigh(spread)
        widest = max(variances.max(initial=0.0), 1e-300)
        # Coins can lean only so far. Of all linear rules, leaning by inverse roots of variances
        # leaves the least total variance; by inverses, what hardly varies would take as much of
        # the coins as what varies most.
        roots = np.sqrt(np.maximum(variances / widest, _LEAST))
        self._weights = axes / (roots * widest) @ axes.T
        self._few = float(roots.sum()) / _GAIN

    def lean(
        self,
        moments: NDArray[np.float32],
        subsets: NDArray[np.int64],
        one: NDArray[np.int64],
        other: NDArray[np.int64],
    ) -> NDArray[np.float32]:
        """Return the chances, in units of 2^-16, that pairs stay as they are, above one half.

        The units, whose moments are given, stand in the order of their places.
        """
        # A step towards even sums, which all pairs of the batch take together: where there are
        # many, Newton's in the widest direction; where there are few, as far as coins can lean.
        sets, size = np.arange(len(subsets))[:, None], 2 * one.shape[1]
        length = _STEPS / (len(moments) // 2 + self._few)
        lean = np.empty((*one.shape, len(moments) // size), dtype=np.float32)
        for number, apart in enumerate(self._ways):
            own = np.flatnonzero(self._way == number)
            between = np.zeros((len(subsets), moments.shape[1]))
            for place in np.flatnonzero(apart):
                between += apart[place] * self._sums[subsets[:, place]]
            # Whole numbers below 2^24: sums are exact in single precision, on every processor.
            step = between @ self._weights
            step *= length
            whole = np.clip(np.rint(step, out=step), -_LARGEST, _LARGEST, out=step)
            along = (whole.astype(np.float32) @ moments.T).reshape(len(subsets), size, -1)
            lean[:, own] = along[sets, other[:, own]] - along[sets, one[:, own]]
        return np.clip(lean, -_MOST, _MOST, out=lean) * np.float32(2**15 // _STEPS)

    def add(self, moments: NDArray[np.float32], subsets: NDArray[np.int64], held: Bytes) -> None:
        """Count a batch that was dealt."""
        even = self._rate * moments.sum(axis=0, dtype=np.float64)
        last = subsets[:, -1]
        # Of subsets that deal together all hold the even share in the mean.
        for place in range(subsets.shape[1] - 1):
            own = subsets[:, place]
            sums = held[own].reshape(len(own), -1).astype(np.float32) @ moments - even
            self._sums[own] += sums
            self._sums[last] -= sums
