"""A secret drawn from all balanced subsets: hygiene, failures, refusals, statements."""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from pacsklearn import Guarantee, Membership, PACPrivate, PrivacySession, SampledSubsets
from pacsklearn.audit import run_audit
from pacsklearn.exceptions import BudgetExhaustedError, DesignWarning, FunctionError
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.priors import Range
from pacsklearn.sampled import confident, drawn_candidates, trial_support
from pacsklearn.sampled.confident import confident_law
from pacsklearn.sampled.drawn_rows import DrawnRows
from pacsklearn.sampled.trial_outputs import SubsetMap

X, Y = load_iris(return_X_y=True)
FEW = SampledSubsets(n_calibration=20, n_certificate=60)
N_TRIALS = 80


class Nth:
    """A mean of rows that does something else when it is called for the secret."""

    def __init__(self, otherwise):
        self.calls, self.otherwise, self.__name__ = 0, otherwise, "nth"

    def __call__(self, rows, y):
        self.calls += 1
        # One call a trial, and for the first one more at once and one after all: does it change?
        return self.otherwise() if self.calls > N_TRIALS + 2 else rows.mean(axis=0)


def raises():
    raise ValueError("17.5 is a row")


def hangs():
    while True:
        time.sleep(0.01)


def warns():
    warnings.warn("the secret", UserWarning, stacklevel=1)
    sys.stdout.write("the secret\n")
    os.write(2, b"the secret\n")
    return X.mean(axis=0)


@pytest.mark.parametrize(
    ("otherwise", "limit"), [(raises, None), (hangs, 0.2), (lambda: np.zeros((2, 2)), None)]
)
def test_where_the_secret_fails_the_centre_leaves_with_the_same_noise_and_charge(
    otherwise, limit, monkeypatch, capfd
) -> None:
    """An error, a hang or another structure would be a fact about the secret."""
    laws = []

    def spied(*args, **options):
        laws.append(confident_law(*args, **options))
        return laws[-1]

    monkeypatch.setattr(confident, "confident_law", spied)
    sizes = SampledSubsets(20, 60, time_limit=limit)
    with PrivacySession(X, Y, budget=0.5, secret=sizes) as session:
        release = session.release_function(Nth(otherwise))
        assert session.ledger.spent == laws[0].bound == release.event.charge
    law = laws[0]
    away = (release.value - law.span.centre) @ np.linalg.pinv(law.span.axes) / law.step
    # Integers around the centre's own point: discrete Gaussians of 2**20, eight deviations at most.
    assert np.allclose(away, np.rint(away), atol=1e-3)
    assert 0 < np.max(np.abs(away)) < 8 * 2**20
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("first_trial", [0.1, 2.0])
def test_the_secret_has_time_in_proportion_to_the_first_trial(first_trial, monkeypatch) -> None:
    """Twenty times as much, and ten seconds at least: a limit that follows from public fits."""
    limits = []

    def within(limit, work):
        limits.append(limit)
        return work()

    times = iter([5.0, 5.0 + first_trial])
    monkeypatch.setattr(trial_support, "within", within)
    # The module's own clock: that of the process is read by other threads, too.
    clock = SimpleNamespace(perf_counter=lambda: next(times, 100.0))
    monkeypatch.setattr(drawn_candidates, "time", clock)
    with PrivacySession(X, Y, budget=0.5, secret=FEW) as session:
        session.release(GaussianNB())
    assert limits == [pytest.approx(max(10.0, 20 * first_trial))]


def test_what_the_secret_says_by_the_way_is_withheld(capfd) -> None:
    with PrivacySession(X, Y, budget=0.5, secret=FEW) as session:
        session.release_function(Nth(warns))
    assert capfd.readouterr() == ("", "")


def test_a_model_that_fails_on_the_secret_only(monkeypatch) -> None:
    """The same for parameters: nothing is raised, and the model that leaves can be used."""
    vectors = []
    ordinary = SubsetMap.of_subset

    def spied(self, members):
        vectors.append(members)
        if len(vectors) > 2:  # the first measures how long one takes, and is asked again
            raise RuntimeError("17.5 is a row")
        return ordinary(self, members)

    monkeypatch.setattr(SubsetMap, "of_subset", spied)
    model = PACPrivate(GaussianNB(), budget=0.5, secret=FEW).fit(X, Y)
    assert len(vectors) == 3
    assert model.predict(X).shape == (150,)


def test_trials_that_fail_are_told_because_they_are_public() -> None:
    """What fails on some trials is the centre there too: the certificate is about that."""
    bad = 0

    def fails_on_some(rows, y):
        nonlocal bad
        bad += 1
        if 21 < bad <= 31:
            raise ValueError("17.5 is a row")
        return rows.mean(axis=0)

    with (
        PrivacySession(X, Y, budget=0.5, secret=FEW) as session,
        pytest.warns(DesignWarning, match="trial"),
    ):
        session.release_function(fails_on_some)

    def fails_at_once(rows, y):
        raise ValueError("17.5 is a row")

    with (
        PrivacySession(X, Y, budget=0.5, secret=FEW) as session,
        pytest.raises(FunctionError),
    ):
        session.release_function(fails_at_once)


