"""Releases that are planned together: one charge, one certified figure, attacked."""

from __future__ import annotations

import copy
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import Guarantee, Membership, Nats, PrivacySession, Subsets
from pacsklearn.estimators.game_procedure import game_procedure
from pacsklearn.estimators.session_releases import planned_targets
from pacsklearn.exceptions import BudgetError, BudgetExhaustedError
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.ledger.event import Bookkeeping
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.joint_law import JointLaw
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.kernel.release.certificate import certified_membership
from pacsklearn.padding.one_sided_law import OneSidedBackend
from pacsklearn.secrets import balanced_space
from tests.inside import secret_of

X, Y = load_iris(return_X_y=True)
SPACE = balanced_space(60, n_subsets=16)


def first_of(X, y):
    return X[:, 0].mean()


def spread_of(X, y):
    return X.std(axis=0)


def law_of(seed: int, budget: float) -> NoiseLaw:
    rows = np.random.default_rng(seed).standard_normal((60, 2)) ** 3
    support = Support(SPACE.membership().T @ rows)
    return LogdetBackend().calibrate(support, Target(budget), IdentityMetric())


def test_the_optimal_attack_on_both_releases_of_50000_sessions() -> None:
    """Independent of the joint law: two posteriors, by the laws' own formulas, multiplied."""
    laws, generator, n = (law_of(0, 0.1), law_of(1, 0.2)), np.random.default_rng(5), 50_000
    figure = certified_membership(JointLaw(laws), SPACE, SPACE.weights)
    assert figure is not None
    secrets, logs = generator.integers(16, size=n), np.zeros((n, 16))
    for law in laws:
        noise = np.rint(generator.normal(0, law.scale, (n, law.dimension)))
        released = law.centres[secrets] + noise
        for axis in range(law.dimension):
            logs -= ((released[:, [axis]] - law.centres[:, axis]) / law.scale) ** 2 / 2
    belief = np.exp(logs - logs.max(axis=1, keepdims=True))
    belief /= belief.sum(axis=1, keepdims=True)
    members = SPACE.membership()
    right = ((belief @ members.T > 0.5) == members[:, secrets].T).mean(axis=0)
    error = 4 * 0.5 / np.sqrt(n)
    assert right.max() - error <= figure.success <= right.max() + error + 0.01
    alone = [certified_membership(law, SPACE, SPACE.weights) for law in laws]
    assert figure.success > max(one.success for one in alone if one is not None)
    assert figure.success < posterior_success(sum(law.bound for law in laws), 0.5)


def test_one_charge_one_guarantee_one_figure() -> None:
    ledger = MemoryLedger(1.0)
    with PrivacySession(X, Y, budget=0.5, secret=Subsets(16), ledger=ledger) as session:
        releases = session.release_planned([GaussianNB(), spread_of], budgets=[0.25, 0.125])
        model, spread = releases
        assert session.ledger.spent == ledger.spent == pytest.approx(0.375, rel=1e-6)
        assert len(session.ledger.events) == 1
        assert session.guarantee_.certified_membership == model.guarantee.certified_membership
    assert model.value.predict(X).shape == (150,)
    assert spread.value.shape == (4,)
    assert model.guarantee is spread.guarantee
    assert model.guarantee.n_releases == 2
    assert model.guarantee.budget == 0.375
    assert 0.5 < model.guarantee.certified_membership < model.guarantee.posterior_membership
    assert "Certified for these very releases together" in " ".join(str(model.guarantee).split())
    assert Guarantee.from_json(model.guarantee.to_json()) == model.guarantee


def test_equal_shares_when_no_budgets_are_given() -> None:
    with PrivacySession(X, Y, budget=0.3, secret=Subsets(16)) as session:
        session.release_planned([first_of, spread_of, GaussianNB()])
        assert session.ledger.spent == pytest.approx(0.3, rel=1e-6)
        assert session.ledger.spent <= 0.3


@pytest.mark.parametrize("spent", [0.0, 0.1, 1 / 3])
def test_shares_never_add_up_to_more_than_remains_and_hardly_to_less(spent: float) -> None:
    """In exact arithmetic: r / n in doubles, n times, is above r about every second time."""
    procedure = game_procedure(SPACE, SeededSampler(np.random.default_rng(0)), 0.7)
    account = procedure.account
    account.charge(Bookkeeping("release", spent, "nats", key=""))
    for n in range(2, 60):
        shares = [target.budget for target in planned_targets(procedure, n, None)]
        total = sum(map(Fraction, shares))
        assert len(shares) == n
        assert account.remaining * (1 - 1e-11) < total < Fraction(account.remaining)
    (whole,) = planned_targets(procedure, 1, None)
    assert whole.budget == account.remaining


def test_the_laws_are_the_same_whatever_came_out() -> None:
    """The defect it removes: a second release of an open session is calibrated to the first."""
    figures, powers = set(), set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(5):
            session = PrivacySession(
                X, Y, budget=Nats(1.0), secret=Subsets(16, seed=0), random_state=seed
            )
            planned = session.release_planned([LinearDiscriminantAnalysis(), GaussianNB()])
            figures.add(planned[0].guarantee.certified_membership)
            powers.add(tuple(one.noise_power for one in planned))
    assert len(figures) == len(powers) == 1


