"""What a budget promises, in which unit, and what it refuses."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ParameterGrid

from pacsklearn import PACPrivate, Parameters, SRPPPrivate, Subsets
from pacsklearn.exceptions import BudgetError, BudgetWarning
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.caps import Identification, KOfN, Membership, Success
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.budget.nats import Nats
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.plugins import Cap, Criterion, registry
from pacsklearn.secrets import CandidateSpace, balanced_space
from pacsklearn.srpp import Renyi
from pacsklearn.universe.stated_budget import as_budget

SPACE = balanced_space(8, n_subsets=6, seed=1)
ALL = [Nats(1 / 4), Membership(0.6), Identification(0.5), KOfN(3, 0.9)]


@pytest.mark.parametrize("budget", [*ALL, Nats(9, allow_exact=True)], ids=repr)
def test_a_budget_is_a_value(budget):
    again = registry().load("budget", budget.name)(
        **{name: value for name, value in budget.to_dict().items() if name != "name"}
    )
    assert repr(again) == repr(budget)
    for same in (clone(budget), again, pickle.loads(pickle.dumps(budget))):
        assert same == budget
        assert hash(same) == hash(budget)
    assert budget != Nats(1 / 5)


def test_nested_names_reach_into_it_and_grids_mix_kinds():
    model = PACPrivate(Ridge(), budget=Membership(0.6))
    assert model.get_params()["budget__cap"] == 0.6
    assert model.set_params(budget__cap=0.7).budget == Membership(0.7)
    assert clone(model).budget == Membership(0.7)
    assert repr(model) == "PACPrivate(budget=Membership(0.7), estimator=Ridge())"
    with pytest.raises(ValueError, match="nats"):
        model.set_params(budget__nats=1)
    grid = list(ParameterGrid({"budget": [1 / 64, Membership(0.55)]}))
    assert [each["budget"] for each in grid] == [1 / 64, Membership(0.55)]


def test_a_bare_number_is_nats():
    assert as_budget(1 / 2) == Nats(1 / 2)
    assert as_budget(np.float64(0.25)) == Nats(0.25)
    assert as_budget(Membership(0.6)) == Membership(0.6)
    with pytest.warns(BudgetWarning, match=f"{100 * posterior_success(0.6):.2f} %"):
        as_budget(0.6)
    assert as_budget(Nats(0.6)).amount == 0.6  # said on purpose


@pytest.mark.parametrize("wrong", [None, "1/16", True, [0.5], math.nan, -1, 0, math.inf])
def test_what_is_no_budget_is_refused(wrong):
    with pytest.raises(BudgetError):
        as_budget(wrong)


@pytest.mark.parametrize("cap", [60, 1, 0, -0.1, math.nan, True, "0.6", None])
@pytest.mark.parametrize("kind", [Membership, Identification])
def test_a_cap_is_a_probability(kind, cap):
    with pytest.raises(BudgetError, match=kind.__name__):
        as_budget(kind(cap))


@pytest.mark.parametrize("budget", [Membership(0.5), Identification(1 / 6), KOfN(1, 0.9)], ids=repr)
def test_what_guessing_blindly_has_is_no_cap(budget):
    """Of four of eight rows one is always right."""
    match = "is sure of" if isinstance(budget, KOfN) else "has .* for instance"
    with pytest.raises(BudgetError, match=f"guessing blindly {match}"):
        budget.criterion(SPACE)


def test_what_hides_nothing_needs_consent():
    with pytest.raises(BudgetError, match="allow_exact=True"):
        Nats(math.log(6)).criterion(SPACE)
    assert Nats(math.log(6), allow_exact=True).criterion(SPACE) is None
    assert Nats(1.7).criterion(SPACE) is None


@pytest.mark.product(only=1)
@pytest.mark.parametrize("budget", [Membership(0.95), Membership(0.99), KOfN(14, 0.9)], ids=repr)
def test_what_caps_or_certifies_membership_hides_the_name_of_the_subset_too(budget):
    """Naming it tells each membership; the nats of such a release are above its entropy."""
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    model = PACPrivate(LogisticRegression(), budget=budget, secret=Subsets(32)).fit(X, y)
    guarantee = model.guarantee_
    assert guarantee.information > math.log(32)
    assert guarantee.status.for_release
    if guarantee.criterion == "membership":
        assert guarantee.posterior_identification <= guarantee.posterior_membership <= budget.cap


def test_a_cap_that_hides_nothing_needs_consent():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    with pytest.raises(BudgetError, match="allow_exact"):
        PACPrivate(LogisticRegression(), budget=Identification(0.99999)).fit(X, y)


@pytest.mark.parametrize("word", ["no", 0, None])
def test_consent_is_true_or_false(word):
    with pytest.raises(ValueError, match="allow_exact"):
        as_budget(Nats(10, allow_exact=word))
    with pytest.raises(ValueError, match="allow_exact"):
        SRPPPrivate(Ridge(), budget=Renyi(1.0, allow_exact=word)).fit(np.eye(8), np.arange(8))


def test_caps_make_the_criterion_of_the_space():
    assert Membership(0.6).criterion(SPACE).n_targets == 8
    assert Identification(0.6).criterion(SPACE).name == "identification"
    assert KOfN(3, 0.9).criterion(SPACE).name == "3-of-8"
    half = GuessCriterion(np.eye(2)[np.arange(6) % 2].T, "half", "tell the half")
    assert Success(half, 0.8).criterion(SPACE) is half
    assert Success(lambda space: half, 0.8).criterion(SPACE) is half
    with pytest.raises(TypeError, match="got str"):
        Success("half", 0.8).criterion(SPACE)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must make a Criterion"):
        Success(lambda space: 3, 0.8).criterion(SPACE)


def test_nats_add_and_caps_do_not():
    assert [budget.adds for budget in ALL] == [True, False, False, False]


class KeepingCap(Cap):
    name = "keeping"

    def __init__(self, cap, allow_exact=False):
        self.cap, self.allow_exact = cap, allow_exact

    def against(self, space):
        self.kept = space
        return GuessCriterion(np.eye(space.n_candidates), "name", "name the subset")


class KeepingMetric(Metric):
    def root(self, rows):
        self.kept = rows
        return rows


def test_parameters_keep_neither_candidates_nor_outputs():
    cap, metric = KeepingCap(0.5), KeepingMetric()
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 2)), generator.normal(size=40)
    model = PACPrivate(
        Ridge(), budget=cap, secret=Subsets(8), release=Parameters(metric=metric)
    ).fit(X, y)
    assert vars(cap) == {"cap": 0.5, "allow_exact": False}
    assert not vars(metric)
    again = pickle.loads(pickle.dumps(model))
    assert not hasattr(again.budget, "kept")
    assert not hasattr(again.release.metric, "kept")


def capped(of, cap=0.6, **params):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 2)), generator.normal(size=40)
    return PACPrivate(Ridge(), Success(of, cap), secret=Subsets(16), **params).fit(X, y)


class Unworried(MembershipCriterion):  # type: ignore[misc]
    """Says that nobody ever succeeds."""

    def success(self, posterior, targets=None):
        return np.full_like(super().success(posterior, targets), 0.5)


def test_what_inherits_from_a_criterion_is_capped_by_its_tables():
    # Believed as the kernel's own, it took no noise at all, "certified 50 %".
    guarantee = capped(Unworried).guarantee_
    assert guarantee.mutual_information < 1


def test_a_table_is_named_as_the_attack_that_it_is():
    # As the cap on membership, which it was called, 60 % were certified where 66 are reached.
    halves = np.eye(2)[np.arange(16) % 2].T
    with pytest.raises(TypeError):
        GuessCriterion(halves, "half", "tell the half", "membership of one unit")
    assert capped(GuessCriterion(halves, "half", "tell the half")).guarantee_.capped == ""
    naming = capped(GuessCriterion(np.eye(16), "name", "name it"), 0.3).guarantee_
    assert naming.posterior_identification <= 0.3


class Writing(Criterion):
    """Makes one candidate all but certain once its cap was met at the prior."""

    name, statement, n_targets, calls = "writing", "name the candidate", 1, 0

    def __init__(self, space):
        self.space = space

    def gains(self, target):
        self.calls += 1
        if self.calls == 3:
            self.space.weights[:] = np.where(np.arange(self.space.n_candidates), 1e-3, 1)
        yield np.eye(self.space.n_candidates)


def test_nobody_who_is_given_a_space_can_write_into_it():
    # Drawn by what was written, the secret was named by a blind guess, and the cap was kept.
    ledger = MemoryLedger(1.0)
    with pytest.raises(ValueError, match="read-only"):
        capped(Writing, 0.3, ledger=ledger)
    assert ledger.spent == 0
    for space in (SPACE, CandidateSpace.of(range(4))):
        assert not space.weights.flags.writeable
    assert not SPACE.packed.flags.writeable


class Unchecked(KeepingCap):
    name = "unchecked"

    def criterion(self, space):
        return Unworried(space)


def test_a_cap_says_what_is_capped_and_makes_no_criterion_by_itself():
    X = np.arange(40.0).reshape(20, 2)
    with pytest.raises(BudgetError, match="Unchecked overrides criterion"):
        PACPrivate(Ridge(), budget=Unchecked(0.5)).fit(X, X[:, 0])
