"""The candidate subsets, against a brute-force dense matrix of membership."""

from __future__ import annotations

import re
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacsklearn.exceptions import DesignError, DesignWarning
from pacsklearn.kernel.budget.guess_criterion import identification
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.secret import space as space_module
from pacsklearn.secrets import CandidateSpace, SecretSpace, balanced_space
from pacsklearn.universe.balanced_design import balanced_design
from pacsklearn.universe.listed_space import listed_space


def dense(space: SecretSpace) -> NDArray[np.bool_]:
    """Membership (n_rows, m), from nothing but ``rows``."""
    matrix = np.zeros((space.n_rows, space.n_subsets), dtype=bool)
    for i in range(space.n_subsets):
        matrix[space.rows(i), i] = True
    return matrix


@pytest.mark.parametrize(
    ("n_rows", "n_subsets", "rate"),
    [(2, 2, 0.5), (37, 8, 0.5), (100, 128, 0.5), (60, 12, 0.25), (60, 12, 0.75), (11, 10, 0.1)],
)
def test_every_row_is_in_exactly_its_share_of_the_subsets(
    n_rows: int, n_subsets: int, rate: float
) -> None:
    space = balanced_space(n_rows, n_subsets=n_subsets, rate=rate)
    members = dense(space)
    assert set(members.sum(axis=1)) == {round(rate * n_subsets)}
    assert np.ptp(members.sum(axis=0)) <= 1
    assert members.any(axis=0).all()
    assert np.array_equal(space.membership(), members)
    assert np.array_equal(space.membership([0, n_rows - 1]), members[[0, n_rows - 1]])
    assert space.inclusion() == pytest.approx(np.full(n_rows, rate), abs=0)
    assert space.entropy == pytest.approx(np.log(n_subsets), rel=1e-14)
    assert (space.unit, space.n_units, space.n_rows) == ("row", n_rows, n_rows)


def test_patterns_are_spread_over_all_patterns() -> None:
    # 6 patterns of 2 in 4 subsets; 6000 rows give 1000 of each, with sd < 30.
    members = balanced_space(6000, n_subsets=4).membership()
    counts = np.bincount(members @ [8, 4, 2, 1], minlength=16)
    assert (counts > 0).sum() == 6
    assert np.abs(counts[counts > 0] - 1000).max() < 150


@pytest.mark.parametrize("labels", [[0, 1, 2], ["setosa", "versicolor", "virginica"]])
def test_classes_are_shared_evenly(labels: list[Any]) -> None:
    strata = np.repeat(labels, [20, 7, 2])
    members = dense(balanced_space(29, n_subsets=8, strata=strata))
    for label in labels:
        counts = members[strata == label].sum(axis=0)
        assert np.ptp(counts) <= 1
        assert counts.min() >= 1


def test_strata_of_several_columns() -> None:
    strata = np.repeat([[0, 0], [0, 1], [1, 1]], [4, 6, 8], axis=0)
    members = dense(balanced_space(18, n_subsets=4, strata=strata))
    assert set(members[:4].sum(axis=0)) == {2}
    assert set(members[4:10].sum(axis=0)) == {3}


@pytest.mark.parametrize("names", [np.arange(5), np.arange(5) / 2, np.array(list("abcde"))])
def test_groups_move_together(names: NDArray[Any]) -> None:
    groups = np.tile(names, 4)
    space = balanced_space(20, n_subsets=6, groups=groups)
    members = dense(space)
    for name in names:
        assert (members[groups == name] == members[groups == name][0]).all()
    assert (space.unit, space.n_units, space.n_rows) == ("group", 5, 20)
    assert space.inclusion() == pytest.approx(np.full(5, 0.5), abs=0)
    assert np.array_equal(space.membership()[space.unit_of_row], members)


def test_groups_inside_classes() -> None:
    groups = np.repeat(np.arange(12), 3)
    strata = np.repeat([0, 1], 18)
    members = dense(balanced_space(36, n_subsets=8, groups=groups, strata=strata))
    for label in (0, 1):
        assert set(members[strata == label].sum(axis=0)) == {9}


