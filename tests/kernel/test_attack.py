"""What an attack's result says, against independent computations."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from scipy import stats

from pacsklearn.audit.attack import Attack, AttackResult
from pacsklearn.audit.game import Game, Round


def result_of(right: int = 60, trials: int = 100, **changes: object) -> AttackResult:
    facts = {"attack": "toy", "criterion": "naming the subset", "prior": 0.5, "bound": 0.55}
    return AttackResult(**facts | {"n_trials": trials, "n_successes": right} | changes)


@pytest.mark.parametrize("trials", [1, 7, 400])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_interval_is_clopper_and_pearsons(trials: int, share: float, level: float) -> None:
    right = round(share * trials)
    low, high = result_of(right, trials).confidence_interval(level)
    other = stats.binomtest(right, trials).proportion_ci(level, method="exact")
    assert low == pytest.approx(other.low, abs=1e-9)
    assert high == pytest.approx(other.high, abs=1e-9)
    # Its defining property: at an end, what was seen or more extreme has half the error.
    if right:
        assert stats.binom.sf(right - 1, trials, low) == pytest.approx((1 - level) / 2)
    if right < trials:
        assert stats.binom.cdf(right, trials, high) == pytest.approx((1 - level) / 2)


@pytest.mark.parametrize("truth", [0.02, 0.3, 0.5, 0.9])
def test_the_interval_covers_exactly_often_enough(truth: float) -> None:
    """Summed over all outcomes of 60 trials; nothing is sampled."""
    covered = 0.0
    for right in range(61):
        low, high = result_of(right, 60).confidence_interval(0.95)
        covered += stats.binom.pmf(right, 60, truth) * (low <= truth <= high)
    assert covered >= 0.95


def test_a_bound_is_violated_when_the_whole_interval_is_above() -> None:
    for right in range(401):
        result = result_of(right, 400)
        assert result.violates() == (result.confidence_interval().low > 0.55)
        assert result.violates(0.9) >= result.violates(0.99)
    assert result_of(400, 400).violates()
    assert not result_of(400, 400, bound=None).violates()
    assert not result_of(400, 400, bound=1.0).violates()


def test_false_alarms_are_as_rare_as_stated() -> None:
    right = np.arange(501)
    chance = stats.binom.pmf(right, 500, 0.55)
    alarms = np.array([result_of(int(k), 500).violates(0.99) for k in right])
    assert 0 < chance[alarms].sum() <= 0.005


def test_the_text_says_all_and_never_promises_too_much() -> None:
    text = str(result_of(700, 1000, bound=0.551234))
    # The bound is rounded up.
    for words in ("toy", "naming the subset", "700 of 1,000", "70.00 %", "50.00 %", "55.13 %"):
        assert words in text
    assert "BOUND VIOLATED" in text
    assert "not violated" in str(result_of(50))
    assert "nothing is promised" in str(result_of(bound=None))
    assert "unit: 4" in str(result_of(details=(("unit", "4"),)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trials": 0}, "n_trials"),
        ({"trials": 10.5}, "n_trials"),
        ({"right": -1}, "n_successes"),
        ({"right": 101}, "n_trials"),
        ({"right": True}, "n_successes"),
        ({"prior": 1.5}, "prior"),
        ({"prior": float("nan")}, "prior"),
        ({"prior": "half"}, "prior"),
        ({"bound": -0.1}, "bound"),
        ({"attack": ""}, "attack"),
        ({"criterion": None}, "criterion"),
    ],
)
def test_what_is_no_result_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        result_of(**changes)


@pytest.mark.parametrize("level", [0, 1, -0.5, 2, "x", float("nan")])
def test_what_is_no_level_is_refused(level: object) -> None:
    with pytest.raises((TypeError, ValueError), match="level"):
        result_of().confidence_interval(level)


def test_results_are_frozen_and_keep_plain_numbers() -> None:
    result = result_of(np.int64(6), np.int64(10), prior=np.float64(0.25))
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.n_trials = 3
    assert [type(v) for v in (result.n_trials, result.n_successes, result.prior)] == [
        int,
        int,
        float,
    ]


def test_attacks_and_games_are_abstract() -> None:
    for kind, name in itertools.product((Attack, Game), ("run", "play")):
        with pytest.raises(TypeError, match="abstract"):
            kind()
        assert name in Attack.__abstractmethods__ | Game.__abstractmethods__


def test_a_round_says_whose_rows_were_used_and_shows_nothing() -> None:
    played = Round(3, np.full(5, 0.2), released="seen", redrawn=(1, 2))
    assert played.used == (3, 1, 2)
    assert Round(3, np.full(5, 0.2)).used == (3,)
    assert "0.2" not in repr(played)
    assert "seen" not in repr(played)
