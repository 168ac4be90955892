"""Spaces of arbitrary inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from pacsklearn import Nats, PrivacySession
from pacsklearn.estimators.subsets import candidate_space
from pacsklearn.exceptions import BudgetError, DesignError
from pacsklearn.secrets import CandidateSpace
from tests.inside import secret_of


@dataclass
class Unhashable:
    number: float


class Raises:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no answer")

    def __hash__(self) -> int:
        raise RuntimeError("no hash")

    def __reduce__(self) -> Any:
        raise RuntimeError("no pickle")


def test_uniform_and_weighted():
    space = CandidateSpace.of(iter("abcd"))
    assert space.n_candidates == 4
    assert space.entropy == pytest.approx(math.log(4))
    assert space.candidates == ("a", "b", "c", "d")
    space = CandidateSpace.of([{}, []], weights=[3, 1])
    assert space.weights.tolist() == [0.75, 0.25]


def test_candidates_stay_out_of_the_repr():
    assert "hunter2" not in repr(CandidateSpace.of(["hunter2", "swordfish"]))


@pytest.mark.parametrize(
    ("candidates", "weights", "message"),
    [
        ([1], None, "least"),
        ([], None, "inputs"),
        ([1, 2], [1.0], "positive"),
        ([1, 2], [1.0, 0.0], "impossible"),
        ([1, 2], [1.0, math.inf], "positive"),
        (CandidateSpace.of([1, 2]), [0.5, 0.5], "weights"),
    ],
)
def test_arguments(candidates, weights, message):
    with pytest.raises(DesignError, match=message):
        candidate_space(candidates, weights)


def test_a_space_is_taken_as_it_is():
    space = CandidateSpace.of([1, 2])
    assert candidate_space(space, None) is space


def test_inputs_that_are_the_same_are_one_candidate() -> None:
    """Blindly naming 'a' succeeds in 75 %; 25 % was stated."""
    space = CandidateSpace.of(["a", "a", "a", "b"])
    assert space.candidates == ("a", "b")
    assert space.weights.tolist() == [0.75, 0.25]
    assert space.numbers.tolist() == [0, 0, 0, 1]
    assert space.entropy == pytest.approx(0.75 * np.log(4 / 3) + 0.25 * np.log(4))


@pytest.mark.parametrize(
    ("inputs", "n_distinct"),
    [
        ([1, 1.0, True, 2, np.float32(2), np.int8(1)], 2),
        ([0.0, -0.0, float("nan"), float("nan")], 2),
        ([np.arange(3), np.arange(3), np.arange(3.0), np.arange(3)[None]], 2),
        ([np.array([0.0]), np.array([-0.0]), np.array([2**60]), np.array([2.0**60])], 2),
        ([np.array([0.0]), np.array([1e-17])], 2),
        ([np.array([2**53]), np.array([2**53 + 1]), np.array([2**60]), np.array([2**60 + 1])], 4),
        ([np.array([float("nan")], dtype=object), np.array([float("nan")], dtype=object), 1], 2),
        ([np.array(["a"]), np.array(["a"], dtype=object), np.array(["b"])], 2),
        ([(1, [2]), (1, [2]), (1, (2,)), (True, [2])], 2),
        ([(1, np.ones(2)), (1.0, np.ones(2, dtype=int)), (1, np.zeros(2))], 2),
        ([{"x": 1}, {"x": 1.0}, {"x": 2}], 2),
        ([{1, 2}, frozenset({1, 2}), {1, 2}, {3}], 2),
        ([b"ab", bytearray(b"ab"), b"c"], 2),
        ([Unhashable(1), Unhashable(1.0), Unhashable(2)], 2),
        ([Raises(), Raises()], 2),
        ([lambda: 1, lambda: 1], 2),
        ([range(3), range(3), range(0, 3, 1), range(4)], 2),
    ],
)
def test_inputs_that_are_equal_are_one(inputs: list[Any], n_distinct: int) -> None:
    assert CandidateSpace.of(inputs).n_candidates == n_distinct


def test_the_first_of_equal_inputs_stands_for_all() -> None:
    """Naming the value 1 succeeds in 75 % without any release; 25 % was stated."""
    weights = [0.1, 0.2, 0.3, 0.4]
    space = CandidateSpace.of([1, 1.0, True, 2], weights)
    assert [type(one) for one in space.candidates] == [int, int]
    assert space.weights == pytest.approx([0.6, 0.4])
    with PrivacySession.over([1, 1.0, True, 2], budget=0.1, secret=2) as session:
        release = session.release_function(lambda one: [type(one) is bool, one])
    assert release.guarantee.prior_identification == 0.75
    assert "compare equal" in str(release.guarantee.not_covered)
    assert release.value[0] == 0  # a function is never given the True
    many = CandidateSpace.of([*range(5000), *np.arange(5000.0)])
    assert many.n_candidates == 5000


def test_the_same_input_again_and_again_is_no_secret() -> None:
    with pytest.raises(DesignError, match="inputs"):
        CandidateSpace.of(["a"] * 3)


def test_what_a_session_over_equal_inputs_states() -> None:
    with PrivacySession.over(["a", "a", "a", "b"], budget=0.1, secret=2) as session:
        assert secret_of(session).index == 0
        release = session.release_function(ord)
    guarantee = release.guarantee
    assert guarantee.prior_identification == 0.75
    assert guarantee.secret.n_candidates == 2
    assert "guessing blindly has 75.00 %" in guarantee.promise
    assert guarantee.posterior_identification > 0.75
    with pytest.raises(ValueError, match="from 0 to 3"):
        PrivacySession.over(["a", "a", "a", "b"], budget=0.1, secret=4)


def test_a_budget_beyond_what_distinct_inputs_hold_hides_nothing() -> None:
    entropy = CandidateSpace.of(["a", "a", "a", "b"]).entropy
    inputs = ["a", "a", "a", "b"]
    with pytest.raises(BudgetError, match="candidates"):
        PrivacySession.over(inputs, budget=entropy)
    session = PrivacySession.over(inputs, budget=Nats(entropy, allow_exact=True), secret=3)
    release = session.release_function(ord)
    assert release.value == pytest.approx(ord("b"))
    assert release.guarantee.noiseless
