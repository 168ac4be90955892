"""Blocks of units that are alike and never equal, and the units that are in none."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

# One unit in so many is in no block, whatever the table is.
FREE = 16
# Segments of more blocks are cut along a curve through all directions, smaller ones one by one.
_SEGMENT = 32
_CURVE_BITS = 24
_ODD = np.uint64(0x9E3779B97F4A7C15)


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
