"""The check passes sound criteria and catches every planted fault; so does their first use."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge

from pacsklearn import PACPrivate, Subsets
from pacsklearn.capping.criterion import CriterionBackend
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM
from pacsklearn.plugins import Criterion, GuessCriterion, Success, k_of_n
from pacsklearn.secrets import balanced_space
from pacsklearn.testing import check_criterion

SPACE = balanced_space(24, n_subsets=16, seed=3)


class Pair(Criterion):
    """Telling which of two units was used, where one of both was; a target for each pair."""

    name, statement = "which of two", "tell which of two units was used"

    def __init__(self, space: Any) -> None:
        self.members = space.membership()

    @property
    def n_targets(self) -> int:
        return len(self.members) - 1

    def gains(self, target: int) -> Any:
        first, second = self.members[target], self.members[target + 1]
        yield np.stack([first & ~second]).astype(float)
        yield np.stack([second & ~first]).astype(float)


class Quick(Pair):
    """The same by a function of its own."""

    def success(self, posterior: Any, targets: Any = None) -> Any:
        chosen = np.arange(self.n_targets) if targets is None else targets
        first, second = self.members[chosen], self.members[chosen + 1]
        return np.maximum(posterior @ (first & ~second).T, posterior @ (second & ~first).T)


class Constant(Quick):
    def success(self, posterior: Any, targets: Any = None) -> Any:
        return np.full_like(super().success(posterior, targets), 0.5)


class Halved(Quick):
    def success(self, posterior: Any, targets: Any = None) -> Any:
        return super().success(posterior, targets) / 2


class Larger(Quick):
    def success(self, posterior: Any, targets: Any = None) -> Any:
        return np.minimum(1.7 * super().success(posterior, targets), 1.0)


class Random(Quick):
    def success(self, posterior: Any, targets: Any = None) -> Any:
        return np.random.default_rng().random(super().success(posterior, targets).shape)


class Concave(Quick):
    """Right where the belief is certain, too large between: no release could seem worse."""

    def success(self, posterior: Any, targets: Any = None) -> Any:
        return np.sqrt(super().success(posterior, targets))


class OneGuess(Quick):
    def success(self, posterior: Any, targets: Any = None) -> Any:
        chosen = np.arange(self.n_targets) if targets is None else targets
        return posterior @ (self.members[chosen] & ~self.members[chosen + 1]).T.astype(float)


class WrongPrior(Quick):
    def prior(self, weights: Any) -> Any:
        return super().prior(weights) / 2


class WrongOrder(Quick):
    """Answers for all targets but in an order of its own."""

    def success(self, posterior: Any, targets: Any = None) -> Any:
        return super().success(posterior, None if targets is None else np.sort(targets))


class Transposed(Pair):
    def gains(self, target: int) -> Any:
        yield from (rows.T for rows in super().gains(target))


class Doubled(Pair):
    def gains(self, target: int) -> Any:
        yield from (2 * rows for rows in super().gains(target))


class Moving(Pair):
    def gains(self, target: int) -> Any:
        yield np.random.default_rng().random((2, 16))


class TooHigh(Pair):
    lowest = 0.5


class Sets(Pair):
    def sets(self, targets: Any = slice(None)) -> Any:
        return self.members[:-1][targets]


class Fewer(Pair):
    @property
    def distinct(self) -> Any:
        return np.arange(2)


PLANTED = [
    (Constant, "success"),
    (Halved, "success|prior"),
    (Larger, "success|prior"),
    (Random, "success"),
    (Concave, "success|prior"),
    (OneGuess, "success|prior"),
    (WrongPrior, "prior"),
    (WrongOrder, "success"),
    (Transposed, "gains"),
    (Doubled, "gains"),
    (Moving, "gains"),
    (TooHigh, "lowest"),
    (Sets, "sets"),
    (Fewer, "distinct"),
]


@pytest.mark.parametrize("sound", [Pair, Quick, lambda space: k_of_n(space, 9)])
def test_sound_criteria_pass(sound: Any) -> None:
    check_criterion(sound, SPACE)
    check_criterion(sound(SPACE), SPACE, random_state=5)


@pytest.mark.parametrize(
    ("planted", "rule"), PLANTED, ids=lambda each: getattr(each, "__name__", "")
)
def test_planted_faults_are_caught(planted: Any, rule: str) -> None:
    with pytest.raises(AssertionError, match=f"Rule broken: ({rule})"):
        check_criterion(planted, SPACE)


@pytest.mark.parametrize("planted", [planted for planted, _ in PLANTED])
def test_what_is_planted_is_not_believed_where_it_is_used(planted: Any) -> None:
    """A constant and a halved success released the exact model: the table alone counts."""
    cap, beliefs = Success(partial(planted), 0.6), np.eye(16)
    if planted in (Transposed, Doubled, Moving):
        with pytest.raises(ValueError, match="gains"):
            cap.criterion(SPACE)
        return
    used, sound = cap.criterion(SPACE), Pair(SPACE)
    np.testing.assert_array_equal(used.success(beliefs), sound.success(beliefs))
    np.testing.assert_array_equal(used.prior(SPACE.weights), sound.prior(SPACE.weights))
    np.testing.assert_array_equal(used.distinct, np.arange(23))
    assert (used.lowest, used.sets()) == (0.0, None)


def test_a_name_of_another_attack_caps_nothing_of_it() -> None:
    """The figure at memberships would be that of something else."""

    class Named(Pair):
        aim = MEMBERSHIP_AIM

    assert Success(Named, 0.6).criterion(SPACE).aim == ""


def test_the_table_is_the_success() -> None:
    """Brute force over guesses, beliefs and targets, by hand; and the function agrees."""
    beliefs = np.random.default_rng(1).dirichlet(np.full(16, 0.3), size=30)
    found = Pair(SPACE).success(beliefs)
    members = SPACE.membership()
    for belief, row in zip(beliefs, found, strict=True):
        for unit in range(23):
            only = [
                sum(belief[s] for s in range(16) if members[a, s] and not members[b, s])
                for a, b in ((unit, unit + 1), (unit + 1, unit))
            ]
            assert row[unit] == pytest.approx(max(only))
    np.testing.assert_allclose(Quick(SPACE).success(beliefs), found)


def test_what_is_no_criterion_is_named() -> None:
    with pytest.raises(AssertionError, match="declarations"):
        check_criterion(lambda space: np.eye(3), SPACE)  # type: ignore[arg-type, return-value]
    nameless = GuessCriterion(np.eye(16), "", "name it")
    with pytest.raises(AssertionError, match="name"):
        check_criterion(nameless, SPACE)


def test_a_criterion_by_its_table_caps_a_release() -> None:
    X, y = load_iris(return_X_y=True)
    quick = CriterionBackend(n_certificate=2**11)
    for sound in (Pair, Quick):
        model = PACPrivate(
            Ridge(), budget=Success(partial(sound), 0.6), noise=quick, secret=Subsets(16)
        )
        guarantee = model.fit(X[::6][:24], y[::6][:24]).guarantee_
        assert 0 < guarantee.spent <= 0.6
        assert not guarantee.noiseless
