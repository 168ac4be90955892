"""Audits: sound mechanisms pass, broken ones are caught, nothing secret is read."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import (
    Answers,
    AutoPrivateClassifier,
    Membership,
    Nats,
    PACPrivate,
    Parameters,
    PrivacySession,
    SRPPPrivate,
    Subsets,
)
from pacsklearn.audit.attack import Attack, AttackResult
from pacsklearn.audit.audit_record import Audit
from pacsklearn.audit.auditor import run_audit
from pacsklearn.audit.identification_attack import IdentificationAttack
from pacsklearn.exceptions import AuditViolationError, UnknownNameError, UtilityWarning
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import register, unregister
from pacsklearn.shaping.closed_forms import EigenBackend
from pacsklearn.srpp import GroupScenario, PrevalenceScenario
from pacsklearn.tabular import Column, Schema
from pacsklearn.testing import example_games
from pacsklearn.universe.balanced_space import balanced_space
from tests.audit.broken import OneExactNumber, Redrawing, TooQuiet

X, y = load_iris(return_X_y=True)
M = 16

pytestmark = pytest.mark.usefixtures("few_draws")


def fitted(noise="auto", estimator=None, **options):
    model = PACPrivate(
        estimator or RidgeClassifier(), budget=1 / 16, noise=noise, secret=Subsets(M), **options
    )
    return model.fit(X, y)


@pytest.fixture(scope="module")
def sound():
    return fitted()


@pytest.fixture(scope="module")
def audited(sound):
    """Every attack that joins by itself."""
    return run_audit(sound, X, y, n_trials=60)


ALL = [
    "optimal_membership",
    "identification",
    "lira",
]


@pytest.mark.parametrize("release", [Parameters(), Answers(10)])
def test_a_model_that_reads_by_a_schema_is_replayed(release):
    X, y = load_iris(return_X_y=True)
    words = np.where(X[:, :1] > 6, "long", "short").astype(object)
    schema = Schema([Column("x0", "category", categories=("long", "short"))])
    model = PACPrivate(RidgeClassifier(), secret=Subsets(8), release=release, schema=schema)
    model.fit(words, y)
    assert run_audit(model, words, y, attacks=["identification"], n_trials=20).passed


def test_a_sound_release_passes_every_attack(sound):
    audit = run_audit(sound, X, y, attacks=ALL, n_trials=200, strict=True)
    assert audit.passed
    assert [result.attack for result in audit.results] == ALL
    assert all(result.n_trials == 200 for result in audit.results)
    assert audit.information == pytest.approx(1 / 16)
    assert (audit.n_subsets, audit.n_units) == (M, 150)
    assert all(result.success <= result.bound + 0.1 for result in audit.results)
    membership = audit.results[0]
    assert membership.bound == pytest.approx(sound.guarantee_.posterior_membership)
    assert {each.name for each in audit.provenance} == set(ALL)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("estimator", [GaussianNB(), Ridge()])
def test_other_models_can_be_attacked_by_their_confidence(estimator):
    model = fitted(estimator=estimator)
    assert run_audit(model, X, y, n_trials=100).passed


@pytest.mark.soak
@pytest.mark.parametrize("estimator", [KMeans(3, n_init=1), PCA(2)])
def test_models_without_targets_can_too(estimator):
    model = PACPrivate(estimator, secret=Subsets(M)).fit(X)
    assert len(run_audit(model, X, attacks=ALL, n_trials=100, strict=True).curves) == 2


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("noise", "found_by"),
    [
        (
            TooQuiet(),
            {"optimal_membership", "identification", "lira"},
        ),
        (OneExactNumber(), {"identification", "optimal_membership"}),
    ],
    ids=["too quiet", "one exact number"],
)  # fmt: skip
def test_a_broken_mechanism_is_caught(noise, found_by):
    model = fitted(noise, Ridge())
    audit = run_audit(model, X, y, attacks=sorted(found_by), n_trials=300)
    assert {result.attack for result in audit.violations} == found_by
    assert not audit.passed
    assert "VIOLATED" in str(audit)
    assert "REFUTED" in audit._repr_html_()
    with pytest.raises(AuditViolationError, match="identification"):
        run_audit(model, X, y, attacks=["identification"], n_trials=300, strict=True)


@pytest.mark.soak
def test_a_secret_drawn_anew_is_caught():
    space = balanced_space(60, n_subsets=M)
    outputs = np.random.default_rng(0).normal(size=(M, 4))
    law = EigenBackend().calibrate(Support(outputs), Target(1 / 64), IdentityMetric())
    audit = run_audit(Redrawing([law] * 8, space), attacks=["optimal_membership"], n_trials=300)
    assert not audit.passed
    games = example_games()
    assert run_audit(games.sound, n_trials=200).passed
    for name, leak in games.leaks.items():
        assert not run_audit(leak, n_trials=200).passed, name


def test_answers_are_audited_by_their_transcript():
    model = PACPrivate(
        KNeighborsClassifier(3), budget=1 / 16, release=Answers(50), secret=Subsets(M)
    )
    audit = run_audit(model.fit(X, y), X, y, queries=X[::10], n_trials=60, strict=True)
    assert {"optimal_membership", "identification"} <= {each.attack for each in audit.results}
    with pytest.raises(ValueError, match="game"):
        run_audit(model, X, y, attacks="lira", queries=X[::5], n_trials=20)
    parameters = PACPrivate(RidgeClassifier(), secret=Subsets(M)).fit(X, y)
    with pytest.raises(TypeError, match="queries"):
        run_audit(parameters, X, y, queries=X[::10], n_trials=20)


def test_an_attack_of_a_plugin_joins_by_what_it_needs(sound):
    class Coin(Attack):
        name, needs, automatic = "coin", ("units", "confidences"), True

        def run(self, game, n_trials, seed):
            return AttackResult(self.name, "nothing", n_trials, 0, 0.5, None)

    register(Coin)
    try:
        assert "coin" in {result.attack for result in run_audit(sound, X, y, n_trials=20).results}
        secrets = example_games().sound
        assert Coin().can_play(secrets) is secrets.offers("confidences") is False
    finally:
        unregister(Coin)


@pytest.mark.soak
def test_a_capped_success_is_the_bound():
    model = PACPrivate(RidgeClassifier(), budget=Membership(0.55), secret=Subsets(M)).fit(X, y)
    audit = run_audit(model, X, y, attacks=["optimal_membership", "identification"], n_trials=300)
    assert audit.results[0].bound <= 0.55
    assert audit.passed


def test_a_session_is_replayed_from_its_ledger():
    with PrivacySession(X, y, budget=1 / 4, secret=Subsets(M)) as session:
        session.release(RidgeClassifier(), budget=1 / 16)
        session.release(GaussianNB(), budget=1 / 8)
        spent = session.ledger.spent
        audit = run_audit(session, X, y, estimator=[RidgeClassifier(), GaussianNB()], n_trials=60)
        assert session.ledger.spent == spent
        assert audit.information == session.guarantee_.information
        assert audit.passed
        with pytest.raises(ValueError, match="event"):
            run_audit(session, X, y, estimator=Ridge())
        with pytest.raises(ValueError, match="estimator"):
            run_audit(session, X, y)


def test_nothing_is_charged_and_the_secret_is_not_read(audited, tmp_path):
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

    ledger = SharedLedger.found(f"sqlite:///{tmp_path / 'clinic.db'}", 8.0)
    model = fitted(ledger=ledger.uri)
    before = ledger.events
    run_audit(model, X, y, attacks="identification", n_trials=20)
    assert ledger.events == before
    assert "secret" not in audited.to_json().replace("naming the secret", "")


@pytest.mark.soak
@pytest.mark.product(only=1)
@pytest.mark.parametrize("scenario", [None, GroupScenario(n_draws=4)])
def test_a_sliced_release_is_replayed(scenario):
    model = SRPPPrivate(Ridge(), budget=1.0, scenario=scenario)
    model.fit(X[:, :3], X[:, 3], secret=y, realized=None if scenario is None else 1)
    audit = run_audit(model, X[:, :3], X[:, 3], secret=y, n_trials=150)
    assert {"identification", "map"} <= {result.attack for result in audit.results}
    assert audit.passed
    with pytest.raises(ValueError, match="fitted"):
        run_audit(model, X[:, :3] + y[:, None], X[:, 3] * y, secret=y, n_trials=10)
    with pytest.raises(NotFittedError, match="call"):
        run_audit(SRPPPrivate(Ridge()), X, y)


def test_a_release_of_one_table_is_replayed_on_the_draws():
    scenario = PrevalenceScenario(
        value=1, shares=(0.2, 0.5), reference=(X[:, :3], X[:, 3], y), n_draws=100, size=len(X[::2])
    )
    model = SRPPPrivate(Ridge(), scenario=scenario).fit(X[::2, :3], X[::2, 3])
    audit = run_audit(model, X[::2, :3], X[::2, 3], n_trials=60)
    assert {"identification", "map"} <= {result.attack for result in audit.results}
    assert audit.passed


def test_what_was_chosen_is_replayed():
    private = AutoPrivateClassifier(Nats(1), families=[GaussianNB()], secret=Subsets(M)).fit(X, y)
    audit = run_audit(private, X, y, attacks=["lira", "identification"], n_trials=50)
    assert audit.passed
    assert "GaussianNB" in str(audit)
    constant = AutoPrivateClassifier(1e-9, families=[GaussianNB()], secret=Subsets(M))
    with pytest.warns(UtilityWarning):
        constant.fit(X, y)
    with pytest.raises(ValueError, match="released a public constant"):
        run_audit(constant, X, y)


def test_groups_are_replayed():
    groups = np.arange(150) // 3
    model = PACPrivate(RidgeClassifier(), secret=Subsets(M, stratify=False)).fit(
        X, y, groups=groups
    )
    audit = run_audit(model, X, y, groups=groups, attacks=["lira", "identification"], n_trials=50)
    assert audit.n_units == 50
    with pytest.raises(ValueError, match="groups"):
        run_audit(model, X, y)
    for unused in ({"secret": y}, {"estimator": Ridge()}):
        with pytest.raises(TypeError, match=f"{next(iter(unused))} does not apply"):
            run_audit(model, X, y, groups=groups, **unused)


def test_a_result_round_trips(audited):
    again = Audit.from_json(audited.to_json())
    assert again == audited
    assert again.results[0].details == audited.results[0].details


@pytest.mark.soak
def test_the_same_seed_gives_the_same_audit(sound, audited):
    assert run_audit(sound, X, y, n_trials=60) == audited
    again, other = (
        run_audit(sound, X, y, attacks="identification", n_trials=40, random_state=seed)
        for seed in (0, 1)
    )
    assert again != other


def test_intervals_cover_together(sound):
    audit = run_audit(sound, X, y, n_trials=50, level=0.9, attacks=ALL)
    assert audit.attack_level == pytest.approx(1 - 0.1 / 15)  # a success and two points each
    low, high = audit.interval(audit.results[0])
    assert (low, high) == audit.results[0].confidence_interval(1 - 0.1 / 15)


def test_curves_start_and_end_in_the_corners(audited):
    attacks = [curve.attack for curve in audited.curves]
    assert {"lira", "optimal_membership"} <= set(attacks)
    for curve in audited.curves:
        assert (curve.false_positive_rate[0], curve.true_positive_rate[0]) == (0, 0)
        assert (curve.false_positive_rate[-1], curve.true_positive_rate[-1]) == (1, 1)
        assert np.all(np.diff(curve.false_positive_rate) >= 0)
        assert np.all(np.diff(curve.true_positive_rate) >= 0)
        assert len(curve.true_positive_rate) <= 201


def test_bad_arguments_are_named(sound):
    with pytest.raises(ValueError, match="about"):
        run_audit(sound, X[:100], y[:100])
    with pytest.raises(ValueError, match="missing"):
        run_audit(sound)
    with pytest.raises(TypeError, match="PrivacySession"):
        run_audit(Ridge(), X, y)
    with pytest.raises(NotFittedError, match="call"):
        run_audit(PACPrivate(Ridge()), X, y)
    with pytest.raises(UnknownNameError, match="'nonsense'"):
        run_audit(sound, X, y, attacks=["nonsense"])
    with pytest.raises(ValueError, match="attack"):
        run_audit(sound, X, y, attacks=[])
    with pytest.raises(TypeError, match="attacks"):
        run_audit(sound, X, y, attacks=5)
    with pytest.raises(TypeError, match="fit_params"):
        run_audit(sound, X, y, fit_params=5)
    with pytest.raises(ValueError, match="level"):
        run_audit(sound, X, y, level=1.0)


def test_an_instance_is_taken_as_it_is(sound):
    audit = run_audit(sound, X, y, attacks=IdentificationAttack(), n_trials=20)
    assert audit.provenance[0].name == "identification"


def test_a_release_that_forgets_its_noise_is_caught(monkeypatch):
    """The audit takes the release's own steps; one that restated them saw nothing."""
    X, y = load_iris(return_X_y=True)
    model = PACPrivate(LinearDiscriminantAnalysis(), secret=Subsets(16), budget=1 / 4).fit(X, y)
    kept = {"attacks": ["identification"], "n_trials": 60}
    assert run_audit(model, X, y, **kept).passed
    monkeypatch.setattr(NoiseLaw, "draw", lambda law, index, _: law.centres[index])
    assert not run_audit(model, X, y, **kept).passed
