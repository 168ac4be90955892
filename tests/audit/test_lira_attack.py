"""The likelihood ratio attack on games whose best success is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import auc

from pacsklearn.audit.game import Game, Round
from pacsklearn.audit.roc_curve import AttackROC, RecordingGame, score_rounds
from pacsklearn.audit.shadow_attack import LiRAAttack
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.testing import AttackGames, check_attack, example_games

MEMBERS = np.array([[i >> bit & 1 for bit in range(3)] for i in range(8)], dtype=bool)


class Confident(Game):
    """Confidence in unit u is normal with mean shift[u] for members and variance factor**2."""

    beyond = ("confidences",)

    def __init__(self, shift, factor=1.0, prior=None, information=1.0):
        self.shift, self.factor, self.information = np.asarray(shift), factor, information
        self._prior = np.full(8, 1 / 8) if prior is None else np.asarray(prior)

    @property
    def prior(self):
        return self._prior

    @property
    def members(self):
        return MEMBERS

    def bound(self, blind):
        return posterior_success(self.information, blind)

    def play(self, generator):
        secret = int(generator.choice(8, p=self._prior))
        noise = generator.normal(size=3)
        inside = MEMBERS[secret]
        shown = np.where(inside, self.shift + self.factor * noise, noise)
        return Round(secret, self._prior, shown)

    def confidences(self, released):
        return released


def test_a_shift_is_found_at_the_best_success_there_is():
    """Two normals 2 apart: the best threshold is right with Phi(1); 4 standard errors of 3000."""
    result = LiRAAttack(n_shadow=2000).run(Confident([0, 2, 0.5]), 3000, 0)
    assert dict(result.details)["unit"] == "1"
    assert result.success == pytest.approx(norm.cdf(1), abs=4 * np.sqrt(0.84 * 0.16 / 3000) + 0.01)


def test_lower_confidence_is_evidence_too():
    result = LiRAAttack().run(Confident([0, -3, 0]), 1000, 0)
    assert result.success > 0.9


def test_a_wider_distribution_is_found_by_the_densities():
    """No threshold tells N(0, 1) from N(0, 36), but |score| does: right in 0.81 of the rounds."""
    at = np.sqrt(2 * np.log(6) / (1 - 1 / 36))  # where the densities meet
    best = (2 * norm.cdf(at) - 1 + 2 * norm.sf(at / 6)) / 2
    result = LiRAAttack(unit=0, n_shadow=1000).run(Confident([0, 0, 0], factor=6), 3000, 0)
    assert dict(result.details)["rule"] == "ratio of two normal densities"
    assert result.success == pytest.approx(best, abs=0.04)


class SureOrNot(Confident):
    """Confidence is 1 in six of ten members and 0 in all others, as where labels alone are told."""

    def confidences(self, released):
        return (released > norm.isf(0.6) + 20).astype(float)


def test_scores_that_come_again_are_on_one_side_of_the_edge():
    """An edge among equal scores was judged as if it parted them; the best edge is right in 80 %.

    4 standard errors of 400 rounds, for each of 8 seeds.
    """
    for seed in range(8):
        result = LiRAAttack(n_shadow=200).run(SureOrNot([20, 20, 20]), 400, seed)
        assert result.success > 0.8 - 4 * np.sqrt(0.8 * 0.2 / 400)


def test_scores_far_from_zero_are_told_apart():
    """Which unit is the most exposed was lost in squares of scores with a common large part."""

    class Offset(Confident):
        def confidences(self, released):
            return released + 1e9

    result = LiRAAttack(n_shadow=200).run(Offset([0, 3, 0.2]), 200, 0)
    assert dict(result.details)["unit"] == "1"
    assert result.success > 0.8


@pytest.mark.parametrize("direction", [1, -1])
def test_scores_next_to_each_other_are_told_apart(direction):
    """Doubles without another between them: their middle is one of the two."""

    class OneApart(Confident):
        def confidences(self, released):
            return np.where(released > 10, np.nextafter(1.0, 1 + direction), 1.0)

    assert LiRAAttack(n_shadow=50).run(OneApart([20, 20, 20]), 100, 0).success == 1.0


def test_nothing_is_found_where_nothing_is():
    successes = [LiRAAttack().run(Confident([0, 0, 0]), 500, seed).n_successes for seed in range(6)]
    assert abs(sum(successes) - 1500) < 4 * np.sqrt(3000 / 4)


def test_the_contract_is_kept():
    uneven = np.arange(1.0, 9) / 36
    games = AttackGames(
        sound=Confident([0, 0.5, 0], information=0.5),
        silent=Confident([0, 0, 0], information=0.5),
        skewed=Confident([0, 0, 0], prior=uneven, information=0.5),
        leaks={"far too sure of its members": Confident([5, 5, 5], information=0.01)},
    )
    check_attack(LiRAAttack(n_shadow=100), games=games)


def test_what_cannot_be_played_is_named():
    with pytest.raises(ValueError, match="confidences"):
        LiRAAttack().run(example_games().sound, 10, 0)
    with pytest.raises(ValueError, match="units"):
        LiRAAttack(unit=7).run(Confident([0, 0, 0]), 10, 0)
    with pytest.raises(ValueError, match="n_shadow"):
        LiRAAttack(n_shadow=1).run(Confident([0, 0, 0]), 10, 0)


@pytest.mark.parametrize("unit", range(3))
def test_the_curve_is_drawn_in_the_direction_that_the_attack_chose(unit):
    """Where members are less sure, and where they are only wider spread, it was upside down."""
    game = RecordingGame(Confident([3, -3, 0], factor=1.0 if unit < 2 else 6.0))
    attack = LiRAAttack(unit=unit)
    result = attack.run(game, 400, 3)
    scores, truth = score_rounds(attack, game, unit)
    curve = AttackROC.of("lira", scores[-400:], truth[-400:])
    area = auc(curve.false_positive_rate, curve.true_positive_rate)
    assert area > 0.85
    # The attack's own threshold is a point of the curve: no better point of it is far below.
    success = (np.array(curve.true_positive_rate) + 1 - np.array(curve.false_positive_rate)) / 2
    assert success.max() > result.success - 0.05
