"""Known memberships, against a plain enumeration."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from pacsklearn.kernel.bounds.known_rows import known_rows_success
from pacsklearn.kernel.outputs.candidates import Design


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
    members = Design(8, seed=3).space(np.zeros((7, 1))).membership()
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


@pytest.mark.parametrize("even", [True, False])
def test_averages_over_draws_are_those_of_these_draws(even: bool) -> None:
    """Of 80 units 64 are targets in each of 48 draws, the same after any number known."""
    generator = np.random.default_rng(9)
    members = generator.random((80, 6)) < 0.5
    prior = np.full(6, 1 / 6) if even else generator.dirichlet(np.ones(6))
    uniform, _, errors = known_rows_success(members, prior, most=2, seed=5)
    draw, means = np.random.default_rng(5), []
    for _ in range(48):
        drawn = draw.choice(80, 66, replace=False)
        means.append(np.mean([plainly(members, prior, tuple(drawn[:2]), t) for t in drawn[2:]]))
    assert uniform[2] == pytest.approx(np.mean(means), rel=1e-12)
    assert errors[2] == pytest.approx(np.std(means, ddof=1) / np.sqrt(48), rel=1e-9)


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("n", [2, 128, 300, 2048, 2049])
def test_one_known_unit_is_exact_up_to_2048_units(n: int, even: bool) -> None:
    generator = np.random.default_rng(n)
    members = generator.random((n, 5)) < 0.4
    prior = np.full(5, 0.2) if even else generator.dirichlet(np.ones(5))
    uniform, _, errors = known_rows_success(members, 3 * prior, most=1)
    sides = [members.astype(float), (~members).astype(float)]
    # Of each pair: for either answer of the known unit, the likelier one of the target.
    success = sum(
        np.maximum(*(((known * prior) @ target.T) for target in sides)) for known in sides
    )
    np.fill_diagonal(success, 0.0)
    alone = np.maximum(*(side @ prior for side in sides)).mean()
    assert uniform[0] == pytest.approx(alone, rel=1e-12)
    exact = success.sum() / (n * (n - 1))
    assert bool(errors[1] == 0) is (n <= 2048)
    assert uniform[1] == pytest.approx(exact, abs=1e-12 + 5 * errors[1])


@pytest.mark.parametrize("n", [7, 1300])
def test_each_greedy_choice_tells_most_after_those_before_it(n: int) -> None:
    generator = np.random.default_rng(n)
    members, prior = generator.random((n, 6)) < 0.5, generator.dirichlet(np.ones(6))
    _, greedy, _ = known_rows_success(members, prior, most=2, seed=3)
    draw = np.random.default_rng(3)
    for _ in range(48):
        draw.choice(n, min(n, 66), replace=False)
    among = draw.choice(n, min(n, 1024 + 2 + 1024), replace=False)

    def unknown(known: tuple[int, ...]) -> float:
        classes = np.unique(members[list(known)], axis=1, return_inverse=True)[1].ravel()
        mass = np.bincount(classes, weights=prior)
        return float(np.sum(mass[mass > 0] * np.log(mass[mass > 0])))

    known: tuple[int, ...] = ()
    for k in range(3):
        others = [unit for unit in among if unit not in known][:1024]
        expected = np.mean([plainly(members, prior, known, unit) for unit in others])
        assert greedy[k] == pytest.approx(expected, rel=1e-9), k
        choices = [unit for unit in among[:1024] if unit not in known]
        known += (min(choices, key=lambda unit: unknown((*known, unit))),)


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
    uniform, _, errors = known_rows_success(
        Design().space(np.zeros((500, 1))).membership(), np.full(128, 1 / 128)
    )
    assert uniform[0] == pytest.approx(0.5)
    assert errors.max() < 0.005
    assert 0.57 < uniform[3] < 0.61
    assert 0.81 < uniform[7] < 0.87


def test_the_standard_error_is_that_of_other_draws() -> None:
    """Ten public seeds spread as one of them says."""
    members, prior = Design().space(np.zeros((3000, 1))).membership(), np.full(128, 1 / 128)
    several = [known_rows_success(members, prior, seed=seed) for seed in range(10)]
    spread = np.std([uniform for uniform, _, _ in several], axis=0, ddof=1)
    stated = np.mean([errors for _, _, errors in several], axis=0)
    assert stated[0] == spread[0] == 0
    assert np.all(spread[1:] < 2.5 * stated[1:])
    assert np.all(spread[1:] > stated[1:] / 3)