def test_a_release_after_them_has_no_figure_and_says_why() -> None:
    with PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(16)) as session:
        session.release_planned([first_of, spread_of], budgets=[0.1, 0.1])
        later = session.release(GaussianNB(), budget=0.1)
    assert later.guarantee.certified_membership is None
    assert later.guarantee.n_releases == session.guarantee_.n_releases == 3
    assert "release_planned" in dict(later.guarantee.details)["certified membership"]


def test_planned_ones_in_the_middle_are_calibrated_to_one_belief_and_not_certified() -> None:
    with PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(16)) as session:
        session.release_function(first_of, budget=0.2)
        planned = session.release_planned([first_of, spread_of], budgets=[0.1, 0.1])
    assert planned[0].guarantee.certified_membership is None
    assert session.ledger.spent <= 0.4


def test_what_cannot_be_planned_is_said_before_anything_is_charged() -> None:
    with PrivacySession(X, Y, budget=0.25, secret=Subsets(16)) as session:
        with pytest.raises(BudgetExhaustedError):
            session.release_planned([first_of, spread_of], budgets=[0.2, 0.1])
        with pytest.raises(ValueError, match="entry"):
            session.release_planned([first_of, spread_of], budgets=[0.2])
        with pytest.raises(BudgetError, match="budgets"):
            session.release_planned([first_of], budgets=[-1])
        with pytest.raises(ValueError, match="function"):
            session.release_planned([])
        with pytest.raises(TypeError, match="releases"):
            session.release_planned([first_of, 3])
        assert session.ledger.spent == 0
    with (
        PrivacySession(X, Y, budget=Membership(0.7), secret=Subsets(16)) as capped,
        pytest.raises(ValueError, match="criterion"),
    ):
        capped.release_planned([first_of, spread_of])


def test_functions_have_a_figure_too_and_padding_an_exact_one() -> None:
    with PrivacySession(X, Y, budget=0.5, secret=Subsets(16)) as session:
        noised = session.release_function(first_of).guarantee
    assert noised.certified_confidence == 1 - 1e-6
    assert 0.5 < noised.certified_membership < noised.posterior_membership
    sizes = np.random.default_rng(3).integers(1, 60, 60)
    totals = SPACE.membership().T @ sizes
    law = OneSidedBackend().calibrate(Support(totals[:, None].astype(float)), Target(0.3))
    figure = certified_membership(law, SPACE, SPACE.weights)
    assert figure is not None
    worst = 0.0
    for inside in SPACE.membership():  # by the definition, one unit and one level at a time
        right = 0.0
        for level in range(law.padding.levels.size):
            mass = np.array([law.channel[i][level] for i in range(16)]) / 16
            right += max(mass[inside].sum(), mass[~inside].sum())
        worst = max(worst, right)
    assert figure.confidence == 1.0
    assert worst <= figure.success <= worst * (1 + 1e-9)


def test_responses_say_why_the_implied_bound_stands_alone() -> None:
    with PrivacySession(X, Y, budget=0.5, secret=Subsets(16)) as session:
        responder = session.responder(DecisionTreeClassifier(random_state=0), max_answers=200)
        responder.predict(X)
        assert "depend on the answers before" in str(dict(responder.guarantee_.details))
        figure = session.curator_figure()
    assert figure.laws is None
    assert "answers to queries" in figure.missing


def test_the_curators_figure_is_the_posterior_and_stays_there() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(16, seed=0), random_state=1)
    assert session.curator_figure().missing == "nothing was released"
    session.release(GaussianNB(), budget=0.25)
    session.release_function(first_of, budget=0.25)
    figure = session.curator_figure()
    likely = session.space.membership() @ secret_of(session).belief
    sure = np.maximum(likely, 1 - likely)
    assert figure.worst == pytest.approx(sure.max())
    assert figure.average == pytest.approx(sure.mean())
    assert figure.blind == 0.5
    assert 0.5 < figure.laws < figure.implied
    assert str(figure).startswith("FOR THE CURATOR ONLY, not to be published: 2 release(s)")
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="curator"):
            leave(figure)
    told = session.guarantee_.to_json() + str(session.guarantee_)
    assert "FOR THE CURATOR" not in told
    assert f"{figure.worst:.6f}"[2:] not in told


def test_variances_of_the_noise_are_stated_for_each_release() -> None:
    space = balanced_space(len(X), n_subsets=16)
    steady = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5)
    session = PrivacySession(X, Y, budget=Nats(0.6), secret=space)
    *values, model = session.release_planned([first_of, spread_of, steady])
    values.append(PrivacySession(X, Y, budget=0.2, secret=space).release_function(spread_of))
    for one, size in zip(values, (1, 4, 4), strict=True):
        assert one.noise_variances is not None
        assert one.noise_variances.shape == (size,)
        assert np.sum(one.noise_variances) == pytest.approx(one.noise_power, rel=1e-9)
    alone = PrivacySession(X, Y, budget=0.2, secret=space).release(steady)
    assert model.noise_variances == pytest.approx(alone.noise_variances, rel=1e-6)