@pytest.mark.product(only=2)
@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        PCA(2),
        KMeans(3, n_init=1),
        make_pipeline(StandardScaler(), FunctionTransformer(np.tanh), GaussianNB()),
    ],
)
def test_models_of_several_families_are_released(estimator) -> None:
    model = PACPrivate(estimator, budget=0.5, secret=FEW).fit(X, Y)
    assert model.released_estimator_ is not None
    assert isinstance(model.guarantee_.secret, DrawnRows)


def test_the_map_gives_for_a_trial_alone_what_it_gives_for_it_among_others() -> None:
    """The secret is fitted alone and trials together: one function of the subset all the same."""
    from pacsklearn.kernel.outputs.candidates import FitOptions
    from pacsklearn.plugins import registry
    from pacsklearn.sampled.drawn_subsets import DrawnSubsets
    from pacsklearn.universe.design import Design

    drawn = DrawnSubsets.of(Design(), FEW, X, Y, classifies=True)
    for estimator in (make_pipeline(StandardScaler(), GaussianNB()), PCA(2), KMeans(3, n_init=1)):
        chosen = registry().canonicalizer("auto", estimator)
        subsets, first = SubsetMap.of(estimator, X, Y, drawn, 10, FitOptions(), chosen)
        among = subsets.of_trials(10, 30)
        for number in (10, 17, 29):
            alone = subsets.of_subset(drawn.trial(number))
            assert np.allclose(alone, among[number - 10], rtol=1e-9, atol=1e-9)
        assert np.allclose(subsets.of_subset(drawn.trial(0)), first[0], rtol=1e-9, atol=1e-9)


def test_several_releases_are_planned_together_and_then_the_session_is_done() -> None:
    ledger = MemoryLedger(1.0)
    with PrivacySession(X, Y, budget=0.5, secret=FEW, ledger=ledger) as session:
        model, mean = session.release_planned(
            [GaussianNB(), lambda rows, y: rows.mean(axis=0)], budgets=[0.25, 0.125]
        )
        assert ledger.spent == session.ledger.spent == pytest.approx(0.375, rel=1e-9)
        assert model.guarantee is mean.guarantee
        assert model.value.pacsklearn_guarantee_ == model.guarantee.to_json()  # it can be published
        assert model.guarantee.n_releases == 2
        assert model.guarantee.confidence == 1 - 1e-6
        for again in (
            lambda: session.release(GaussianNB(), budget=0.01),
            lambda: session.release_function(lambda rows, y: 1.0, budget=0.01),
        ):
            with pytest.raises(RuntimeError, match="planned"):
                again()
        assert session.guarantee_.spent == pytest.approx(0.375)


def test_the_charge_and_the_guarantee_say_what_was_released(monkeypatch) -> None:
    """Event and statement of two planned releases, against the laws that were calibrated."""
    laws, asked = [], []

    def spied(*args, **options):
        asked.append((args, options))
        laws.append(confident_law(*args, **options))
        return laws[-1]

    monkeypatch.setattr(confident, "confident_law", spied)
    sizes = SampledSubsets(20, 60, gamma=1e-3, guard=3.0)
    with PrivacySession(X, Y, budget=0.5, secret=sizes) as session:
        before = session.guarantee_
        session.release_planned(
            [GaussianNB(), lambda rows, y: rows.mean(axis=0)], budgets=[0.25, 0.125]
        )
        (event,) = session.ledger.events
        guarantee = session.guarantee_
    model, mean = laws
    # Each law fails with its share of what is stated.
    for (calibration, certificate, target), options in asked:
        assert (len(calibration), len(certificate)) == (20, 60)
        assert (options["gamma"], options["guard"]) == (1e-3 / 2, 3.0)
        assert target.budget in (0.25, 0.125)
    assert event.charge == event.bound == model.bound + mean.bound
    assert (event.kind, event.unit, event.n_candidates) == ("planned", "nats", 0)
    assert event.n_noisy == model.dimension + mean.dimension == model.dimension + 4
    assert event.n_outputs == sum(args[0].shape[1] for args, _ in asked)
    assert event.confidence == pytest.approx(guarantee.confidence)
    assert guarantee.confidence == 1 - 1e-3
    assert (before.n_releases, guarantee.n_releases) == (0, 2)
    assert (before.spent, guarantee.spent) == (0.5, event.charge)
    assert (before.budget, guarantee.budget, guarantee.noise) == (0.5, 0.5, model.backend)
    details = [text for name, text in guarantee.details if name == "guard and certainty"]
    assert details == [
        "models beyond 3 times the farthest first trial are pulled back; "
        f"{law.enlargement:.4g} times the noise without a certificate"
        for law in laws
    ]
    assert dict(guarantee.details)["trials"] == "20 for the shape, 60 for the size"
    secret = guarantee.secret
    assert (secret.rate, secret.n_rows, secret.n_units, secret.unit) == (0.5, 150, 150, "row")


