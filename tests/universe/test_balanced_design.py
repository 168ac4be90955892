"""Exact balance and near independence of the candidate subsets."""

from __future__ import annotations

import hashlib
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.secret.packed_subsets import inclusion_counts, unpack_subset
from pacsklearn.universe.balanced_design import _shuffles, balanced_design

DESIGNS = [(128, 64), (128, 32), (128, 63), (20, 10), (12, 5), (7, 3), (2, 1), (9, 8), (1030, 515)]


def members(packed: NDArray[np.uint8], n_subsets: int) -> NDArray[np.uint8]:
    bits = np.unpackbits(packed, axis=1)
    assert not bits[:, n_subsets:].any()
    return bits[:, :n_subsets]


def correlations(bits: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Correlation of the patterns of all pairs of units."""
    rate = bits[0].mean()
    scores = (bits - rate) / np.sqrt(rate * (1 - rate) * bits.shape[1])
    return np.asarray((scores @ scores.T)[np.triu_indices(len(bits), 1)])


def assert_balanced(bits: NDArray[np.uint8], included: int) -> None:
    n_units, n_subsets = bits.shape
    assert set(bits.sum(axis=1).tolist()) == {included}
    sizes = bits.sum(axis=0, dtype=np.int64)
    assert sizes.min() >= n_units * included // n_subsets
    assert sizes.max() <= -(-n_units * included // n_subsets)


@pytest.mark.product(only=24)
@pytest.mark.parametrize(("n_subsets", "included"), DESIGNS)
@pytest.mark.parametrize("n_units", [1, 2, 3, 63, 200, 4095, 4096, 5001])
def test_exact_balance(n_units: int, n_subsets: int, included: int) -> None:
    packed = balanced_design(n_units, n_subsets, included, seed=5)
    assert packed.shape == (n_units, -(-n_subsets // 8))
    assert packed.dtype == np.uint8
    assert_balanced(members(packed, n_subsets), included)


@pytest.mark.product(only=3)
@pytest.mark.parametrize(("n_subsets", "included"), [(128, 64), (128, 63), (10, 3)])
@pytest.mark.parametrize("n_units", [16384, 16385, 50_001])
def test_exact_balance_over_several_chunks(n_units: int, n_subsets: int, included: int) -> None:
    assert_balanced(members(balanced_design(n_units, n_subsets, included), n_subsets), included)


@pytest.mark.soak
def test_blocks_larger_than_a_chunk_are_balanced_to_one_unit_a_chunk() -> None:
    n_units, n_subsets = 1500, 4099  # a prime, so one block is 4099 units; chunks are 512
    bits = members(balanced_design(n_units, n_subsets, 2000), n_subsets)
    assert set(bits.sum(axis=1).tolist()) == {2000}
    assert np.ptp(bits.sum(axis=0, dtype=np.int64)) <= 3


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    n_subsets=st.integers(2, 70),
    data=st.data(),
)
def test_every_stratum_is_balanced(sizes: list[int], n_subsets: int, data: Any) -> None:
    included = data.draw(st.integers(1, n_subsets - 1))
    strata = np.repeat(np.arange(len(sizes)) * 3 - 5, sizes)
    np.random.default_rng(0).shuffle(strata)
    bits = members(
        balanced_design(len(strata), n_subsets, included, strata=strata, seed=len(sizes)),
        n_subsets,
    )
    for code in np.unique(strata):
        assert_balanced(bits[strata == code], included)


def test_large_strata_are_balanced() -> None:
    strata = np.random.default_rng(0).choice(4, p=[0.7, 0.2, 0.0999, 0.0001], size=60_000)
    bits = members(balanced_design(60_000, 128, 64, strata=strata), 128)
    for code in range(4):
        assert_balanced(bits[strata == code], 64)


def test_two_units_at_half_are_complements_and_three_are_not() -> None:
    two = members(balanced_design(2, 128, 64), 128)
    np.testing.assert_array_equal(two[0], 1 - two[1])
    three = correlations(members(balanced_design(3, 128, 64), 128))
    assert three.max() < 0.0


@pytest.mark.product(only=1)
@pytest.mark.parametrize(("n_units", "included"), [(3, 3), (10, 2), (64, 5), (4096, 3)])
def test_each_pattern_is_marginally_uniform(n_units: int, included: int) -> None:
    # 28 to 70 equally likely patterns; chi-squared with a false alarm rate of 1e-6 per unit.
    n_subsets, n_designs = 8, 700 if n_units < 4096 else 300
    watched = (0, 1, n_units - 1)
    seen = np.array(
        [
            balanced_design(n_units, n_subsets, included, seed=seed)[list(watched), 0]
            for seed in range(n_designs)
        ]
    )
    patterns = [v for v in range(256) if v.bit_count() == included]
    expected = n_designs / len(patterns)
    for column in seen.T:
        counts = np.array([np.sum(column == pattern) for pattern in patterns])
        assert counts.sum() == n_designs
        statistic = np.sum((counts - expected) ** 2 / expected)
        freedom = len(patterns) - 1
        assert statistic < freedom + 4.9 * np.sqrt(2 * freedom) + 16


@pytest.mark.parametrize("included", [64, 32, 63, 100])
def test_patterns_of_a_stratum_correlate_like_independent_ones(included: int) -> None:
    # 19,900 pairs: the root mean square of independent patterns scatters by about 0.5 %.
    n_subsets = 128
    found = correlations(members(balanced_design(200, n_subsets, included, seed=2), n_subsets))
    independent = 1 / np.sqrt(n_subsets - 1)
    assert np.sqrt(np.mean(found**2)) == pytest.approx(independent, rel=0.05)
    assert found.mean() == pytest.approx(-1 / 199, abs=1e-3)
    assert np.abs(found).max() < 6 * independent


@pytest.mark.parametrize("lag", [1, 2, 63, 64, 8192])
def test_no_trace_of_the_deal_in_a_large_chunk(lag: int) -> None:
    # Before mixing, neighbours are complements (mean -0.5). Standard error of the mean: 0.0007.
    signs = 2.0 * members(balanced_design(16384, 128, 64, seed=7), 128) - 1.0
    assert abs(np.mean(signs[lag:] * signs[:-lag])) < 0.0035


def test_units_that_share_machine_words_are_mixed_too() -> None:
    # Sums of 64 neighbours: variance 16 if independent, 0 as dealt. Standard error: 1.5 %.
    bits = members(balanced_design(16384, 128, 64, seed=8), 128)
    sums = bits.reshape(-1, 64, 128).sum(axis=1, dtype=np.int64)
    assert sums.var() == pytest.approx(16.0, rel=0.075)


@pytest.mark.soak
def test_knowing_one_unit_tells_nothing_about_another() -> None:
    # Over designs: P(u in | v in) - 1/2 for fixed u, v, at subset 0. Standard error: 0.0183.
    bits = np.array(
        [
            members(balanced_design(300, 16, 8, seed=seed), 16)[[0, 1, 150, 299], 0]
            for seed in range(750)
        ]
    )
    for other in (1, 2, 3):
        shared = np.mean(bits[:, 0] == bits[:, other])
        assert abs(shared - 0.5) < 0.0913


def test_deterministic_per_seed_and_different_between_seeds() -> None:
    strata = np.arange(6000) % 3
    first = balanced_design(6000, 128, 64, strata=strata, seed=11)
    np.testing.assert_array_equal(first, balanced_design(6000, 128, 64, strata=strata, seed=11))
    other = balanced_design(6000, 128, 64, strata=strata, seed=12)
    assert np.mean(members(first, 128) == members(other, 128)) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("n_units", "n_subsets", "included", "n_strata", "seed", "digest"),
    [
        (3, 4, 2, 1, 0, "8e1aba18a7b8152e"),
        (300, 128, 64, 1, 0, "45b460f3efc08991"),
        (300, 128, 32, 3, 1, "a85cb142fcba5b23"),
        (4096, 16, 8, 1, 2**130, "d73b6f6da313f01f"),
        (4999, 12, 5, 2, 7, "2c7021565309e3ba"),
        (40_000, 8, 3, 1, 3, "76d4d0d79ece006c"),
        (700, 2050, 1025, 1, 5, "e07867b1e869685e"),
    ],
)
def test_a_seed_names_one_design_in_every_version(
    n_units: int, n_subsets: int, included: int, n_strata: int, seed: int, digest: str
) -> None:
    """A design is published by its seed: another one would make what was stated of it false."""
    packed = balanced_design(
        n_units, n_subsets, included, strata=np.arange(n_units) % n_strata, seed=seed
    )
    assert hashlib.sha256(packed.tobytes()).hexdigest().startswith(digest)


def test_global_random_state_is_neither_read_nor_changed() -> None:
    global_state: Any = np.random.get_state
    before = global_state()[1].copy()
    first = balanced_design(50, 16, 8)
    np.testing.assert_array_equal(before, global_state()[1])
    np.testing.assert_array_equal(first, balanced_design(50, 16, 8))


def test_unpack_subset() -> None:
    packed = balanced_design(5000, 20, 10)
    bits = members(packed, 20)
    for i in range(20):
        units = unpack_subset(packed, i)
        assert units.dtype == np.int64
        np.testing.assert_array_equal(units, np.flatnonzero(bits[:, i]))
    assert unpack_subset(packed, 23).size == 0
    for bad in (-1, 24, 1.0):
        with pytest.raises(ValueError, match="i must be"):
            unpack_subset(packed, bad)  # type: ignore[arg-type]


def test_inclusion_counts() -> None:
    counts = inclusion_counts(balanced_design(5000, 20, 7))
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, np.full(5000, 7))
    np.testing.assert_array_equal(inclusion_counts(np.array([[255, 1], [0, 6]], np.uint8)), [9, 2])


@pytest.mark.soak
def test_one_million_units_in_little_memory_and_time() -> None:
    # The scratch memory does not grow with the units: 10 million need 160 MB and the same scratch.
    start = time.process_time()
    tracemalloc.start()
    packed = balanced_design(1_000_000, 128, 64)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= packed.nbytes + 40e6
    assert time.process_time() - start < 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 8, 4), "n_units"),
        ((2.0, 8, 4), "n_units"),
        ((True, 8, 4), "n_units"),
        ((10, 1, 1), "n_subsets"),
        ((10, 8, 0), "included"),
        ((10, 8, 8), "included"),
        ((10, 8, 3.5), "included"),
    ],
)
def test_refuses_impossible_designs(arguments: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(DesignError, match=message):
        balanced_design(*arguments)


def test_refuses_bad_strata_and_seeds() -> None:
    with pytest.raises(DesignError, match="entry"):
        balanced_design(10, 8, 4, strata=np.zeros(9, dtype=int))
    with pytest.raises(DesignError, match="entry"):
        balanced_design(10, 8, 4, strata=np.zeros((10, 1), dtype=int))
    with pytest.raises(DesignError, match="dtype"):
        balanced_design(2, 8, 4, strata=["a", "b"])
    with pytest.raises(DesignError, match="seed"):
        balanced_design(2, 8, 4, seed=-1)


def test_accepts_numpy_integers_and_boolean_strata() -> None:
    strata = np.array([True, False] * 8)
    bits = members(balanced_design(np.int64(16), np.int32(8), np.uint8(4), strata=strata), 8)  # type: ignore[arg-type]
    assert_balanced(bits[strata], 4)
    assert_balanced(bits[~strata], 4)


@pytest.mark.parametrize("size", [2, 128, 1024, 1025, 5000])
def test_shuffles_are_permutations_by_keys_with_enough_random_bits(size: int) -> None:
    """Ties are broken by the item's number, so they have to be rare: 22 bits or more decide."""

    class Watched(np.random.Generator):
        def integers(self, *args: object, **options: object) -> object:
            widths.append(np.iinfo(options["dtype"]).bits)
            return super().integers(*args, **options)

    widths: list[int] = []
    shuffles = _shuffles(Watched(np.random.PCG64(0)), 3, size)
    np.testing.assert_array_equal(np.sort(shuffles, axis=1), np.tile(np.arange(size), (3, 1)))
    assert widths[0] - (size - 1).bit_length() >= 22
