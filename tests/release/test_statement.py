"""Figures of a guarantee against enumerations of the candidates."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from pacsklearn import SecretSpace
from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.canonicalizer import Layout
from pacsklearn.release import statement
from pacsklearn.release.statement import membership_prior, pac_guarantee, public_facts

# Row 0 is in every subset, row 5 in none; what is secret are rows 1 to 4.
SUBSETS = [[0, 1, 2], [0, 1, 3], [0, 2, 4], [0, 1, 4]]
SPACE = SecretSpace.from_subsets(SUBSETS, n_rows=6, weights=[0.4, 0.3, 0.2, 0.1])


def guarantee(space, *, only_adds=False):
    told = dict.fromkeys(("released", "public", "provenance"), ())
    told |= {"bound": "", "noise": "", "budget": 1.0, "spent": 0.5, "confidence": 1.0}
    told |= {"noiseless": False, "for_release": True}
    return pac_guarantee(space, None, only_adds=only_adds, **told)


def right(target: int, known: tuple[int, ...]) -> float:
    """Success of the likelier answer, given which of the known rows are in."""
    shares: dict[tuple[bool, ...], list[float]] = {}
    for subset, weight in zip(SUBSETS, SPACE.weights, strict=True):
        pair = shares.setdefault(tuple(row in subset for row in known), [0.0, 0.0])
        pair[target in subset] += weight
    return sum(max(pair) for pair in shares.values())


def test_blind_success_is_that_at_the_least_protected_secret_row() -> None:
    prior, unprotected = membership_prior(SPACE)
    assert prior == pytest.approx(max(right(row, ()) for row in (1, 2, 3, 4)))
    assert unprotected == 2


def test_what_is_known_by_those_who_know_rows_counts_rows_that_have_a_secret() -> None:
    """Rule 12: averages over secret rows alone, also when they are read a second time."""
    for _ in range(2):
        secret = guarantee(SPACE).secret
        for k in (0, 1):
            exact = np.mean(
                [right(t, tuple(known)) for *known, t in permutations((1, 2, 3, 4), k + 1)]
            )
            assert secret.known[k][0] == pytest.approx(exact, abs=1e-12)
            assert secret.known_errors[k] == 0
    assert (secret.prior_membership, secret.n_unprotected) == membership_prior(SPACE)
    assert secret.prior_identification == pytest.approx(0.4)


def test_one_secret_row_has_nobody_to_learn_from() -> None:
    secret = guarantee(SecretSpace.from_subsets([[0], [0, 1]], n_rows=2)).secret
    assert (secret.known, secret.known_errors) == ((), ())
    pair = SecretSpace.from_subsets([[0], [1]], n_rows=2)
    assert guarantee(pair).secret.known[1] == (1.0, 1.0)


def test_averages_of_a_large_table_are_over_some_of_its_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    space = SecretSpace.balanced(100, n_subsets=16)
    everything = guarantee(space).secret.known
    statement._KNOWN.clear()
    monkeypatch.setattr(statement, "_MOST_UNITS", 99)
    some = guarantee(space).secret.known
    statement._KNOWN.clear()
    assert some != everything
    assert some == pytest.approx(np.array(everything), abs=0.1)


def test_a_candidate_s_identity_is_guessed_at_its_weight() -> None:
    secret = guarantee(CandidateSpace.of(["a", "b", "c"], weights=[0.5, 0.3, 0.2])).secret
    assert (secret.n_candidates, secret.prior_identification) == (3, 0.5)


def test_the_limit_of_noise_that_only_adds_is_stated_then_alone() -> None:
    plain, padded = guarantee(SPACE), guarantee(SPACE, only_adds=True)
    assert set(padded.not_covered) - set(plain.not_covered) == {statement._RULED_OUT}


def test_public_facts_are_those_of_every_part() -> None:
    leaf = Layout.of({}, classes_=(0, 1), depth=3)
    tree = Layout((), (("n_features_in_", 2),), (("step", leaf),))
    assert public_facts(tree) == ("classes_", "hyper-parameters", "n_features_in_", "public seeds")