def test_the_seed_is_public_and_reproduces_the_design() -> None:
    first, again, other = (balanced_space(50, n_subsets=8, seed=s) for s in (3, 3, 4))
    assert np.array_equal(first.packed, again.packed)
    assert not np.array_equal(first.packed, other.packed)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: balanced_space(10, n_subsets=7), "do not fit"),
        (lambda: balanced_space(10, n_subsets=8, rate=0.3), "whole"),
        (lambda: balanced_space(10, n_subsets=1), "n_subsets"),
        (lambda: balanced_space(10, n_subsets=2.0), "n_subsets"),
        (lambda: balanced_space(10, n_subsets=2**20 + 2), "at most 1,048,576"),
        (lambda: balanced_space(100, n_subsets=10, rate=0.5 + 2e-10), "whole"),
        (lambda: balanced_space(100, n_subsets=10, rate=0.001), "do not fit"),
        (lambda: balanced_space(100, n_subsets=10, rate=0.999), "do not fit"),
        (lambda: balanced_space(0), "n_rows"),
        (lambda: balanced_space(10, rate=1.0), "rate"),
        (lambda: balanced_space(10, rate=True), "rate"),
        (lambda: balanced_space(1), "least"),
        (lambda: balanced_space(3, n_subsets=8, rate=0.25), "least"),
        (lambda: balanced_space(9, groups=[1] * 9), "groups"),
        (lambda: balanced_space(9, groups=[1] * 8), "entry"),
        (lambda: balanced_space(3, groups=[1, 2, None]), "groups"),
        (lambda: balanced_space(3, groups=[1, 2, np.nan]), "groups"),
        (lambda: balanced_space(9, strata=[1] * 8), "strata"),
        (lambda: balanced_space(9, strata=[0] * 8 + [1]), "A class has 1 row"),
        (lambda: balanced_space(9, strata=["a"] * 8 + ["b"]), "A class has 1 row"),
        (
            lambda: balanced_space(9, strata=[0] * 6 + [1] * 3, groups=[0, 0, 1, 1, 2, 2, 3, 3, 3]),
            "A class has 1 group",
        ),
    ],
)
def test_designs_that_do_not_exist(make: Callable[[], SecretSpace], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_numbers_that_are_no_classes_are_not_quoted() -> None:
    with pytest.raises(DesignError) as caught:
        balanced_space(4, strata=[1.0, 1.0, 7.25, 9.125])
    assert not re.search(r"7\.25|9\.125", str(caught.value))


def test_explicit_subsets_as_indices_and_masks() -> None:
    mask = np.array([True, False, True, False, False])
    space = listed_space([[4, 0, 0], mask, np.arange(5)], 5)
    assert [space.rows(i).tolist() for i in range(3)] == [[0, 4], [0, 2], [0, 1, 2, 3, 4]]
    assert space.membership(slice(0, 2)).tolist() == [[True, True, True], [False, False, True]]
    assert space.inclusion() == pytest.approx([1, 1 / 3, 2 / 3, 1 / 3, 2 / 3])


def test_explicit_weights_are_the_prior() -> None:
    space = listed_space([[0], [1, 2], [2]], 5, weights=[1, 2, 5])
    assert space.weights == pytest.approx([0.125, 0.25, 0.625])
    assert space.inclusion() == pytest.approx([0.125, 0.25, 0.875, 0, 0])
    assert space.membership_prior() == (pytest.approx(0.875), 2)
    assert space.entropy == pytest.approx(-np.sum(space.weights * np.log(space.weights)))
    assert space.stated().known[1][1] == pytest.approx(1)  # who knows row 1 to be in, or out
    assert listed_space([[0], [0, 1]], 2).stated().known == ()


def test_explicit_subsets_of_groups() -> None:
    space = listed_space([[0, 1, 4], [2, 3]], 5, groups=["a", "a", "b", "b", "c"])
    assert space.rows(0).tolist() == [0, 1, 4]
    assert space.membership().tolist() == [[True, False], [False, True], [True, False]]


@pytest.mark.parametrize(
    ("subsets", "options", "message"),
    [
        ([[0]], {}, "least"),
        ([[0], [3]], {}, "indices"),
        ([[0], [-1]], {}, "indices"),
        ([[0], [0.5]], {}, "vector"),
        ([[0], [True, False]], {}, "boolean"),
        ([[0], np.array([], dtype=int)], {}, "empty"),
        ([[0], [False] * 3], {}, "empty"),
        ([[0], [1]], {"weights": [1.0]}, "positive"),
        ([[0], [1]], {"weights": [1.0, 0.0]}, "positive"),
        ([[0], [1]], {"weights": [1.0, np.nan]}, "positive"),
        ([[0], [1, 2]], {"groups": [0, 0, 1]}, "subsets"),
    ],
)
def test_explicit_subsets_that_make_no_space(
    subsets: list[Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(DesignError, match=message):
        listed_space(subsets, 3, **options)


@pytest.mark.parametrize("index", [-1, 4, 7])
def test_there_is_no_candidate_beyond_the_last(index: int) -> None:
    with pytest.raises(DesignError, match="index"):
        balanced_space(6, n_subsets=4).rows(index)


@pytest.mark.parametrize(
    "kind", [lambda: listed_space([[0], [1]], 2), lambda: CandidateSpace.of("ab")]
)
def test_candidates_of_a_space_are_its_own(kind: Callable[[], Any]) -> None:
    """Noise that is calibrated to candidates protects those, and not others that equal them."""
    space, other = kind(), kind()
    assert space.has_candidates_of(space) is True
    assert space.has_candidates_of(other) is False


def test_inclusion_of_many_units_with_unequal_weights() -> None:
    packed = balanced_space(40_000, n_subsets=4).packed
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    space = SecretSpace(packed, 4, weights)
    assert np.allclose(space.inclusion(), space.membership() @ weights, rtol=1e-15)


def test_nothing_of_the_membership_is_in_the_repr() -> None:
    space = balanced_space(6, n_subsets=4, groups=[0, 0, 1, 2, 3, 3])
    assert repr(space) == "SecretSpace(n_subsets=4, is_listed=True)"


@pytest.mark.parametrize("n_subsets", [10, 100])
@pytest.mark.parametrize("percent", [10, 30, 50, 70, 90])
def test_rates_are_decimals(n_subsets: int, percent: int) -> None:
    """0.07 * 100 is not 7 in doubles."""
    for rate in (percent / 100, (percent - 3) / 100) if n_subsets == 100 else (percent / 100,):
        space = balanced_space(60, n_subsets=n_subsets, rate=rate)
        assert set(space.membership().sum(axis=1)) == {round(rate * n_subsets)}


@pytest.mark.parametrize(("n_units", "warns"), [(4, True), (5, False)])
def test_a_warning_where_few_subsets_differ(n_units: int, warns: bool) -> None:
    """Sixteen subsets of few units: below three quarters of ln 16 there are too few."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        space = balanced_space(n_units, n_subsets=16, seed=1)
    assert warns == (space.entropy < 0.75 * np.log(16))
    assert [each.category for each in caught] == [DesignWarning] * warns


@pytest.mark.parametrize(
    ("other", "expected"), [(2, [0, 0, 0, 0, 2, 2, 2, 2]), (1, [1, 1, 0, 0, 1, 2, 2, 2])]
)
def test_a_group_stands_in_the_stratum_of_most_of_its_rows(other: int, expected: list[int]) -> None:
    """In that of its rarest where a stratum would have none: every subset has rows of all."""
    groups = np.repeat(np.arange(8), 3)
    strata = np.repeat([0, 2], 12)
    strata[[0, 3, 13]] = other  # a row of three groups
    space = balanced_space(24, n_subsets=4, groups=groups, strata=strata, seed=5)
    alone = balanced_space(8, n_subsets=4, strata=expected, seed=5)
    assert np.array_equal(space.membership(), alone.membership())


@pytest.mark.parametrize("chunk", [1, 3, 7])
def test_units_are_read_some_at_a_time(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.array([3, 9, 4, 1, 12, 4, 7, 6, 2, 8, 10, 5])  # its bits: rows 2 to 6
    members = np.concatenate([np.ones((1, 12)), np.zeros((1, 12)), numbers >> np.c_[:5] & 1]) > 0
    weights = np.random.default_rng(1).dirichlet(np.ones(12))
    monkeypatch.setattr(space_module, "_CHUNK", chunk)
    space = listed_space(members.T, 7, weights=weights)
    assert space.n_subsets == 11
    assert np.array_equal(space.membership(), np.delete(members, 5, axis=1))
    assert space.inclusion() == pytest.approx(members @ weights)
    assert space.inclusion()[:2].tolist() == [1.0, 0.0]
    # Units in all candidates or in none, the last one among them, would have a figure of 1.
    worst = space.worst(lambda sets: np.abs(2 * (sets @ space.weights) - 1))
    assert worst == pytest.approx(np.abs(2 * (members[2:6] @ weights) - 1).max())


@pytest.mark.soak
def test_a_million_rows_fit_in_little_memory() -> None:
    tracemalloc.start()
    try:
        space = balanced_space(1_000_000, n_subsets=128)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert space.packed.nbytes == 16_000_000
    assert peak < 50e6
    assert space.rows(127).size == 500_000


@pytest.mark.parametrize("seed", range(12))
def test_certain_membership_is_exactly_certain(seed: int) -> None:
    """Weights whose sum is one only up to rounding: no target is made of 1 - 1e-16."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(11))
    space = listed_space([[0, 1 + i % 2] for i in range(11)], 4, weights=weights)
    inclusion = space.inclusion()
    assert inclusion[0] == 1.0
    assert inclusion[3] == 0.0
    assert inclusion[1] == pytest.approx(space.weights[::2].sum())
    assert MembershipCriterion(space).n_targets == 2


def test_subsets_that_coincide_are_one_candidate() -> None:
    """128 candidates were claimed, and 'naming the subset at most 12.96 %', where 2 differ."""
    with pytest.warns(DesignWarning, match=r"Only 2 of the 128 .* 50\.00 %") as caught:
        space = balanced_space(600, groups=np.arange(600) % 2)
    assert len(caught) == 1
    assert space.n_subsets == space.n_candidates == 2
    assert space.weights.tolist() == [0.5, 0.5]
    assert space.entropy == pytest.approx(np.log(2))
    assert np.all(space.inclusion() == 0.5)
    assert sorted(space.rows(0)[:2].tolist() + space.rows(1)[:2].tolist()) == [0, 1, 2, 3]


def test_the_prior_of_explicit_subsets_is_that_of_the_distinct_ones() -> None:
    subsets = [[0, 1], [2], [1, 0], [0, 2], [2]]
    space = listed_space(subsets, 3, weights=[1, 2, 3, 4, 5])
    assert space.n_subsets == 3
    assert np.allclose(space.weights, [4 / 15, 7 / 15, 4 / 15])
    assert [space.rows(i).tolist() for i in range(3)] == [[0, 1], [2], [0, 2]]
    assert identification(space).prior(space.weights) == pytest.approx(7 / 15)
    assert np.allclose(space.inclusion(), [8 / 15, 4 / 15, 11 / 15])


def test_one_subset_again_and_again_is_no_secret() -> None:
    with pytest.raises(DesignError, match="secret"):
        listed_space([[0, 1], [1, 0]], 3)


def test_a_space_is_merged_however_it_is_made() -> None:
    packed = np.packbits([[1, 1, 0, 1], [0, 0, 1, 0]], axis=1)
    space = SecretSpace(packed, 4, np.full(4, 0.25))
    assert (space.n_subsets, space.weights.tolist()) == (2, [0.75, 0.25])


@pytest.mark.parametrize("n_units", [3, 700, 40_000])
def test_where_subsets_first_differ_does_not_matter(n_units: int) -> None:
    members = np.zeros((n_units, 3), dtype=bool)
    members[0] = True
    members[-1, 1] = True
    space = listed_space([*members.T, members[:, 1]], n_units)
    assert space.n_subsets == 3 - 1
    assert np.array_equal(space.membership(), members[:, :2])


def test_designs_that_differ_are_what_they_were() -> None:
    packed = balanced_design(60, 32, 16, seed=4)
    space = balanced_space(60, n_subsets=32, seed=4)
    assert np.array_equal(space.packed, packed)
    assert np.all(space.weights == 1 / 32)


@pytest.mark.parametrize("first", [1, 1.0, True, b"p"], ids=str)
def test_words_and_numbers_name_no_groups_in_a_list(first: object) -> None:
    """A list held 1 and 1.0 beside words: one person was two units of privacy."""
    with pytest.raises(DesignError, match="words, or numbers"):
        balanced_space(6, n_subsets=2, groups=["a", "a", "b", "b", first, first])
    assert balanced_space(4, n_subsets=2, groups=["a", "b", "a", "b"]).n_units == 2
