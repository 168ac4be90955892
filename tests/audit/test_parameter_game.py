"""Rounds of released vectors, against closed forms and Bayes' rule."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from pacsklearn.audit.identification_attack import IdentificationAttack
from pacsklearn.audit.membership_attack import OptimalMembershipAttack
from pacsklearn.audit.parameter_game import ParameterGame
from pacsklearn.kernel.bounds.posterior_success import mutual_information_for_success
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.universe.listed_space import listed_space

M = 16


def law_of(outputs, budget, weights=None):
    support = Support(outputs, np.empty(0) if weights is None else weights)
    return LogdetBackend().calibrate(support, Target(budget), IdentityMetric())


@pytest.fixture(scope="module")
def outputs():
    return np.random.default_rng(3).normal(size=(M, 4))


@pytest.mark.soak
@pytest.mark.product(only=1)
@pytest.mark.parametrize("budget", [1 / 16, 1 / 4])
def test_two_candidates_are_told_apart_as_often_as_two_gaussians(budget):
    """Compared at four standard errors of 1500 rounds; fails under one seed of 15,000."""
    pair = listed_space([[0, 1], [2, 3]], 4)
    law = law_of(np.array([[0.0, 1.0], [3.0, -1.0]]), budget)
    apart = abs(int(law.centres[0, 0]) - int(law.centres[1, 0])) / LATTICE_SCALE
    expected = stats.norm.cdf(apart / 2)
    for attack in (IdentificationAttack(), OptimalMembershipAttack(unit=2)):
        result = attack.run(ParameterGame(law, pair), 1500, seed=1)
        assert abs(result.success - expected) <= 4 * math.sqrt(expected * (1 - expected) / 1500)
        assert result.prior == 0.5
        assert not result.violates()


def test_the_posterior_is_bayes_rule_on_what_is_shown(outputs, space):
    laws = [law_of(outputs, 1 / 4), law_of(outputs[:, :2] ** 2, 1 / 2)]
    game = ParameterGame(laws, space)
    played = game.play(np.random.default_rng(2))
    logs = np.zeros(M)
    for law, vector in zip(laws, played.released, strict=True):
        # Density of the vector under each candidate, in the law's own coordinates.
        basis = (law.step[:, None] * law.axes).T
        seen = np.linalg.lstsq(basis, vector - law.origin, rcond=None)[0]
        logs += stats.norm.logpdf(seen, law.centres, LATTICE_SCALE).sum(axis=1)
    expected = np.exp(logs - np.logaddexp.reduce(logs))
    assert np.allclose(played.posterior, expected, rtol=1e-6)


def test_laws_may_follow_the_belief(outputs, uneven):
    seen = []

    def second(belief):
        seen.append(belief)
        return law_of(outputs**3, 1 / 8, belief)

    first = law_of(outputs, 1 / 4, uneven.weights)
    game = ParameterGame([first, second], uneven, information=3 / 8)
    played = game.play(np.random.default_rng(0))
    assert len(seen) == 1
    assert seen[0].sum() == pytest.approx(1)
    assert not np.allclose(seen[0], uneven.weights)
    assert played.posterior.sum() == pytest.approx(1)
    alone = ParameterGame(first, uneven).play(np.random.default_rng(0))
    assert np.allclose(seen[0], alone.posterior)


@pytest.mark.soak
def test_several_looks_at_one_secret_add_up(outputs, space):
    law = law_of(outputs, 1 / 16)
    named = [
        IdentificationAttack().run(ParameterGame([law] * count, space), 300, seed=0)
        for count in (1, 16)
    ]
    assert named[1].confidence_interval().low > named[0].confidence_interval().high
    assert named[1].bound > named[0].bound
    assert not any(result.violates() for result in named)
    # At the price of one it would be a leak, and is seen to be.
    cheap = ParameterGame([law] * 16, space, information=1 / 16)
    assert IdentificationAttack().run(cheap, 300, seed=0).violates()


def test_what_is_promised(outputs, space):
    law = law_of(outputs, 1 / 4)
    assert ParameterGame(law, space).information == law.bound
    assert ParameterGame([law, law], space).information == 2 * law.bound
    assert ParameterGame([law] * 99, space).information == math.log(M)
    game = ParameterGame(law, space, information=1 / 3)
    assert mutual_information_for_success(game.bound(0.5)) == pytest.approx(1 / 3)


def test_what_is_shown_is_decoded(outputs, space):
    law = law_of(outputs, 1 / 4)
    plain = ParameterGame(law, space).play(np.random.default_rng(6)).released[0]
    game = ParameterGame(law, space, decode=lambda vector: {"coef": vector})
    assert np.array_equal(game.play(np.random.default_rng(6)).released["coef"], plain)


def test_exact_and_empty_releases_are_played(outputs, space):
    exact = ParameterGame(law_of(outputs, 50.0), space).play(np.random.default_rng(0))
    assert exact.posterior[exact.secret] == 1.0
    equal = ParameterGame(law_of(np.ones((M, 2)), 0.5), space, information=0.5)
    assert np.allclose(equal.play(np.random.default_rng(0)).posterior, 1 / M)


def test_secrets_that_are_no_subsets_have_no_members(outputs):
    keys = CandidateSpace.of(range(M), np.arange(1.0, M + 1))
    game = ParameterGame(law_of(outputs, 1 / 4, keys.weights), keys)
    assert game.members is None
    result = IdentificationAttack().run(game, 500, seed=0)
    assert result.criterion == "naming the secret"
    assert result.prior == pytest.approx(M / (M * (M + 1) / 2))
    assert not result.violates()
    with pytest.raises(ValueError, match="units"):
        OptimalMembershipAttack().run(game, 10, seed=0)


def test_wrong_arguments_are_named(outputs, space):
    law = law_of(outputs, 1 / 4)
    with pytest.raises(ValueError, match="least"):
        ParameterGame([], space)
    with pytest.raises(ValueError, match="got one for 4"):
        ParameterGame(law_of(outputs[:4], 1 / 4), space)
    with pytest.raises(ValueError, match="information"):
        ParameterGame([law, lambda belief: law], space)
    with pytest.raises(ValueError, match="laws"):
        ParameterGame(3, space)
    with pytest.raises(ValueError, match="laws"):
        ParameterGame(lambda belief: None, space, information=1).play(np.random.default_rng(0))
    with pytest.raises(ValueError, match="information"):
        ParameterGame(law, space, information=-1)
    assert dataclasses.is_dataclass(law)
