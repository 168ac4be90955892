"""Subsets drawn from all balanced ones, and trials of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.noise.sampler import SecureSampler, SeededSampler
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.sampled.sampled_subsets import SampledSubsets
from pacsklearn.secrets import SubsetSeed
from pacsklearn.universe.design import Design

Y = np.repeat(["a", "b", "c"], [10, 7, 4])

SIZES = SampledSubsets()


def rows(n: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n, 2))


def drawn_of(**design: object) -> DrawnSubsets:
    return DrawnSubsets.of(Design(**design), SIZES, rows(len(Y)), Y, classifies=True)


@pytest.mark.parametrize("sampler", [SecureSampler(), SeededSampler(np.random.default_rng(0))])
def test_secrets_hold_their_share_of_every_class_and_differ(sampler) -> None:
    drawn = drawn_of()
    found = np.stack([drawn.draw(sampler) for _ in range(400)])
    for name, allowed in (("a", {5}), ("b", {3, 4}), ("c", {2})):
        assert set(found[:, name == Y].sum(axis=1).tolist()) == allowed
    # 6.5 standard errors: a wrong alarm of one of 21 rows once in 6e8 runs.
    assert np.all(np.abs(found.mean(axis=0) - 0.5) < 6.5 * 0.5 / np.sqrt(400))
    assert len(np.unique(found, axis=0)) > 390


def test_secrets_hold_half_of_every_block_and_of_every_class() -> None:
    """Half of every class exactly, where blocks are even; units in no block have their class."""
    labels = np.repeat([0, 1], [160, 80])
    drawn = DrawnSubsets.of(Design(blocks=8), SIZES, rows(240), labels, classifies=True)
    sizes = np.bincount(drawn.strata)
    assert sizes.sum() == 240
    assert sizes[2:].tolist() == [8] * 25  # and one in 16 of each class at least is in none
    assert all(np.unique(labels[drawn.strata == block]).size == 1 for block in range(sizes.size))
    found = np.stack([drawn.draw(SecureSampler()) for _ in range(400)])
    for block in range(sizes.size):
        assert set(found[:, drawn.strata == block].sum(axis=1).tolist()) == {sizes[block] // 2}
    # 6.5 standard errors: a wrong alarm of one of 240 rows once in 5e7 runs.
    assert np.all(np.abs(found.mean(axis=0) - 0.5) < 6.5 * 0.5 / np.sqrt(400))
    assert drawn.known[1] == pytest.approx((0.5, 4 / 7), abs=0.003)
    # Entropy of independent halves.
    assert drawn.entropy == pytest.approx(sum(math.log(math.comb(n, n // 2)) for n in sizes))


@pytest.mark.parametrize(("rate", "size"), [(0.5, 4), (0.1, 10), (1 / 3, 4), (0.9, 4)])
def test_every_block_is_seen_at_every_rate(rate: float, size: int) -> None:
    drawn = DrawnSubsets.of(Design(blocks=4, rate=rate), SIZES, rows(200))
    assert set(np.bincount(drawn.strata)[1:]) == {size}
    assert all(np.unique(drawn.strata[drawn.trial(i)]).size == drawn.strata.max() + 1
               for i in range(20))  # fmt: skip


def test_equal_rows_share_no_block() -> None:
    """With every row twice or eight times, halves of blocks would be halves of equal tables."""
    for copies in (2, 8):
        X = np.tile(rows(40), (copies, 1))
        drawn = DrawnSubsets.of(Design(blocks=4), SIZES, X)
        blocks = drawn.strata.reshape(copies, 40)
        for own in blocks.T:
            blocked = own[own > 0]
            assert np.unique(blocked).size == blocked.size


def test_trials_are_public_and_the_secret_is_not() -> None:
    one, other = drawn_of(seed=3), drawn_of(seed=3)
    assert all(np.array_equal(one.trial(i), other.trial(i)) for i in range(5))
    assert not np.array_equal(one.trial(0), drawn_of(seed=4).trial(0))
    sampler = SecureSampler()
    # Of 105,840 secrets; three that are equal are drawn once in 1e10 runs.
    assert len(np.unique([one.draw(sampler) for _ in range(3)], axis=0)) > 1
    assert "seed" not in repr(drawn_of(seed=SubsetSeed()))


def test_trials_that_coincide_stay_as_many_as_they_were_drawn() -> None:
    tiny = DrawnSubsets.of(Design(), SIZES, rows(4))
    trials = tiny.trials(0, 60)
    assert trials.space.n_subsets <= 6
    assert trials.numbers.shape == (60,)
    for number in range(60):
        assert np.array_equal(
            np.flatnonzero(tiny.trial(number)), trials.space.rows(int(trials.numbers[number]))
        )


def test_groups_move_together() -> None:
    groups = np.arange(21) // 2
    drawn = DrawnSubsets.of(Design(groups=groups, stratify=False), SIZES, rows(21))
    assert drawn.unit == "group"
    assert drawn.n_units == 11
    held = drawn.rows(0)
    assert set(groups[held]) == set(np.flatnonzero(drawn.trial(0)))
    assert np.isin(groups, groups[held]).sum() == held.size


def test_a_class_that_a_subset_could_miss_is_refused() -> None:
    labels = np.repeat(["a", "b"], [20, 1])
    with pytest.raises(DesignError, match="class"):
        DrawnSubsets.of(Design(), SIZES, rows(21), labels, classifies=True)
    few = np.repeat([0, 1], [20, 3])
    with pytest.raises(DesignError, match="every"):
        DrawnSubsets.of(Design(rate=0.25), SIZES, rows(23), few, classifies=True)
