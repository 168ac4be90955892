"""Known memberships, against a plain enumeration."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from pacsklearn.kernel.bounds.known_rows import known_rows_success
from pacsklearn.universe.design import Design


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
    uniform, worst, errors = known_rows_success(members, prior, most=3)
    assert errors[0] == errors[1] == 0 < errors[3]
    for k in range(4):
        each = [
            plainly(members, prior, tuple(known[:k]), target)
            for *known, target in permutations(range(7), k + 1)
        ]
        # Exact for none and one; else the mean of 48 draws, within four standard errors.
        assert uniform[k] == pytest.approx(np.mean(each), abs=1e-12 + 4 * errors[k])
        # The largest is exact for none and one; else it is one of those that there are.
        assert np.abs(np.array(each) - worst[k]).min() < 1e-12
        assert k > 1 or worst[k] == pytest.approx(max(each), rel=1e-12)
    assert np.all(np.diff(uniform) >= -0.02)
    assert np.all(np.diff(worst) >= 0)


@pytest.mark.product(only=1)
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


@pytest.mark.product(only=5)
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


@pytest.mark.parametrize("n", [40, 1024, 1300])
def test_one_unit_known_against_the_worst_is_exact_over_the_choices(n: int) -> None:
    generator = np.random.default_rng(n)
    members, prior = generator.random((n, 9)) < 0.5, generator.dirichlet(np.ones(9))
    _, worst, _ = known_rows_success(members, prior, most=1, seed=3)
    draw = np.random.default_rng(3)
    for _ in range(48):
        draw.choice(n, min(n, 65), replace=False)
    choices = draw.choice(n, min(n, 1024), replace=False)
    signs = np.where(members, 1.0, -1.0)
    # What the two answers of the known unit leave apart, for each target.
    apart = sum(np.abs((members[choices] == side) * prior @ signs.T) for side in (True, False))
    apart[np.arange(len(choices)), choices] = 0.0
    assert worst[1] == pytest.approx((1 + apart.max()) / 2, rel=1e-12)


def test_a_mate_among_thousands_is_found() -> None:
    """Averages over targets would state 54 % where one of them is known for certain."""
    members = np.random.default_rng(0).permuted(np.tile([True, False] * 64, (3000, 1)), axis=1)
    members[17] = ~members[2000]
    uniform, worst, _ = known_rows_success(members, np.full(128, 1 / 128))
    assert uniform[1] < 0.56
    told = known_rows_success(members[[17, 2000, *range(200)]], np.full(128, 1 / 128))[1]
    assert told[0] == worst[0] == 0.5
    assert told[1] == 1.0


def test_units_that_tell_nothing_alone_are_not_missed_at_the_end() -> None:
    """Four bits and their parity: any four tell the fifth, and fewer nothing."""
    bits = np.array([[s >> bit & 1 for s in range(16)] for bit in range(4)], dtype=bool)
    members = np.vstack([bits, bits.sum(axis=0) % 2 == 1])
    _, worst, _ = known_rows_success(members, np.full(16, 1 / 16), most=4)
    assert worst.tolist() == [0.5, 0.5, 0.5, 0.5, 1.0]


def test_nobody_else_is_left() -> None:
    uniform, worst, _ = known_rows_success(np.eye(2, dtype=bool), [0.5, 0.5], most=7)
    assert uniform[0] == worst[0] == pytest.approx(0.5)
    assert len(uniform) == len(worst) == 8
    assert uniform[7] == worst[7] == 1.0
    # Two units that tell nothing of each other: who knows both knows the target.
    apart = np.array([[0, 1, 0, 1], [0, 0, 1, 1]], dtype=bool)
    _, worst, _ = known_rows_success(apart, np.full(4, 0.25), most=3)
    assert worst.tolist() == [0.5, 0.5, 1.0, 1.0]


def test_stated_figures_of_the_default_design() -> None:
    """128 subsets: three known rows tell little, seven nearly all."""
    uniform, worst, errors = known_rows_success(
        Design().space(np.zeros((500, 1))).membership(), np.full(128, 1 / 128)
    )
    assert 0.65 < worst[1] < 0.75  # by chance, of 249,500 pairs
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
