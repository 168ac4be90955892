from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pacsklearn.audit.map_attack import MapAttack
from pacsklearn.audit.sliced_game import SlicedGame
from pacsklearn.plugins import registry
from pacsklearn.srpp import GroupScenario, Noise, PrevalenceScenario, Renyi, Slices
from pacsklearn.srpp.release.calibrated_worlds import SlicedOptions, StatedRows, calibrated_worlds
from pacsklearn.srpp.release.world_outputs import Query
from pacsklearn.srpp.scenarios.scenario import SecretColumn
from pacsklearn.testing import AttackGames, check_attack

TRIALS = 1500

pytestmark = pytest.mark.usefixtures("few_draws")


@pytest.fixture(scope="module")
def data() -> Any:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(90, 3))
    group = np.array(["a", "b", "c"])[generator.integers(0, 3, 90)]
    X[group == "a"] += 0.5
    return X, (X[:, 0] > 0.2).astype(int), group


def calibrated(data, scenario, epsilon, aggregation="average", noise="isotropic", model=None):
    X, y, group = data
    query = Query.of_function(lambda X: X.mean(axis=0))
    if model is not None:
        query = Query.of_model(model, registry().canonicalizer_for(model))
    options = SlicedOptions(Renyi(epsilon), Slices(50, aggregation=aggregation), Noise(noise))
    return calibrated_worlds(query, scenario, StatedRows(X, y, SecretColumn(group)), options)


SCENARIOS = [
    PrevalenceScenario(n_draws=2),
    PrevalenceScenario(shares=(0.2, 0.6), value="a", n_draws=3),
    GroupScenario(n_draws=1),
    GroupScenario(n_draws=4),
]


@pytest.mark.statistical
@pytest.mark.product(only=2)
@pytest.mark.parametrize("aggregation", ["average", "joint", "full"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=["shift", "shares", "groups", "resampled"])
@pytest.mark.parametrize("noise", ["isotropic", "anisotropic"])
def test_no_released_mechanism_is_beaten(data, scenario, aggregation, noise):
    """Each false alarm has a probability of at most 1/2000."""
    if noise == "anisotropic" and aggregation == "full":
        pytest.skip("there is no such mechanism")
    for epsilon in (0.05, 1.0):
        found = calibrated(data, scenario, epsilon, aggregation, noise)
        game = SlicedGame(found)
        for name in ("map", "identification"):
            result = registry().make("attack", name).run(game, TRIALS // 3, seed=0)
            assert not result.violates(), str(result)


@pytest.mark.statistical
def test_a_released_model_is_not_beaten(data):
    found = calibrated(data, GroupScenario(n_draws=2), 1.0, "full", model=LogisticRegression())
    result = MapAttack().run(SlicedGame(found), TRIALS, seed=0)
    assert not result.violates(), str(result)


@pytest.mark.statistical
def test_success_returns_to_the_prior_and_rises_with_the_budget(data):
    prior = np.array([0.6, 0.3, 0.1])
    success = {}
    for epsilon in (0.001, 1e3):
        found = calibrated(data, GroupScenario(n_draws=1), epsilon, "full")
        game = SlicedGame(found, prior)
        success[epsilon] = MapAttack().run(game, TRIALS, seed=1).success
    assert success[0.001] == pytest.approx(0.6, abs=4 * np.sqrt(0.24 / TRIALS))
    assert success[1e3] == 1.0


@pytest.mark.statistical
def test_too_little_noise_is_found_out(data):
    found = calibrated(data, GroupScenario(n_draws=1), 0.05, "full")
    weak = replace(found.law, centres=found.law.centres * 20)
    assert MapAttack().run(SlicedGame(replace(found, law=weak)), TRIALS, seed=0).violates()


def test_the_exact_attack_is_never_worse(data):
    found = calibrated(data, GroupScenario(n_draws=4), 30.0)
    game = SlicedGame(found)
    exact = registry().make("attack", "identification").run(game, TRIALS, seed=3)
    gaussian = MapAttack().run(game, TRIALS, seed=3)
    assert exact.n_successes >= gaussian.n_successes - 4 * np.sqrt(TRIALS) / 2


def test_one_data_set_a_secret_makes_them_equal(data):
    found = calibrated(data, GroupScenario(n_draws=1), 3.0)
    game = SlicedGame(found, [0.5, 0.25, 0.25])
    exact = registry().make("attack", "identification").run(game, 300, seed=3)
    assert exact.n_successes == MapAttack().run(game, 300, seed=3).n_successes


@pytest.mark.soak
def test_the_contract(data):
    check_attack(MapAttack(), n_trials=200)
    scenario = GroupScenario(n_draws=1)
    sound = calibrated(data, scenario, 0.2, "full")
    silent = replace(sound.law, centres=np.zeros_like(sound.law.centres))
    leaking = replace(sound.law, centres=sound.law.centres * 50)
    check_attack(
        MapAttack(),
        n_trials=200,
        games=AttackGames(
            sound=SlicedGame(sound),
            silent=SlicedGame(replace(sound, law=silent)),
            skewed=SlicedGame(replace(sound, law=silent), [0.7, 0.2, 0.1]),
            leaks={"a fiftieth of the noise": SlicedGame(replace(sound, law=leaking))},
        ),
    )


def test_the_posterior_is_that_of_the_mixtures(data):
    found = calibrated(data, GroupScenario(n_draws=3), 2.0)
    prior = np.array([0.2, 0.5, 0.3])
    game = SlicedGame(found, prior)
    played = game.play(np.random.default_rng(0))
    scaled = found.law.centres / 2.0**20
    density = np.exp(-np.sum((scaled - played.released.vector) ** 2, axis=1) / 2)
    joint = prior * [density[list(found.worlds.law(i, 0).members)].mean() for i in range(3)]
    np.testing.assert_allclose(played.posterior, joint / joint.sum(), rtol=1e-9)


def test_only_where_all_pairs_are_protected_there_is_a_bound(data):
    found = calibrated(data, GroupScenario(n_draws=1, pairs=[("a", "b")]), 1.0)
    assert SlicedGame(found).bound(0.5) is None


def test_bad_priors(data):
    found = calibrated(data, GroupScenario(n_draws=1), 1.0)
    for prior in ([0.5, 0.5], [0.5, 0.6, 0.1], [-0.5, 1.0, 0.5]):
        with pytest.raises(ValueError, match="probabilities"):
            SlicedGame(found, prior)
