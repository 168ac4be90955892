"""Rule 12: what part of a release is a function of the whole table."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.estimators.game_procedure import game_procedure
from pacsklearn.exceptions import BudgetExhaustedError, FewCandidatesWarning
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.secrets import balanced_space

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(("width", "fixed"), [(40, 33), (8, 1), (7, 0), (3, 0)])
def test_directions_in_which_candidates_do_not_differ_are_counted(width: int, fixed: int) -> None:
    """Eight candidates differ in seven directions at most."""
    mix = np.random.default_rng(0).standard_normal((4, width)) / 9

    def features(rows: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.tanh(rows @ mix).mean(axis=0)

    with PrivacySession(X, Y, budget=0.5, secret=Subsets(8)) as session:
        guarantee = session.release_function(features, budget=0.25).guarantee
    stated = dict(guarantee.details).get("whole table", "")
    assert stated.startswith(f"{fixed} of {width} directions") == (fixed > 0)
    assert (f"({100 * fixed / width:.3g} %)" in stated) == (fixed > 0)


def test_arbitrary_candidates_are_no_table() -> None:
    with PrivacySession.over([1.0, 2.0, 4.0, 9.0], budget=0.5) as session:
        released = session.release_function(lambda key: key * np.ones(6), budget=0.25)
    assert "whole table" not in dict(released.guarantee.details)


def test_a_rehearsal_has_an_account_of_its_own() -> None:
    space = balanced_space(20, n_subsets=8)
    sampler = SeededSampler(np.random.default_rng(0))
    procedure = game_procedure(space, sampler, 0.5)
    assert procedure.check(0.25).budget == 0.25
    assert procedure.check(None).budget == procedure.account.own.ceiling == 0.5
    with pytest.raises(BudgetExhaustedError):
        procedure.check(0.75)


@pytest.mark.parametrize(("budget", "n_noisy"), [(0.5, 7), (5.0, 0)])
def test_a_charge_counts_the_directions_that_got_noise(budget: float, n_noisy: int) -> None:
    """None where the budget covers all that there is to tell."""
    for release in (
        lambda session: session.release(GaussianNB(), budget=budget),
        lambda session: session.release_function(
            lambda rows, y: np.r_[rows.mean(0), rows.std(0)], budget=budget
        ),
    ):
        with PrivacySession(
            X, Y, budget=Nats(budget, allow_exact=True), secret=Subsets(8)
        ) as session:
            release(session)
            assert [event.n_noisy for event in session.ledger.events] == [n_noisy]


@pytest.mark.parametrize(("budget", "n_noisy"), [(0.25, 1), (1.0, 0)])
def test_a_padded_number_got_noise_where_the_budget_does_not_cover_it(
    budget: float, n_noisy: int
) -> None:
    """Two values for four candidates: their entropy is ln 2."""
    with PrivacySession.over([1, 1, 2, 2], budget=Nats(2.0, allow_exact=True)) as session:
        session.release_function(lambda key: key, budget=budget, noise="one_sided")
        (event,) = session.ledger.events
        assert (event.n_outputs, event.n_noisy) == (1, n_noisy)


@pytest.mark.parametrize(("width", "rank", "warns"), [(7, 7, False), (8, 8, True), (90, 3, False)])
def test_who_would_hide_more_with_more_candidates_is_warned(
    width: int, rank: int, warns: bool
) -> None:
    """Eight candidates differ in seven directions, or in fewer, whatever their number."""
    mix = np.random.default_rng(0).standard_normal((rank, width))
    columns = np.random.default_rng(1).standard_normal((40, rank))
    with (
        PrivacySession(columns, budget=Nats(0.5), secret=Subsets(8)) as session,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        session.release_function(lambda rows: rows.mean(axis=0) @ mix)
    assert [each.category for each in caught] == [FewCandidatesWarning] * warns
