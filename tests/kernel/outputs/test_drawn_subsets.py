"""Subsets drawn from all balanced ones, and trials of them."""

from __future__ import annotations

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


def drawn_of(**design: object) -> DrawnSubsets:
    return DrawnSubsets.of(
        Design(**design), SIZES, len(design.get("groups", Y)), Y, classifies=True
    )


@pytest.mark.parametrize("sampler", [SecureSampler(), SeededSampler(np.random.default_rng(0))])
def test_secrets_hold_their_share_of_every_class_and_differ(sampler) -> None:
    drawn = drawn_of()
    found = np.stack([drawn.draw(sampler) for _ in range(400)])
    for name, allowed in (("a", {5}), ("b", {3, 4}), ("c", {2})):
        assert set(found[:, name == Y].sum(axis=1).tolist()) == allowed
    # Five standard errors; a wrong alarm in fewer than one run of 50,000.
    assert np.all(np.abs(found.mean(axis=0) - 0.5) < 5 * 0.5 / np.sqrt(400))
    assert len(np.unique(found, axis=0)) > 390


def test_trials_are_public_and_the_secret_is_not() -> None:
    one, other = drawn_of(seed=3), drawn_of(seed=3)
    assert all(np.array_equal(one.trial(i), other.trial(i)) for i in range(5))
    assert not np.array_equal(one.trial(0), drawn_of(seed=4).trial(0))
    sampler = SecureSampler()
    assert not np.array_equal(one.draw(sampler), one.draw(sampler))
    assert "seed" not in repr(drawn_of(seed=SubsetSeed()))


def test_trials_that_coincide_stay_as_many_as_they_were_drawn() -> None:
    tiny = DrawnSubsets.of(Design(), SIZES, 4)
    trials = tiny.trials(0, 60)
    assert trials.space.n_subsets <= 6
    assert trials.numbers.shape == (60,)
    for number in range(60):
        assert np.array_equal(
            np.flatnonzero(tiny.trial(number)), trials.space.rows(int(trials.numbers[number]))
        )


def test_groups_move_together() -> None:
    groups = np.arange(21) // 2
    drawn = DrawnSubsets.of(Design(groups=groups, stratify=False), SIZES, 21)
    assert drawn.unit == "group"
    assert drawn.n_units == 11
    rows = drawn.rows(0)
    assert set(groups[rows]) == set(np.flatnonzero(drawn.trial(0)))
    assert np.isin(groups, groups[rows]).sum() == rows.size


def test_a_class_that_a_subset_could_miss_is_refused() -> None:
    labels = np.repeat(["a", "b"], [20, 1])
    with pytest.raises(DesignError, match="class"):
        DrawnSubsets.of(Design(), SIZES, 21, labels, classifies=True)
    with pytest.raises(DesignError, match="every"):
        DrawnSubsets.of(Design(rate=0.25), SIZES, 23, np.repeat([0, 1], [20, 3]), classifies=True)
