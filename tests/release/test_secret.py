"""The drawn candidate: once, by its weights, in one process; and what is believed of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pacsklearn.exceptions import ForeignProcessError, PrivacyLeakWarning
from pacsklearn.noise.sampler import SecureSampler, SeededSampler
from pacsklearn.release.secret import Secret, opening_belief, resumed_sampler, sampler_for

WEIGHTS = np.array([1.0, 0.5, 5.0, 1.5])


def secret(seed: int = 0) -> Secret:
    return Secret(WEIGHTS, SeededSampler(np.random.default_rng(seed)))


def test_it_is_drawn_once_and_by_its_weights() -> None:
    drawn = []
    for seed in range(2000):
        one = secret(seed)
        drawn.append(one.index)
        assert one.index == drawn[-1] == one.export()[0]
    # Five standard deviations of a share.
    share = np.bincount(drawn, minlength=4) / 2000
    assert np.all(
        np.abs(share - WEIGHTS / 8) <= 5 * np.sqrt(WEIGHTS / 8 * (1 - WEIGHTS / 8) / 2000)
    )


def test_the_belief_is_that_of_all_likelihoods_together() -> None:
    one = secret()
    assert one.belief == pytest.approx(WEIGHTS / 8)
    assert np.array_equal(one.belief, opening_belief(WEIGHTS))
    parts = np.random.default_rng(0).normal(size=(3, 4)) * 50
    for part in parts:
        one.learn(part)
    weights = WEIGHTS * np.exp(parts.sum(axis=0) - parts.sum(axis=0).max())
    assert one.belief == pytest.approx(weights / weights.sum(), rel=1e-9)
    other = secret(7)
    other.restore(*one.export())
    assert other.index == one.index
    assert np.array_equal(other.belief, one.belief)


def test_a_candidate_that_was_drawn_elsewhere() -> None:
    one, numbers = secret(), np.array([2, 0, 2])
    for wrong in (-1, 3, True, 1.0, None, "0"):
        with pytest.raises(ValueError, match="an integer from 0 to 2; what was given is withheld"):
            one.use(wrong, numbers)
    for given, candidate in enumerate(numbers):
        one.use(given, numbers)
        assert one.index == candidate
    assert "2" not in repr(one)


def test_another_process_neither_draws_nor_learns(
    in_a_child: Callable[[Callable[[], Any]], Any],
) -> None:
    one = secret()
    for ask in (
        lambda: one.index,
        lambda: one.learn(np.zeros(4)),
        lambda: one.use(0, np.arange(4)),
        one.export,
    ):
        assert isinstance(in_a_child(ask), ForeignProcessError)


@pytest.mark.parametrize(("random_state", "seed"), [(0, 209652396), (1, 1791095845)])
def test_a_seed_names_the_same_noise_in_every_version(random_state: int, seed: int) -> None:
    """Numbers of scikit-learn's own rule for seeds, which do not change."""
    with pytest.warns(PrivacyLeakWarning, match="NOT private"):
        found = sampler_for(random_state)
    expected = SeededSampler(np.random.default_rng(seed))
    assert np.array_equal(found.noise(20), expected.noise(20))
    assert not found.is_secure


def test_nothing_but_a_seed_makes_it_predictable() -> None:
    assert type(sampler_for(None)) is type(resumed_sampler(None)) is SecureSampler
    again = resumed_sampler(np.random.default_rng(3))
    assert np.array_equal(again.noise(9), SeededSampler(np.random.default_rng(3)).noise(9))
