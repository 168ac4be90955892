"""The rule, the choice of the unit, and the honesty of the interval."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.audit.attack import Attack, AttackResult
from pacsklearn.audit.game import Game, Round
from pacsklearn.audit.identification_attack import IdentificationAttack
from pacsklearn.audit.membership_attack import OptimalMembershipAttack
from pacsklearn.exceptions import UnknownNameError
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.plugins import Registry
from pacsklearn.testing import example_games


class Tabled(Game):
    """Says one of a few things with given probabilities; everything can be summed by hand."""

    def __init__(self, chances, members, prior=None):
        self.chances = np.asarray(chances, dtype=float)  # (m, n_outcomes)
        m = len(self.chances)
        self._prior = np.full(m, 1 / m) if prior is None else np.asarray(prior)
        self._members = members

    @property
    def prior(self):
        return self._prior

    @property
    def members(self):
        return self._members

    def bound(self, blind):
        return posterior_success(0.3, blind)

    def play(self, generator):
        secret = int(generator.choice(len(self._prior), p=self._prior))
        seen = int(generator.choice(self.chances.shape[1], p=self.chances[secret]))
        joint = self._prior * self.chances[:, seen]
        return Round(secret, joint / joint.sum(), seen)

    def optimum(self, unit):
        """Success of the best decision for each outcome, summed over the outcomes."""
        joint = self._prior[:, None] * self.chances
        inside = joint[self._members[:, unit]].sum(axis=0)
        return np.maximum(inside, joint.sum(axis=0) - inside).sum()


MEMBERS = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1], [0, 0, 1, 1]], dtype=bool)
CHANCES = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])


@pytest.mark.product(only=2)
@pytest.mark.parametrize("prior", [None, (0.4, 0.3, 0.2, 0.1)])
@pytest.mark.parametrize("unit", [0, 1, 2])
def test_no_decision_is_better(prior, unit):
    """Proposition 6.1 against the sum over outcomes; four standard errors of 4000 rounds."""
    game = Tabled(CHANCES, MEMBERS, prior)
    result = OptimalMembershipAttack(unit=unit).run(game, 4000, seed=1)
    best = game.optimum(unit)
    assert abs(result.success - best) <= 4 * np.sqrt(best * (1 - best) / 4000)
    share = game.prior @ MEMBERS[:, unit]
    assert result.prior == pytest.approx(max(share, 1 - share))
    assert result.bound == pytest.approx(posterior_success(0.3, result.prior))
    assert ("unit", str(unit)) in result.details


def test_the_least_protected_unit_is_chosen():
    game = Tabled(CHANCES, MEMBERS)
    advantage = [game.optimum(unit) - 0.5 for unit in range(3)]
    result = OptimalMembershipAttack().run(game, 10, seed=0)
    assert dict(result.details)["unit"] == str(int(np.argmax(advantage)))
    # Unit 3 is in all candidates: always "right", and no secret.
    assert dict(result.details)["unit"] != "3"


def test_the_unit_and_the_rule_are_chosen_before_the_trials():
    """Whatever the trials show, the choice is the same: it depends on the pilot alone."""
    game = example_games().sound
    attack = OptimalMembershipAttack(n_pilot=50)
    choices = {attack.run(game, n, seed=7).details for n in (1, 20, 80)}
    assert len(choices) == 1


@pytest.mark.soak
def test_choosing_on_the_same_trials_would_be_seen():
    """With nothing released, the best of many units after the fact looks like a leak; ours not."""
    silent = example_games().silent
    runs = [OptimalMembershipAttack(n_pilot=50).run(silent, 100, seed) for seed in range(15)]
    right = sum(run.n_successes for run in runs)
    honest = AttackResult("pooled", "membership", 1500, right, 0.5, None)
    assert honest.confidence_interval().low <= 0.5 <= honest.confidence_interval().high
    members, best = silent.members, 0
    for seed in range(15):
        generator = np.random.default_rng(seed)
        secrets = [silent.play(generator).secret for _ in range(100)]
        best += members[secrets].sum(axis=0).max()
    after = AttackResult("pooled", "membership", 1500, int(best), 0.5, None)
    assert after.confidence_interval().low > 0.5


@pytest.mark.soak
def test_a_redrawn_secret_needs_another_rule():
    leak = example_games().leaks["a secret drawn anew for each query"]
    result = OptimalMembershipAttack().run(leak, 200, seed=0)
    assert dict(result.details)["rule"] == "always a member"
    assert result.prior == 0.5
    assert result.violates()


def test_the_same_seed_gives_the_same_result():
    game = example_games().sound
    for attack in (OptimalMembershipAttack(n_pilot=50), IdentificationAttack()):
        assert attack.run(game, 50, seed=3) == attack.run(game, 50, seed=3)


def test_many_units_are_judged_in_parts(monkeypatch):
    game = example_games().sound
    attack = OptimalMembershipAttack(n_pilot=50)
    whole = attack.run(game, 50, seed=2)
    monkeypatch.setattr("pacsklearn.audit.membership_attack._CHUNK", 7)
    assert attack.run(game, 50, seed=2) == whole


def test_identification_names_the_likeliest():
    game = Tabled(CHANCES, None, (0.4, 0.3, 0.2, 0.1))
    joint = game.prior[:, None] * CHANCES
    best = joint.max(axis=0).sum()
    result = IdentificationAttack().run(game, 4000, seed=0)
    assert abs(result.success - best) <= 4 * np.sqrt(best * (1 - best) / 4000)
    assert result.prior == 0.4
    assert result.criterion == "naming the secret"


def test_games_without_units_have_no_membership():
    with pytest.raises(ValueError, match="units"):
        OptimalMembershipAttack().run(Tabled(CHANCES, None), 10, seed=0)
    everyone = Tabled(CHANCES, np.ones((4, 3), dtype=bool))
    with pytest.raises(ValueError, match="membership"):
        OptimalMembershipAttack().run(everyone, 10, seed=0)


@pytest.mark.parametrize(
    ("attack", "trials", "words"),
    [
        (OptimalMembershipAttack(), 0, "n_trials"),
        (IdentificationAttack(), 2.5, "n_trials"),
        (OptimalMembershipAttack(n_pilot=0), 10, "n_pilot"),
        (OptimalMembershipAttack(unit=3), 10, "unit"),
        (OptimalMembershipAttack(unit=9), 10, "unit"),
        (OptimalMembershipAttack(unit="x"), 10, "unit"),
    ],
)
def test_wrong_arguments_are_named(attack, trials, words):
    with pytest.raises(ValueError, match=words):
        attack.run(Tabled(CHANCES, MEMBERS), trials, seed=0)


def test_they_are_registered():
    builtins = Registry(list)
    assert {"identification", "optimal_membership"} <= set(builtins.names("attack"))
    assert isinstance(builtins.make("attack", "optimal_membership"), OptimalMembershipAttack)
    assert isinstance(builtins.make("attack", "identification"), IdentificationAttack)
    for name in builtins.names("attack"):
        assert builtins.make("attack", name).name == name
        assert builtins.provenance("attack", builtins.make("attack", name)).name == name
    assert all(record.description for record in builtins.registrations("attack"))
    assert isinstance(example_games().sound.space, SecretSpace)


class Instance(Attack):
    name = "instance"

    def run(self, game, n_trials, seed):
        raise NotImplementedError


def test_an_attack_is_found_by_name_or_is_itself():
    plugins = Registry(list)
    plugins.register(Instance)
    assert isinstance(plugins.make("attack", "instance"), Instance)
    own = Instance()
    assert plugins.make("attack", own) is own
    assert plugins.provenance("attack", "instance").name == "instance"


@pytest.mark.parametrize("value", ["nobody", Instance, 3, None])
def test_what_is_no_attack_is_refused_by_the_registry(value):
    with pytest.raises(UnknownNameError, match="optimal_membership"):
        Registry(list).make("attack", value)
