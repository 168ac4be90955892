"""A pseudo-random function of a unit's name, and the subset of candidates it picks.

The function is the block function of ChaCha20 (RFC 8439,
section 2.3) with the name as nonce, so that nobody without the key can tell memberships from
chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.compiled import compiled

_WORDS = 16
_LOW = np.uint64(0xFFFFFFFF)


@compiled()
def _quarter(x: Any, a: int, b: int, c: int, d: int) -> None:
    x[a] += x[b]
    x[d] ^= x[a]
    x[d] = (x[d] << np.uint32(16)) | (x[d] >> np.uint32(16))
    x[c] += x[d]
    x[b] ^= x[c]
    x[b] = (x[b] << np.uint32(12)) | (x[b] >> np.uint32(20))
    x[a] += x[b]
    x[d] ^= x[a]
    x[d] = (x[d] << np.uint32(8)) | (x[d] >> np.uint32(24))
    x[c] += x[d]
    x[b] ^= x[c]
    x[b] = (x[b] << np.uint32(7)) | (x[b] >> np.uint32(25))


@compiled()
def chacha20_block(start: Any, state: Any, block: Any) -> None:
    """Write the 16 words of one block; ``start`` holds constants, key, counter and nonce.

    Uncompiled, a word may be an array of them: one for each of many blocks.
    """
    for i in range(_WORDS):
        state[i] = start[i]
    for _ in range(10):
        _quarter(state, 0, 4, 8, 12)
        _quarter(state, 1, 5, 9, 13)
        _quarter(state, 2, 6, 10, 14)
        _quarter(state, 3, 7, 11, 15)
        _quarter(state, 0, 5, 10, 15)
        _quarter(state, 1, 6, 11, 12)
        _quarter(state, 2, 7, 8, 13)
        _quarter(state, 3, 4, 9, 14)
    for i in range(_WORDS):
        block[i] = state[i] + start[i]


@compiled(worth=2**18)
def fill_memberships(  # noqa: C901 - calls would keep the compiled loop from its registers
    key: NDArray[np.uint32],
    names: NDArray[np.uint64],
    m: int,
    included: int,
    packed: NDArray[np.uint8],
) -> None:
    """Set, for each name, exactly ``included`` of ``m`` bits; every such choice is equally likely.

    Every candidate tosses a coin, and candidates drawn uniformly are then taken out or put in
    until the number is right: no step prefers a candidate, so no set of them is preferred.
    """
    start = np.zeros(_WORDS, np.uint32)
    start[0], start[1] = np.uint32(0x61707865), np.uint32(0x3320646E)
    start[2], start[3] = np.uint32(0x79622D32), np.uint32(0x6B206574)
    start[4:12] = key
    state, block = np.empty(_WORDS, np.uint32), np.empty(_WORDS, np.uint32)
    bits = np.empty(m, np.uint8)
    # Numbers below ``rejected`` would make some candidates likelier than others.
    candidates = np.uint64(m)
    rejected = (np.uint64(1) << np.uint64(32)) % candidates
    for row in range(names.size):
        start[12] = np.uint32(0)
        start[14] = np.uint32(names[row] & _LOW)
        start[15] = np.uint32(names[row] >> np.uint64(32))
        chacha20_block(start, state, block)
        at, count = 0, 0
        for first in range(0, m, 32):
            if at == _WORDS:
                start[12] += np.uint32(1)
                chacha20_block(start, state, block)
                at = 0
            word = block[at]
            at += 1
            for i in range(first, min(first + 32, m)):
                bits[i] = (word >> np.uint32(i - first)) & np.uint32(1)
                count += bits[i]
        while count != included:
            wrong = np.uint8(1) if count > included else np.uint8(0)
            while True:
                if at == _WORDS:
                    start[12] += np.uint32(1)
                    chacha20_block(start, state, block)
                    at = 0
                product = np.uint64(block[at]) * candidates
                at += 1
                if (product & _LOW) >= rejected:
                    place = np.int64(product >> np.uint64(32))
                    if bits[place] == wrong:
                        break
            bits[place] = np.uint8(1) - wrong
            count += -1 if wrong else 1
        for first in range(0, m, 8):
            byte = np.uint8(0)
            for i in range(first, min(first + 8, m)):
                byte |= np.uint8(bits[i] << (7 - (i - first)))
            packed[row, first >> 3] = byte


@fill_memberships.in_numpy
def _fill_memberships_in_numpy(
    key: NDArray[np.uint32],
    names: NDArray[np.uint64],
    m: int,
    included: int,
    packed: NDArray[np.uint8],
) -> None:
    start = np.zeros((_WORDS, names.size), np.uint32)
    start[:4, :] = np.array([[0x61707865], [0x3320646E], [0x79622D32], [0x6B206574]], np.uint32)
    start[4:12, :] = key[:, None]
    start[14], start[15] = names & _LOW, names >> np.uint64(32)
    words, at, state = np.empty_like(start), 0, np.empty_like(start)
    chacha20_block(start, state, words)
    bits = np.empty((names.size, m), np.uint8)
    for first in range(0, m, 32):
        if at == _WORDS:
            start[12] += np.uint32(1)
            chacha20_block(start, state, words)
            at = 0
        places = np.arange(min(32, m - first), dtype=np.uint32)
        bits[:, first : first + 32] = (words[at][:, None] >> places) & np.uint32(1)
        at += 1
    count = bits.sum(axis=1, dtype=np.int64)
    candidates = np.uint64(m)
    rejected = (np.uint64(1) << np.uint64(32)) % candidates
    # Every unit that is not right yet has used as many words as the others.
    left = np.flatnonzero(count != included)
    while left.size:
        if at == _WORDS:
            start[12] += np.uint32(1)
            block = np.empty((_WORDS, left.size), np.uint32)
            chacha20_block(start[:, left], np.empty_like(block), block)
            words[:, left], at = block, 0
        product = words[at, left].astype(np.uint64) * candidates
        at += 1
        places, wrong = (product >> np.uint64(32)).astype(np.int64), count[left] > included
        changed = ((product & _LOW) >= rejected) & (bits[left, places] == wrong)
        bits[left[changed], places[changed]] ^= np.uint8(1)
        count[left[changed]] += np.where(wrong[changed], -1, 1)
        left = left[count[left] != included]
    packed[:] = np.packbits(bits, axis=1)
