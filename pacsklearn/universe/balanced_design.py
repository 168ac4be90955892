"""Balanced secret spaces: every unit in the same number of candidate subsets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn._validation import is_whole
from pacsklearn.exceptions import DesignError

Bytes = NDArray[np.uint8]

_CHUNK_UNITS = 16384
_CHUNK_CELLS = 2**21
_MIN_CHUNK_UNITS = 512
# From this size on 64 units share a machine word while they are mixed.
_WORD_UNITS = 4096
# At rate 1/2 a round and its two trades leave 0.6 of a correlation: 2e-5 after 20 rounds.
_ROUNDS = 20
# Of a larger set so few tell next to nothing about each other.
_MOST_MATES = 64
_TRADES = 2


@final
class Dealt(NamedTuple):
    """Units as they were put into subsets.

    Attributes
    ----------
    packed : ndarray of uint8, shape (n_units, ceil(n_subsets / 8))
        As of :func:`balanced_design`.
    mates : ndarray of int64
        Units of a smallest set of which all subsets hold the same number, up to one; of a large
        set some.
    """

    packed: Bytes
    mates: NDArray[np.int64]


def dealt_alike(
    n_units: int,
    n_subsets: int,
    included: int,
    *,
    strata: NDArray[np.int64] | None = None,
    seed: int = 0,
) -> Dealt:
    """Deal all units of a stratum alike, as :func:`balanced_design` does."""
    packed = balanced_design(n_units, n_subsets, included, strata=strata, seed=seed)
    few = np.arange(min(n_units, _MOST_MATES)) if strata is None else _smallest_stratum(strata)
    return Dealt(packed, few)


def _smallest_stratum(strata: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the units of the stratum with the fewest; of a large one the first few."""
    counts = np.bincount(strata)
    code = np.where(counts > 0, counts, strata.size + 1).argmin()
    return np.flatnonzero(strata == code)[:_MOST_MATES].copy()


def balanced_design(
    n_units: int,
    n_subsets: int,
    included: int,
    *,
    strata: ArrayLike | None = None,
    seed: int = 0,
) -> Bytes:
    """Draw candidate subsets such that every unit is in exactly ``included`` of them.

    Parameters
    ----------
    n_units : int
        Units of privacy (rows, or groups of rows), at least 1.
    n_subsets : int
        Number of candidate subsets, at least 2.
    included : int
        Subsets each unit is in, 1 to ``n_subsets - 1``.
    strata : array-like of int, shape (n_units,), optional
        Stratum of each unit, for instance its class code. The subsets share each stratum evenly.
    seed : int, default=0
        Seed of the generator. All figures assume that the adversary knows the design.

    Returns
    -------
    ndarray of uint8, shape (n_units, ceil(n_subsets / 8))
        Bit-packed membership: bit ``i & 7``, counted from the most significant, of byte ``i >> 3``
        of row ``u`` says whether unit u is in subset i. Unused bits are zero.

    Raises
    ------
    DesignError
        If an argument has the wrong type, range or length.

    Guarantee
    ---------
    Exact: every unit is in ``included`` subsets, so its inclusion probability under a uniform
    secret is exactly ``included / n_subsets``; a subset holds the floor or the ceiling of
    ``n * included / n_subsets`` of the n units of a stratum. (When ``n_subsets`` is so large that
    one block of the deal below exceeds a chunk, a stratum of several chunks may be off by one unit
    for each of them.) By symmetry of the construction, each unit's pattern is uniform over all
    patterns with ``included`` ones. Approximate: patterns of different units correlate like
    independently drawn ones, except that sharing a stratum of n units evenly costs a mean
    correlation of ``-1 / (n - 1)``. In a stratum of a handful of units this is much: of two units
    at rate 1/2, each is in exactly where the other is not.

    Notes
    -----
    Source of the design: pac-private-responses, section 4.2.1, there without strata and balance.
    Units are first dealt: a block of ``n_subsets / gcd(n_subsets, included)`` units cuts one
    shuffled list of the subsets into equal runs, and so covers each subset equally often. Then
    rounds of trades mix the blocks: random pairs of units, and random pairs of subsets that
    differ in opposite directions, are exchanged on a fair coin, which keeps all row and column
    sums. Memory beside the result is about 20 MB for up to 4096 subsets; strata add about 9 bytes a
    unit. Ten million units in 128 subsets take about 20 seconds on one core, and many small strata
    about 5 milliseconds each.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import balanced_design
    >>> packed = balanced_design(1000, 128, 64, seed=1)
    >>> packed.shape
    (1000, 16)
    >>> members = np.unpackbits(packed, axis=1)
    >>> set(members.sum(axis=1).tolist()), set(members.sum(axis=0).tolist())
    ({64}, {500})
    """
    n_units = _integer("n_units", n_units, 1, None)
    n_subsets = _integer("n_subsets", n_subsets, 2, None)
    included = _integer("included", included, 1, n_subsets - 1)
    seed = _integer("seed", seed, 0, None)
    order, ends = _order_by_stratum(strata, n_units)
    generator = seeded_generator(seed)
    packed = np.empty((n_units, -(-n_subsets // 8)), dtype=np.uint8)
    start = 0
    for end in ends:
        for low, high in _chunks(start, end, n_subsets, included):
            rows = _draw_chunk(generator, high - low, n_subsets, included)
            packed[slice(low, high) if order is None else order[low:high]] = rows
        start = end
    return packed


def seeded_generator(seed: int) -> np.random.Generator:
    """Return the public stream of a design, from all bits of its seed."""
    # A pool of four words would keep 128 bits of a longer seed.
    pool = 4 if seed < 2**128 else 8
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, pool_size=pool)))


