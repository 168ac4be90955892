"""Success of the optimal adversary, against brute force over all her guesses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pacsklearn import SecretSpace
from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.guess_criterion import GuessCriterion, identification, k_of_n
from pacsklearn.core.membership_criterion import MembershipCriterion

SPACE = SecretSpace.balanced(8, n_subsets=6, seed=1)
BELIEFS = np.random.default_rng(0).dirichlet(np.full(6, 0.4), size=40)


def test_membership_is_the_better_of_two_answers() -> None:
    members = SPACE.membership()
    found = MembershipCriterion(SPACE).success(BELIEFS)
    for belief, row in zip(BELIEFS, found, strict=True):
        for unit in range(8):
            inside = sum(belief[s] for s in range(6) if members[unit, s])
            assert row[unit] == pytest.approx(max(inside, 1 - inside))
    chosen = MembershipCriterion(SPACE).success(BELIEFS, np.array([3, 1]))
    np.testing.assert_allclose(chosen, found[:, [3, 1]])


def test_units_without_a_secret_are_no_targets() -> None:
    space = SecretSpace.from_subsets([[0, 1], [0, 2]], n_rows=4)
    criterion = MembershipCriterion(space)
    assert criterion.n_targets == 2
    np.testing.assert_allclose(criterion.prior(space.weights), 0.5)


def test_directions_are_weighted_sums_over_those_that_hold_the_unit() -> None:
    outputs = np.random.default_rng(1).standard_normal((6, 2))
    outputs -= BELIEFS[0] @ outputs
    found = MembershipCriterion(SPACE).directions(outputs, BELIEFS[0])
    members = SPACE.membership()
    for unit in range(8):
        inside = members[unit]
        expected = (BELIEFS[0][inside, None] * outputs[inside]).sum(axis=0)
        np.testing.assert_allclose(found[unit], expected)


def test_identification_is_the_largest_belief() -> None:
    found = identification(SPACE).success(BELIEFS)
    np.testing.assert_allclose(found[:, 0], BELIEFS.max(axis=1))
    keys = identification(CandidateSpace.of("abc", [0.5, 0.3, 0.2]))
    assert keys.prior(np.array([0.5, 0.3, 0.2]))[0] == 0.5


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_k_of_n_covers_every_guess(k: int) -> None:
    """All guesses of four of eight units."""
    members = SPACE.membership().T
    best = np.zeros(len(BELIEFS))
    for guess in itertools.combinations(range(8), 4):
        succeeds = members[:, guess].sum(axis=1) >= k
        best = np.maximum(best, BELIEFS @ succeeds)
    found = k_of_n(SPACE, k).success(BELIEFS)[:, 0]
    assert (found >= best - 1e-12).all()
    if k == 4:
        np.testing.assert_allclose(found, best)


def test_a_table_of_guesses() -> None:
    half = GuessCriterion([[1, 0], [1, 0], [0, 1], [0, 0.5]], "half", "tell the half")
    np.testing.assert_allclose(half.prior(np.array([0.1, 0.2, 0.3, 0.4])), [0.5])
    with pytest.raises(ValueError, match="is for 4 candidates, the secret space has 6"):
        half.success(BELIEFS)
    for gains in ([[2.0]], [1.0], np.empty((0, 2))):
        with pytest.raises(ValueError, match="gains must have shape"):
            GuessCriterion(gains, "bad", "do anything")
    with pytest.raises(ValueError, match="k must lie between 1 and the 4 units"):
        k_of_n(SPACE, 5)
