"""Known memberships, against a plain enumeration."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from pacsklearn.candidates.candidates import Design
from pacsklearn.information.known_rows import known_rows_success


def plainly(members: Any, prior: Any, known: tuple[int, ...], target: int) -> float:
    """Success of the best guess: for each secret the likelier answer among those that agree."""
    total = 0.0
    for pattern in {tuple(members[list(known), s]) for s in range(len(prior))}:
        agree = [s for s in range(len(prior)) if tuple(members[list(known), s]) == pattern]
        inside = sum(prior[s] for s in agree if members[target, s])
        total += max(inside, sum(prior[s] for s in agree) - inside)
    return total


@pytest.mark.parametrize("even", [True, False])
def test_the_averages_are_those_of_an_enumeration(even: bool) -> None:
    members = Design(8, seed=3).space(7).membership()
    prior = np.full(8, 1 / 8) if even else np.arange(1, 9) / 36
    uniform, greedy, errors = known_rows_success(members, prior, most=3)
    assert errors[0] == errors[1] == 0 < errors[3]
    for k in range(4):
        exact = np.mean(
            [
                plainly(members, prior, tuple(known[:k]), target)
                for *known, target in permutations(range(7), k + 1)
            ]
        )
        # Exact for none and one; else the mean of 48 draws, within four standard errors.
        assert uniform[k] == pytest.approx(exact, abs=1e-12 + 4 * errors[k])
    assert np.all(np.diff(uniform) >= -0.02)
    first = [
        np.mean([plainly(members, prior, (u,), t) for t in range(7) if t != u]) for u in range(7)
    ]
    assert any(greedy[1] == pytest.approx(value, abs=1e-12) for value in first)


def test_greedy_choices_name_the_secret_when_rows_halve_the_candidates() -> None:
    halves = np.array([[s >> bit & 1 for s in range(16)] for bit in range(4)], dtype=bool)
    members = np.vstack([np.eye(16, dtype=bool), halves])  # whoever is in one of 16 tells little
    _, greedy, _ = known_rows_success(members, np.full(16, 1 / 16), most=4)
    assert greedy[4] == pytest.approx(1.0)
    assert greedy[3] < 1


def test_nobody_else_is_left() -> None:
    uniform, greedy, _ = known_rows_success(np.eye(2, dtype=bool), [0.5, 0.5], most=7)
    assert uniform[0] == greedy[0] == pytest.approx(0.5)
    assert len(uniform) == len(greedy) == 8
    assert uniform[7] == greedy[7] == 1.0


def test_stated_figures_of_the_default_design() -> None:
    """128 subsets: three known rows tell little, seven nearly all."""
    uniform, _, errors = known_rows_success(Design().space(500).membership(), np.full(128, 1 / 128))
    assert uniform[0] == pytest.approx(0.5)
    assert errors.max() < 0.005
    assert 0.57 < uniform[3] < 0.61
    assert 0.81 < uniform[7] < 0.87


def test_the_standard_error_is_that_of_other_draws() -> None:
    """Ten public seeds spread as one of them says."""
    members, prior = Design().space(3000).membership(), np.full(128, 1 / 128)
    several = [known_rows_success(members, prior, seed=seed) for seed in range(10)]
    spread = np.std([uniform for uniform, _, _ in several], axis=0, ddof=1)
    stated = np.mean([errors for _, _, errors in several], axis=0)
    assert stated[0] == spread[0] == 0
    assert np.all(spread[1:] < 2.5 * stated[1:])
    assert np.all(spread[1:] > stated[1:] / 3)
