"""Spaces of arbitrary inputs."""

from __future__ import annotations

import math

import pytest

from pacsklearn import CandidateSpace
from pacsklearn.core.candidate_space import candidate_space
from pacsklearn.exceptions import DesignError


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
        ([1], None, "at least 2"),
        ([1, 2], [1.0], "2 positive numbers"),
        ([1, 2], [1.0, 0.0], "impossible"),
        ([1, 2], [1.0, math.inf], "positive numbers"),
        (CandidateSpace.of([1, 2]), [0.5, 0.5], "weights must be None"),
    ],
)
def test_arguments(candidates, weights, message):
    with pytest.raises(DesignError, match=message):
        candidate_space(candidates, weights)


def test_a_space_is_taken_as_it_is():
    space = CandidateSpace.of([1, 2])
    assert candidate_space(space, None) is space
