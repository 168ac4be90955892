"""Success of the optimal adversary, against brute force over all her guesses."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion, identification, k_of_n
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.secrets import balanced_space
from pacsklearn.universe.listed_space import listed_space

SPACE = balanced_space(8, n_subsets=6, seed=1)
BELIEFS = np.random.default_rng(0).dirichlet(np.full(6, 0.4), size=40)


def test_membership_is_the_better_of_two_answers() -> None:
    members = SPACE.membership()
    found = MembershipCriterion(SPACE).success(BELIEFS)
    for belief, row in zip(BELIEFS, found, strict=True):
        for unit in range(8):
            inside = sum(belief[s] for s in range(6) if members[unit, s])
            assert row[unit] == pytest.approx(max(inside, 1 - inside))
    # The gains that attacks are played with say the same as the closed form.
    np.testing.assert_allclose(Criterion.success(MembershipCriterion(SPACE), BELIEFS), found)
    chosen = MembershipCriterion(SPACE).success(BELIEFS, np.array([3, 1]))
    np.testing.assert_allclose(chosen, found[:, [3, 1]])


def test_units_without_a_secret_are_no_targets() -> None:
    space = listed_space([[0, 1], [0, 2]], n_rows=4)
    criterion = MembershipCriterion(space)
    assert criterion.n_targets == 2
    np.testing.assert_allclose(criterion.prior(space.weights), 0.5)


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
    half = GuessCriterion([[1, 1, 0, 0], [0, 0, 1, 0.5]], "half", "tell the half")
    np.testing.assert_allclose(half.prior(np.array([0.1, 0.2, 0.3, 0.4])), [0.5])
    with pytest.raises(ValueError, match="candidates"):
        half.success(BELIEFS)
    for gains in ([[2.0]], [1.0], np.empty((2, 0)), [[-0.1]], [[np.nan]], [[[1.0]]]):
        with pytest.raises(ValueError, match="gains"):
            GuessCriterion(gains, "bad", "do anything")
    with pytest.raises(ValueError, match="candidates"):
        half.success(BELIEFS[:, :3])
    for k in (5, 0, -1):
        with pytest.raises(ValueError, match="k"):
            k_of_n(SPACE, k)


@pytest.mark.parametrize(
    "gains",
    [
        *(np.ones(shape) for shape in (6, (0, 6), (2, 5), (1, 6, 6))),
        *(np.full((2, 6), gain) for gain in (1.5, -0.5, np.nan)),
    ],
)
def test_gains_of_ones_own_are_probabilities_for_each_candidate(gains: Floats) -> None:
    class Own(Criterion):
        name = "own"
        statement = "do anything"
        n_targets = 1

        def gains(self, target: int) -> Iterator[Floats]:
            yield gains

    with pytest.raises(ValueError, match="'own' has gains"):
        Own().success(BELIEFS)


def test_units_that_are_not_listed_are_looked_at() -> None:
    whole = listed_space([[0, 1], [0, 2], [1, 2]], n_rows=3)

    class Sampled:
        has_members = True
        n_units = 3
        packed = whole.packed[:2]
        protected = np.arange(2)

        def membership(self, units: Any) -> NDArray[np.bool_]:
            return whole.membership()[:2][units]

        def worst(self, figure: Callable[[NDArray[np.bool_]], Floats]) -> float:
            return float(figure(whole.membership()).max())

    criterion = MembershipCriterion(Sampled())  # type: ignore[arg-type]
    assert criterion.n_targets == 3
    for belief, worst in (([0.6, 0.1, 0.3], 0.9), ([0.4, 0.35, 0.25], 0.75), ([0.5, 0.5, 0], 1.0)):
        assert criterion.expected(np.ones(1), np.array([belief])) == pytest.approx(worst)


def test_one_unit_of_each_pattern_of_membership() -> None:
    subsets = [[0, 1, 4], [0, 1, 2, 4], [2, 3, 4, 6]]  # 0 and 1 alike, 4 in all, 5 in none
    space = listed_space(subsets, n_rows=7)
    criterion = MembershipCriterion(space)
    assert criterion.n_targets == 5
    assert criterion.distinct.tolist() == [0, 2, 3]
    assert np.array_equal(criterion.sets(), space.membership()[[0, 1, 2, 3, 6]])


def test_success_is_never_more_than_certainty() -> None:
    """Beliefs sum to one but for rounding."""
    beliefs = BELIEFS * (1 + 1e-12)
    certain = np.eye(6) * (1 + 1e-12)
    for criterion in (MembershipCriterion(SPACE), identification(SPACE), k_of_n(SPACE, 2)):
        assert criterion.success(np.vstack([beliefs, certain])).max() == 1.0


@pytest.mark.parametrize("together", [1, 3, 8])
def test_targets_are_looked_at_some_at_a_time(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = np.random.default_rng(1).dirichlet(np.ones(40))
    monkeypatch.setattr("pacsklearn.kernel.budget.criterion.MOST_CELLS", 40 * together)
    criterion = MembershipCriterion(SPACE)
    found = criterion.expected(share, BELIEFS)
    assert found == pytest.approx(np.max(share @ criterion.success(BELIEFS)))


def test_a_guess_of_k_reaches_who_shares_as_many() -> None:
    """Two subsets of three that share one unit: a guess of three has two of each, not three."""
    space = listed_space([[0, 1, 2], [2, 3, 4]], 5, weights=[0.75, 0.25])
    assert [k_of_n(space, k).prior(space.weights)[0] for k in (1, 2, 3)] == [1.0, 1.0, 0.75]
    small = listed_space([[0, 1, 2], [3]], 4, weights=[0.25, 0.75])
    assert k_of_n(small, 3).prior(small.weights)[0] == 0.75  # one is guessed anyway
    assert k_of_n(space, 2).name == "2-of-5"
    assert k_of_n(space, 2).statement == "name 3 units, 2 of them right"


def test_criteria_about_units_need_units() -> None:
    keys = CandidateSpace.of("abc")
    for make in (MembershipCriterion, lambda space: k_of_n(space, 1)):
        with pytest.raises(ValueError, match="about"):
            make(keys)
