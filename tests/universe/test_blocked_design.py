"""Designs in blocks of similar units: exact balance, no equals together, a floor under variance."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacsklearn.universe import blocked_design as blocked
from pacsklearn.universe.balanced_design import balanced_design
from pacsklearn.universe.blocked_design import similar_blocks
from pacsklearn.universe.similarity import Similarity

GENERATOR = np.random.default_rng(5)
ROWS = GENERATOR.normal(size=(640, 4))
STRATA = np.repeat([0, 1, 2], [400, 223, 17])


def members(packed: NDArray[np.uint8], m: int = 128) -> NDArray[np.bool_]:
    bits = np.unpackbits(packed, axis=1)
    assert not bits[:, m:].any()
    return bits[:, :m].astype(bool)


def blocked_design(*args, **given) -> NDArray[np.uint8]:
    return blocked.blocked_design(*args, **given).packed


def dealt(rows: NDArray[np.float64], seed: int = 0, *, size: int = 8, **given) -> NDArray[np.bool_]:
    return members(blocked_design(Similarity.of(rows, size=size), 128, 64, seed=seed, **given))


@pytest.mark.parametrize(
    ("m", "included"), [(128, 64), (8, 4), (128, 32), (12, 8), (20, 7), (2, 1)]
)
@pytest.mark.parametrize("balanced", [True, False])
def test_every_unit_and_every_subset_has_its_share(m: int, included: int, balanced: bool) -> None:
    similarity = Similarity.of(ROWS, balanced=balanced)
    packed = blocked_design(similarity, m, included, strata=STRATA, seed=3)
    bits = members(packed, m)
    assert set(bits.sum(axis=1).tolist()) == {included}
    for code, n in enumerate(np.bincount(STRATA).tolist()):
        sizes = bits[code == STRATA].sum(axis=0)
        assert sizes.min() >= n * included // m
        assert sizes.max() <= -(-n * included // m)


@settings(max_examples=40)
@given(
    n=st.integers(1, 90),
    half=st.integers(1, 20),
    size=st.integers(4, 12),
    values=st.integers(1, 40),
    seed=st.integers(0, 2**300),
)
def test_any_universe_is_dealt_evenly(n: int, half: int, size: int, values: int, seed: int) -> None:
    rows = np.random.default_rng(n).integers(values, size=(n, 2)).astype(np.float64)
    bits = members(
        blocked_design(Similarity.of(rows, size=size), 2 * half, half, seed=seed), 2 * half
    )
    assert set(bits.sum(axis=1).tolist()) == {half}
    assert np.ptp(bits.sum(axis=0)) <= 1


def test_blocks_are_whole_and_every_subset_holds_half_of_each() -> None:
    similarity = Similarity.of(ROWS)
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(9)))
    blocks = similar_blocks(similarity.cells, similarity.places, STRATA, 8, generator)
    assert blocks.units.shape[1] == 8
    together = np.sort(np.r_[blocks.units.ravel(), blocks.free])
    np.testing.assert_array_equal(together, np.arange(640))
    assert (STRATA[blocks.units] == blocks.strata[:, None]).all()
    assert np.bincount(STRATA[blocks.free]).tolist() == [32, 15, 9]
    bits = members(blocked_design(similarity, 128, 64, strata=STRATA, seed=9))
    assert set(bits[blocks.units].sum(axis=1).ravel().tolist()) == {4}


def test_units_of_a_block_are_near() -> None:
    similarity = Similarity.of(ROWS[:, :2])
    generator = np.random.default_rng(0)
    blocks = similar_blocks(similarity.cells, similarity.places, np.zeros(640, int), 8, generator)
    within = ROWS[blocks.units, :2].var(axis=1).mean()
    assert within < 0.12 * ROWS[:, :2].var(axis=0).mean()


@pytest.mark.parametrize("copies", [2, 8])
@pytest.mark.parametrize("n", [40, 200, 5000])
def test_equal_units_share_no_block(copies: int, n: int) -> None:
    rows = np.random.default_rng(1).normal(size=(n, 3)).repeat(copies, axis=0)
    similarity = Similarity.of(rows)
    generator = np.random.default_rng(0)
    blocks = similar_blocks(
        similarity.cells, similarity.places, np.zeros(n * copies, int), 8, generator
    )
    cells = np.sort(similarity.cells[blocks.units], axis=1)
    assert len(cells) >= n * copies // 16
    assert (cells[:, 1:] != cells[:, :-1]).all()


def test_fewer_different_units_than_a_block_holds_are_dealt_freely() -> None:
    rows = np.resize(np.arange(7.0), 700)[:, None]
    similarity = Similarity.of(rows)
    generator = np.random.default_rng(0)
    blocks = similar_blocks(similarity.cells, similarity.places, np.zeros(700, int), 8, generator)
    assert len(blocks.units) == 0
    assert blocks.free.size == 700


def variance(bits: NDArray[np.bool_], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over candidates, of the sums over each one's units."""
    return np.asarray((bits.T.astype(np.float64) @ sums).var(axis=0))


