"""Balanced designs whose subsets resemble each other: half of every block of similar units."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacsklearn.universe.balanced_design import Bytes, balanced_design, seeded_generator
from pacsklearn.universe.similar_blocks import similar_blocks
from pacsklearn.universe.similarity import Similarity

# Batches of blocks that a walk takes, at least; each sees the imbalance that those before it left.
_BATCHES = 128
# A coin leans in steps of 1/1024, to 1/4 and 3/4 at most.
_STEPS = 1024
_MOST = _STEPS // 2
_GAIN = 2.0
_LARGEST = 2**11
# Blocks that the spread of moments is taken over.
_SOME = 2**13


def blocked_design(
    similarity: Similarity,
    n_subsets: int,
    included: int,
    *,
    strata: NDArray[np.int64] | None = None,
    seed: int = 0,
) -> Bytes:
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
    ndarray of uint8, shape (n_units, ceil(n_subsets / 8))
        As of :func:`balanced_design`.

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
    packed[free] = balanced_design(
        free.size, n_subsets, included, strata=codes[free], seed=own_seed
    )
    # Of units at these places of a block, which of the subsets that deal together hold each: runs
    # on a circle, so that each of them holds its share of every ``together`` units.
    runs = np.arange(size)[:, None] * (included // share)
    pattern = ((np.arange(together) - runs) % together < included // share).astype(np.uint8)
    n_batch = -(-len(blocks.units) // _BATCHES)
    for code in np.unique(blocks.strata):
        # Which unit of a block stands at which place is drawn.
        units = generator.permutation(blocks.units[blocks.strata == code])
        units = generator.permuted(units, axis=1)
        balance = None if moments is None else _Balance(moments, units, n_subsets)
        for start in range(0, len(units), n_batch):
            batch = units[start : start + n_batch].T
            packed[batch] = _dealt(generator, batch, pattern, n_subsets, balance)
    return packed


def _dealt(
    generator: np.random.Generator,
    units: NDArray[np.int64],
    pattern: Bytes,
    n_subsets: int,
    balance: _Balance | None,
) -> Bytes:
    """Packed memberships of some blocks, whose units have shape (size, n_blocks)."""
    (size, n_blocks), together = units.shape, pattern.shape[1]
    sets = np.arange(n_subsets // together)
    subsets = generator.permutation(n_subsets).reshape(sets.size, together)
    # Each set of subsets pairs the places of a block in its own way.
    pairs = generator.permuted(np.tile(np.arange(size), (sets.size, 1)), axis=1)
    held = np.empty((sets.size, together, size, n_blocks), dtype=np.uint8)
    for place in range(0, size, 2):
        one, other = pairs[:, place], pairs[:, place + 1]
        first, second = pattern[place], pattern[place + 1]
        coins = generator.integers(2**16, size=(sets.size, n_blocks), dtype=np.uint16)
        lean: NDArray[np.float32] | float = 0.0
        if balance is not None:
            lean = balance.lean(units, subsets, one, other, first.astype(np.int64) - second)
        swapped = (coins >= 2.0**15 + lean).view(np.uint8)
        for each in range(together):
            either = swapped if first[each] != second[each] else np.uint8(0)
            held[sets, each, one] = either ^ first[each]
            held[sets, each, other] = either ^ second[each]
    ordered = np.empty((n_subsets, size, n_blocks), dtype=np.uint8)
    ordered[subsets.ravel()] = held.reshape(ordered.shape)
    if balance is not None:
        balance.add(units, ordered, pattern.mean())
    # Bits side by side in memory are packed four times as fast.
    by_unit = np.ascontiguousarray(ordered.reshape(n_subsets, -1).T)
    return np.packbits(by_unit, axis=1).reshape(size, n_blocks, -1)


class _Balance:
    """Sums of moments over each subset's units of one stratum, less their even share."""

    def __init__(
        self, moments: NDArray[np.float32], units: NDArray[np.int64], n_subsets: int
    ) -> None:
        self._moments = moments
        self._sums = np.zeros((moments.shape[1], n_subsets))
        self._of_batch: dict[bytes, NDArray[np.float32]] = {}
        own = moments[units[:_SOME]].astype(np.float64)
        own -= own.mean(axis=1, keepdims=True)
        flat = own.reshape(-1, own.shape[2])
        # Of the difference of two units of a block.
        spread = 2 * (flat.T @ flat) / (len(own) * (units.shape[1] - 1))
        self._inverse = np.linalg.pinv(spread, rcond=1e-6, hermitian=True)
        self._rank = round(float(np.trace(self._inverse @ spread)))

    def lean(
        self,
        units: NDArray[np.int64],
        subsets: NDArray[np.int64],
        one: NDArray[np.int64],
        other: NDArray[np.int64],
        apart: NDArray[np.int64],
    ) -> NDArray[np.float32]:
        """Chances, in units of 2^-16, that pairs stay as they are, above one half."""
        # Newton's step towards even sums: all pairs of the batch together take it, and where there
        # are fewer pairs than moments, a part of it.
        key = apart.tobytes()
        if key not in self._of_batch:
            n_pairs = units.size // 2
            step = self._inverse @ (self._sums[:, subsets] @ apart)
            step *= _GAIN * _STEPS / (n_pairs + self._rank)
            # Whole numbers below 2^24: sums are exact in single precision, on every processor.
            whole = np.clip(np.rint(step), -_LARGEST, _LARGEST).astype(np.float32)
            along = whole.T @ self._moments[units.ravel()].T
            self._of_batch[key] = along.reshape(len(whole.T), *units.shape)
        along, sets = self._of_batch[key], np.arange(len(subsets))
        lean = np.clip(along[sets, other] - along[sets, one], -_MOST, _MOST)
        return np.asarray(lean * (2**15 // _STEPS), dtype=np.float32)

    def add(self, units: NDArray[np.int64], held: Bytes, rate: float) -> None:
        """Count a batch that was dealt."""
        moments = self._moments[units.ravel()]
        sums = moments.T @ held.reshape(len(held), -1).T.astype(np.float32)
        self._sums += sums - rate * moments.sum(axis=0, dtype=np.float64)[:, None]
        self._of_batch.clear()