def _order_by_stratum(
    strata: ArrayLike | None, n_units: int
) -> tuple[NDArray[np.int64] | None, list[int]]:
    """Return the units sorted by stratum, and where each stratum ends."""
    if strata is None:
        return None, [n_units]
    codes = np.asarray(strata)
    if codes.shape != (n_units,):
        raise DesignError(
            f"strata must have one entry for each of the {n_units} units, got shape {codes.shape}; "
            "pass one integer code per unit, or None."
        )
    if not np.issubdtype(codes.dtype, np.integer) and codes.dtype != np.bool_:
        raise DesignError(
            f"strata must hold integer codes, got dtype {codes.dtype}; pass "
            "np.unique(labels, return_inverse=True)[1]."
        )
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    ends = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return order, [*ends.tolist(), n_units]


def _chunks(start: int, end: int, n_subsets: int, included: int) -> Iterator[tuple[int, int]]:
    """Yield nearly equal parts of one stratum; whole blocks in all but the last, if blocks fit."""
    largest = min(_CHUNK_UNITS, max(_MIN_CHUNK_UNITS, _CHUNK_CELLS // n_subsets))
    block = n_subsets // math.gcd(n_subsets, included)
    if block > largest:
        block = 1
    n_blocks = -(-(end - start) // block)
    n_chunks = -(-n_blocks // (largest // block))
    for chunk in range(n_chunks):
        low = start + n_blocks * chunk // n_chunks * block
        high = start + n_blocks * (chunk + 1) // n_chunks * block
        yield low, min(high, end)


def _draw_chunk(
    generator: np.random.Generator, n_units: int, n_subsets: int, included: int
) -> Bytes:
    """Return the packed patterns of one chunk."""
    dealt = _deal(generator, n_units, n_subsets, included)
    if n_units <= 2:
        return np.packbits(dealt, axis=1)
    state = np.ascontiguousarray(dealt.T)
    present = np.ones((1, n_units), dtype=np.uint8)
    if n_units < _WORD_UNITS:
        state, _ = _mix(generator, state, present)
        return np.packbits(np.ascontiguousarray(state.T), axis=1)
    # Units that fill up the last word are in no subset, so no trade touches them.
    state, present = _mix(generator, _to_words(state), _to_words(present))
    mixed = np.unpackbits(state.view(np.uint8), axis=1)
    rows = np.packbits(np.ascontiguousarray(mixed.T), axis=1)
    is_unit = np.unpackbits(present.view(np.uint8), axis=1)[0].astype(bool)
    return rows if is_unit.all() else rows[is_unit]


def _to_words(bits: Bytes) -> NDArray[np.uint64]:
    packed = np.packbits(bits, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)


def _deal(generator: np.random.Generator, n_units: int, n_subsets: int, included: int) -> Bytes:
    """Return the membership (n_units, n_subsets).

    Blocks of units that cover every subset equally often.
    """
    block = n_subsets // math.gcd(n_subsets, included)
    run_starts = (np.arange(block) * included % n_subsets)[:, None]
    in_run = ((np.arange(n_subsets) - run_starts) % n_subsets < included).astype(np.uint8)
    places = _shuffles(generator, -(-n_units // block), n_subsets)
    dealt = in_run.take(places.astype(np.intp, copy=False), axis=1, mode="clip").transpose(1, 0, 2)
    return dealt.reshape(-1, n_subsets)[:n_units]


def _shuffles(
    generator: np.random.Generator, n: int, size: int
) -> NDArray[np.uint32] | NDArray[np.uint64]:
    """Return the permutations of range(size), n of them.

    Sorted random keys with the item in the low bits.
    """
    bits = (size - 1).bit_length()
    kind: Any = np.uint32 if bits <= 10 else np.uint64
    keys = generator.integers(np.iinfo(kind).max, size=(n, size), dtype=kind, endpoint=True)
    keys >>= kind(bits)
    keys <<= kind(bits)
    keys |= np.arange(size, dtype=kind)
    keys.sort(axis=1)
    keys &= kind((1 << bits) - 1)
    return np.asarray(keys)


def _mix(
    generator: np.random.Generator, state: NDArray[Any], present: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Trade memberships between random units, keeping every row and column sum.

    ``state`` is (n_subsets, n_words); each bit of a word is one unit. Units and subsets are
    relabelled on the way, which changes no property of the design; ``present`` is relabelled
    like the units.
    """
    n_subsets, n_words = state.shape
    pairs, couples = n_words // 2, n_subsets // 2
    spare = np.empty_like(state)
    for _ in range(_ROUNDS):
        order = generator.permutation(n_words)
        present = present[:, order]
        np.take(state, order, axis=1, out=spare, mode="clip")
        state, spare = spare, state
        if state.dtype == np.uint64:
            turns = generator.integers(64, size=pairs, dtype=np.uint64)
            _rotate(state[:, :pairs], turns)
            _rotate(present[:, :pairs], turns)
        for _ in range(_TRADES):
            np.take(state, generator.permutation(n_subsets), axis=0, out=spare, mode="clip")
            state, spare = spare, state
            quarters = (
                state[:couples, :pairs],
                state[:couples, pairs : 2 * pairs],
                state[couples : 2 * couples, :pairs],
                state[couples : 2 * couples, pairs : 2 * pairs],
            )
            swap = quarters[0] ^ quarters[1]
            swap &= quarters[0] ^ quarters[2]
            swap &= quarters[1] ^ quarters[3]
            swap &= _coins(generator, swap)
            for quarter in quarters:
                np.bitwise_xor(quarter, swap, out=quarter)
    return state, present


def _rotate(words: NDArray[np.uint64], turns: NDArray[np.uint64]) -> None:
    overflow = words >> ((np.uint64(64) - turns) & np.uint64(63))
    words <<= turns
    words |= overflow


def _coins(generator: np.random.Generator, like: NDArray[Any]) -> NDArray[Any]:
    """Return random bits in the shape of ``like``; raw output, because floats would be wasteful."""
    n_words = -(-like.nbytes // 8)
    raw: NDArray[Any] = np.asarray(generator.bit_generator.random_raw(n_words), dtype=np.uint64)
    return raw.view(like.dtype)[: like.size].reshape(like.shape)


def _integer(name: str, value: Any, low: int, high: int | None) -> int:
    if not is_whole(value) or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise DesignError(
            f"{name} must be an integer {limits}, got {value!r}; pass {name} in that range."
        )
    return int(value)