TABLES = {
    "rows of a normal law": GENERATOR.normal(size=(640, 3)),
    "one column": GENERATOR.normal(size=(640, 1)),
    "every row twice": GENERATOR.normal(size=(320, 3)).repeat(2, axis=0),
    "every row eight times": GENERATOR.normal(size=(80, 3)).repeat(8, axis=0),
    "rows nearly twice": GENERATOR.normal(size=(320, 3)).repeat(2, axis=0)
    + 1e-9 * GENERATOR.normal(size=(640, 3)),
    "tight clusters": GENERATOR.normal(size=(20, 3)).repeat(32, axis=0)
    + 1e-4 * GENERATOR.normal(size=(640, 3)),
    "heavy tails": GENERATOR.standard_cauchy(size=(640, 3)),
    "few values": GENERATOR.integers(3, size=(640, 2)).astype(np.float64),
}


@pytest.mark.product(only=3)
@pytest.mark.parametrize("name", TABLES)
def test_the_variance_is_never_below_a_sixteenth(name: str) -> None:
    """Of sums that nobody balanced either: the floor is the free units', whatever the table is."""
    rows = TABLES[name]
    sums = np.hstack([rows, rows**2, np.abs(rows), np.sin(3 * rows)])
    sums = (sums - sums.mean(axis=0)) / sums.std(axis=0)
    ratios = []
    for seed in range(4):
        plain = variance(members(balanced_design(640, 128, 64, seed=seed)), sums)
        ratios.append(variance(dealt(rows, seed), sums) / plain)
    # Each is over 128 candidates and a draw of 40 free units.
    assert np.median(np.mean(ratios, axis=0)) > 1 / 16
    assert np.mean(ratios, axis=0).min() > 1 / 32


def test_pairs_of_equals_would_be_found_out() -> None:
    """What the rule is about: with every row twice, halves of pairs hold the same numbers."""
    rows = TABLES["every row twice"]
    one = np.random.default_rng(0).random((320, 128)) < 0.5
    pairs = np.stack([one, ~one], axis=1).reshape(640, 128)
    assert variance(pairs, rows).max() < 1e-20
    assert variance(dealt(rows), rows).min() > 1


def test_moments_are_balanced_by_the_walk_and_not_by_fair_coins() -> None:
    plain = variance(members(balanced_design(640, 128, 64)), ROWS).mean()
    fair = members(blocked_design(Similarity.of(ROWS, balanced=False), 128, 64))
    assert variance(fair, ROWS).mean() < 0.75 * plain
    assert variance(dealt(ROWS), ROWS).mean() < 0.4 * variance(fair, ROWS).mean()


def test_what_hardly_varies_takes_no_coins_from_what_varies_most() -> None:
    """Two wide directions among thirty: leaning by inverse variances leaves 0.82 of their sums."""
    left = []
    for seed in range(4):
        generator = np.random.default_rng(seed)
        wide = generator.normal(size=(640, 2))
        rows = wide @ generator.normal(size=(2, 30)) + 0.05 * generator.normal(size=(640, 30))
        walked, fair = (
            members(blocked_design(Similarity.of(rows, balanced=balanced), 128, 64))
            for balanced in (True, False)
        )
        left.append(variance(walked, wide).mean() / variance(fair, wide).mean())
    assert np.mean(left) < 0.75


def test_no_subset_is_the_complement_of_another() -> None:
    signs = 2.0 * dealt(ROWS) - 1.0
    alike = np.triu(signs.T @ signs, 1) / 640
    assert np.abs(alike).max() < 0.25  # six standard deviations of independent ones


def test_no_unit_tells_another_for_certain() -> None:
    """Outliers and mates included: coins show each side with a chance of at least 1/4."""
    rows = ROWS.copy()
    rows[:2] = 1e6, -1e6, 1e6, -1e6
    signs = 2.0 * dealt(rows) - 1.0
    told = (1 + np.abs(np.triu(signs @ signs.T / 128, 1))) / 2
    assert told.max() < 0.9
    assert told[0, 1] < 0.8


def test_a_stated_seed_draws_what_it_always_drew() -> None:
    """Figures of whole numbers: the same on every processor."""
    generator = np.random.default_rng(0)
    similarity = Similarity(
        generator.integers(2**64, size=500, dtype=np.uint64),
        generator.integers(-50, 50, size=(500, 3)).astype(np.int16),
        generator.integers(-16, 17, size=(500, 5)).astype(np.float32),
    )
    packed = blocked_design(similarity, 128, 64, strata=np.repeat([0, 1], 250), seed=7)
    assert hashlib.sha256(packed.tobytes()).hexdigest()[:16] == "34f113c5d860bfd2"


def test_seeds_draw_other_designs() -> None:
    similarity = Similarity.of(ROWS)
    first = blocked_design(similarity, 128, 64, seed=11)
    np.testing.assert_array_equal(first, blocked_design(similarity, 128, 64, seed=11))
    assert (first != blocked_design(similarity, 128, 64, seed=12)).mean() > 0.9
    long = blocked_design(similarity, 128, 64, seed=2**200 + 11)
    assert (first != long).mean() > 0.9
