"""Values that scikit-learn clones and sets: subsets and priors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from pacsklearn import Subsets
from pacsklearn.priors import Constant, Expected, Prior, Range
from pacsklearn.secrets import SubsetSeed


@pytest.mark.parametrize(
    "value",
    [Subsets(16, rate=0.25, seed=3), Range(0, 9), Expected(2, Range(1, 4)), Constant(7)],
    ids=repr,
)
def test_values_are_cloned_and_compared(value: Any) -> None:
    copied = clone(value)
    assert copied == value
    assert copied is not value
    assert repr(copied) == repr(value)
    assert eval(repr(value)) == value  # noqa: S307 - our own text


def test_nested_names_reach_in() -> None:
    prior = Expected(2, Range(1, 4)).set_params(within__high=9)
    assert prior.bounds == (1, 9)
    with pytest.raises(ValueError, match="seeds"):
        Subsets().set_params(seeds=1)


def test_a_secret_seed_is_drawn_once_and_shared_by_copies() -> None:
    seed = SubsetSeed()
    assert clone(Subsets(seed=seed)).seed is seed
    first, second = Subsets().design(), Subsets().design()
    assert isinstance(first.seed, SubsetSeed)
    assert first.seed is not second.seed
    assert Subsets(8, seed=5).design(random_state=1).seed == 5


@pytest.mark.parametrize(
    ("prior", "mean", "reach", "bounds"),
    [
        (Range(10, 40), 25, 15, (10, 40)),
        (Expected(20, Range(10, 40)), 20, 15, (10, 40)),
        (Expected(-3), -3, 3, None),
    ],
    ids=repr,
)
def test_a_prior_is_a_normal_expectation(
    prior: Prior, mean: float, reach: float, bounds: Any
) -> None:
    assert (prior.normal().mean, prior.normal().reach, prior.bounds) == (mean, reach, bounds)


@pytest.mark.parametrize("prior", [Range(3, 3), Range("a", 1), Expected(0)])
def test_what_is_no_expectation_is_refused(prior: Prior) -> None:
    with pytest.raises(ValueError, match=r"must be|must have|says nothing"):
        prior.normal()


def test_blocks_and_balance_reach_the_design() -> None:
    X = np.random.default_rng(0).normal(size=(120, 3))
    plain, fair, leaning = (
        Subsets(16, seed=3, **given).design().space(X).packed.tobytes()
        for given in ({"blocks": None}, {"balance": None}, {"blocks": 8})
    )
    assert len({plain, fair, leaning}) == 3
    assert Subsets(16, seed=3).design().space(X).packed.tobytes() == leaning
    unblocked = Subsets(16, seed=3, blocks=None, balance=None)
    assert unblocked.design().space(X).packed.tobytes() == plain


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"blocks": 2}, "blocks must be an integer of at least 4, got 2"),
        ({"blocks": 8.0}, "blocks must be an integer of at least 4, got 8.0"),
        ({"balance": "means"}, "balance must be 'moments' or None, got 'means'"),
    ],
)
def test_blocks_and_balances_that_there_are_none_of(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Subsets(**given).design().space(np.zeros((40, 1)))
