"""What a sliced release states of the best attack, played against that attack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from pacsklearn import SRPPPrivate
from pacsklearn.audit import run_audit
from pacsklearn.audit.sliced_game import SlicedGame
from pacsklearn.exceptions import AuditViolationError
from pacsklearn.plugins import registry
from pacsklearn.srpp import GroupScenario, PrevalenceScenario, Renyi, Scenario, SliceProfile, Slices
from pacsklearn.srpp.release.calibrated_worlds import SlicedOptions, StatedRows, calibrated_worlds
from pacsklearn.srpp.release.world_outputs import Query
from pacsklearn.srpp.scenarios.scenario import DataWorld, Law, SecretColumn, Worlds


@pytest.fixture(scope="module")
def data() -> Any:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(90, 3))
    group = np.array(["a", "b", "c"])[generator.integers(0, 3, 90)]
    X[group == "a"] += 0.5
    return X, group


def mean(X: Any) -> Any:
    return X.mean(axis=0)


def calibrated(data, scenario, epsilon=4.0):
    X, group = data
    options = SlicedOptions(Renyi(epsilon), Slices(50))
    rows = StatedRows(X, None, SecretColumn(group))
    return calibrated_worlds(Query.of_function(mean), scenario, rows, options)


def best_attack(found, asked, prior, n, seed, directions=None):
    """Share of right guesses of Bayes' rule, written down again: n releases of each secret."""
    generator = np.random.default_rng(seed)
    centres = found.law.centres / found.law.scale
    right = 0.0
    for number, p in zip(asked, prior, strict=True):
        members = np.array(found.worlds.law(number, 0).members)
        seen = centres[generator.choice(members, n)] + generator.normal(size=(n, centres.shape[1]))
        scores = []
        units = None
        if directions is not None:
            units = directions[generator.integers(len(directions), size=n)]
        for other, q in zip(asked, prior, strict=True):
            total = np.zeros(n)
            for world in found.worlds.law(other, 0).members:
                gap = seen - centres[world]
                far = np.sum(gap**2, axis=1) if units is None else np.sum(gap * units, axis=1) ** 2
                total += np.exp(-far / 2)
            scores.append(q * total / len(found.worlds.law(other, 0).members))
        right += p * np.mean(np.array(asked)[np.argmax(scores, axis=0)] == number)
    return right


@pytest.mark.product(only=1)
@pytest.mark.parametrize("scenario", [
    GroupScenario(n_draws=1), GroupScenario(n_draws=5), PrevalenceScenario(n_draws=4),
], ids=["one world a secret", "groups", "shares"])  # fmt: skip
def test_the_stated_success_is_that_of_the_best_attack(data, scenario):
    found = calibrated(data, scenario)
    n, stated = 40_000, found.success
    secrets = range(len(found.worlds.secrets))
    even = np.full(len(secrets), 1 / len(secrets))
    law = found.law
    profile = SliceProfile.uniform(3, n_slices=50)
    turned = (profile.directions @ law.axes.T) * law.step
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    for directions, pair, secret in (
        (None, stated.pair, stated.secret), (turned, stated.pair_slice, stated.secret_slice),
    ):  # fmt: skip
        worst = max(
            best_attack(found, asked, (0.5, 0.5), n, 0, directions) for asked in found.worlds.pairs
        )
        # Five deviations of the count below, and what a certificate may add above.
        assert worst - 0.0125 <= pair <= worst + 0.02
        every = best_attack(found, secrets, even, n, 1, directions)
        assert every - 0.0125 <= secret <= every + 0.02


@pytest.mark.soak
def test_a_leak_between_the_attack_and_the_information_is_caught(data):
    """Two thirds of the noise: within what the information allows, not within the figure."""
    X, group = data
    sub = group != "c"
    found = calibrated((X[sub], group[sub]), GroupScenario(n_draws=1), 4.0)
    sound = SlicedGame(found)
    leaking = SlicedGame(replace(found, law=replace(found.law, centres=found.law.centres * 3 // 2)))
    attack = registry().make("attack", "identification")
    honest = attack.run(sound, 3000, seed=0)
    assert not honest.violates(1 - 2e-4), str(honest)
    assert abs(honest.success - found.success.secret) < 0.04
    assert attack.run(leaking, 3000, seed=0).violates(1 - 2e-4)


@pytest.mark.soak
def test_an_audit_holds_the_attack_against_what_the_release_states(data):
    X, group = data
    model = SRPPPrivate(mean, budget=4.0, scenario=GroupScenario(n_draws=3))
    model.fit(X, secret=group, realized="a")
    stated = model.guarantee_.success
    given = {"secret": group, "attacks": ["identification"], "n_trials": 2000}
    audit = run_audit(model, X, **given)
    assert audit.passed
    assert audit.results[0].bound == stated.secret
    model.guarantee_ = replace(model.guarantee_, success=replace(stated, secret=0.4))
    with pytest.raises(AuditViolationError):
        run_audit(model, X, **given, strict=True)


def test_a_pair_at_one_half_has_the_worst_pairs_figure(data):
    found = calibrated(data, GroupScenario(n_draws=2, pairs=[("a", "b")]))
    assert SlicedGame(found, [0.5, 0.5, 0.0]).bound(0.5) == found.success.pair
    # The other pairs are not kept apart, and no figure of a pair speaks of them.
    assert SlicedGame(found, [0.5, 0.0, 0.5]).bound(0.5) is None
    # All secrets together are named no better than the figure for all, protected or not.
    assert SlicedGame(found).bound(1 / 3) == found.success.secret


@dataclass(frozen=True)
class Biased(Scenario):
    """Two secrets, one of them nine times as likely."""

    protects = "which of two numbers it is"
    releases = "the number"
    description = "Biased()"

    def worlds(self, X: Any, y: Any, secret: Any) -> Worlds:
        return Worlds(
            secrets=("low", "high"),
            priors=("one",),
            worlds=(DataWorld(np.zeros((1, 1))), DataWorld(np.ones((1, 1)))),
            laws=(Law(0, 0, (0,)), Law(1, 0, (1,))),
            pairs=((0, 1),),
            weights=(0.9, 0.1),
        )


def test_a_declared_prior_is_drawn_from_and_stated():
    weak = SRPPPrivate(lambda X: X[0, 0], budget=0.01, scenario=Biased())
    found = weak.fit(np.zeros((2, 1))).guarantee_.success
    assert found.secret_blind == 0.9
    assert found.secret == pytest.approx(0.9, abs=1e-6)
    assert 0.5 < found.pair < 0.55
    game = SlicedGame(
        calibrated_worlds(
            Query.of_function(lambda X: X[0, 0]), Biased(), StatedRows(np.zeros((2, 1))),
            SlicedOptions(Renyi(0.01)),
        )
    )  # fmt: skip
    generator = np.random.default_rng(0)
    share = np.mean([game.play(generator).secret for _ in range(2000)])
    assert share == pytest.approx(0.1, abs=0.035)