def test_what_needs_a_list_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="secret must be"):
        PACPrivate(GaussianNB(), secret="poisson").fit(X, Y)
    with pytest.raises(ValueError, match="nats"):
        PACPrivate(GaussianNB(), secret=SampledSubsets(), budget=Membership(0.6)).fit(X, Y)
    with pytest.raises(ValueError, match="noise"):
        PACPrivate(GaussianNB(), secret=SampledSubsets(), noise="residual").fit(X, Y)
    with pytest.raises(ValueError, match="parameters"):
        PACPrivate(KNeighborsClassifier(), secret=SampledSubsets()).fit(X, Y)
    model = PACPrivate(GaussianNB(), secret=FEW).fit(X, Y)
    with pytest.raises(ValueError, match="Subsets"):
        run_audit(model, X, Y)
    with pytest.raises(ValueError, match="plan"):
        model.plan(X, Y)
    with PrivacySession(X, Y, budget=0.5, secret=FEW) as session:
        for refused in (
            lambda: session.responder(GaussianNB()),
            lambda: session.save(tmp_path / "s"),
            session.curator_figure,
            lambda: session.release(GaussianNB(), individual=True),
        ):
            with pytest.raises(ValueError, match="SampledSubsets"):
                refused()
        with pytest.raises(BudgetExhaustedError):
            session.release(GaussianNB(), budget=0.6)
        assert session.ledger.spent == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_calibration": 1},
        {"n_certificate": 0},
        {"gamma": 0.0},
        {"gamma": True},
        {"guard": 0.5},
        {"time_limit": -1.0},
    ],
)
def test_sizes_are_checked(wrong) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        _ = SampledSubsets(**wrong).sizes


def test_the_guarantee_says_what_is_hidden_and_round_trips() -> None:
    model = PACPrivate(GaussianNB(), budget=1 / 16, secret=FEW).fit(X, Y)
    guarantee = model.guarantee_
    assert Guarantee.from_json(guarantee.to_json()) == guarantee
    assert guarantee.status.kind == "proved at a confidence"
    assert guarantee.knowing(7).blind < 0.54  # on a list of 128 it is about .84
    assert guarantee.secret.n_candidates is None
    assert guarantee.certified_membership is None
    assert guarantee.posterior_membership == pytest.approx(0.6749, abs=1e-4)
    text = " ".join(str(guarantee).split())
    assert "there is no list of candidates" in text
    assert "computed on a list of candidates, and there is none" in text
    assert clone(model).secret == FEW


def test_reproducible_where_asked_for_and_the_law_is_the_same_whatever_the_secret() -> None:
    """Rule 10: charge, confidence and noise power are functions of the trials alone."""
    figures = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in (0, 0, 1, 2):
            session = PrivacySession(
                X, Y, budget=0.5, secret=replace(FEW, seed=0), random_state=seed
            )
            release = session.release(GaussianNB())
            figures.add((release.event.charge, release.noise_power, release.guarantee.to_json()))
    assert len(figures) == 1


def test_the_secret_is_stated_with_its_entropy_and_its_likeliest_value() -> None:
    # 14 of 47, or 15 with probability .1; 15 of 50 twice: subsets are not equally likely.
    with PrivacySession(X[3:], Y[3:], secret=replace(FEW, rate=0.3), budget=0.5) as session:
        release = session.release_function(lambda rows, y: rows.mean(axis=0))
    stated = release.guarantee.secret
    twice = 2 * math.log(math.comb(50, 15))
    usual, rare = (math.log(math.comb(47, k)) for k in (14, 15))
    entropy = 0.9 * (usual - math.log(0.9)) + 0.1 * (rare - math.log(0.1)) + twice
    assert stated.entropy == pytest.approx(entropy, rel=1e-9)
    least = min(usual - math.log(0.9), rare - math.log(0.1)) + twice
    assert stated.least_log == pytest.approx(least, rel=1e-9)


def test_a_drawn_secret_is_prepared_taken_and_read_like_any_other() -> None:
    """A plan is taken once, and a regressor is drawn toward a public prior by its law alone."""
    targets = X[:, 3] * 10 + 20
    with PrivacySession(X[:, :3], targets, budget=0.02, secret=FEW) as session:
        plan = session.prepare(Ridge(), prior=Range(15, 50))
        release = session.take(plan)
        assert session.ledger.spent == release.event.charge <= 0.02
        assert (release.event.kind, release.event.backend) == ("parameters", "confident")
        with pytest.raises(RuntimeError, match="planned"):
            session.take(plan)
    law = plan.calibrate(np.ones(1))
    zero = np.zeros(law.dimension, dtype=np.int64)
    read, raw = plan.reading.drawn(law, law.decode(zero)), law.decode(zero)
    assert np.linalg.norm(read[:-1]) < np.linalg.norm(raw[:-1])  # toward a constant, no slopes
    assert plan.reading.noise_variances(law).sum() < law.noise_variances.sum()
