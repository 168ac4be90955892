"""Probabilities averaged over the law of the noise, against draws of that law."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import Nats, PACPrivate, Parameters, Subsets, Tuned
from pacsklearn.estimators import AveragedClassifier
from pacsklearn.estimators.averaged import AveragedProbabilities, logistic_normal
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.tabular import AdditiveClassifier, Column, Schema, SchemaEncoder
from pacsklearn.tabular.choosing.log_score import log_and_right, tempered
from pacsklearn.universe.design import Design

DRAWS = 2000
COVARIANCE = "covariance of the noise"
SCHEMA = Schema([Column(name, low=0, high=40) for name in ("c0", "c1")])

pytestmark = [
    pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning"),
    pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.UtilityWarning"),
]


@pytest.mark.product(only=4)
@pytest.mark.parametrize("mean", [-7.0, -0.3, 0.0, 2.0])
@pytest.mark.parametrize("deviation", [0.01, 1.0, 30.0])
def test_the_mean_of_a_logistic_function_is_that_of_quadrature(
    mean: float, deviation: float
) -> None:
    def integrand(z: float) -> float:
        return float(expit(mean + deviation * z) * norm.pdf(z))

    expected = quad(integrand, -12, 12, points=[-mean / deviation], limit=400)[0]
    found = logistic_normal(np.array([mean]), np.array([deviation**2]))
    assert found == pytest.approx(expected, abs=1e-6)


def framed(X: Any) -> pd.DataFrame:
    return pd.DataFrame(np.abs(X[:, :2]), columns=["c0", "c1"])


def planned(model: Any, X: Any, y: Any, budget: float = 1 / 16) -> tuple[ParameterPlan, NoiseLaw]:
    plan = ParameterPlan.of(
        model,
        lambda: Design(32).candidates(model, X, y),
        Target(budget),
        ReleaseChoices(reading=AveragedProbabilities()),
    )
    return plan, plan.calibrate(opening_belief(plan.space.weights))


CASES = {
    "logistic": (LogisticRegression(C=0.1), False),
    "folded": (make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()), False),
    "additive": (AdditiveClassifier(SCHEMA), True),
    "encoded": (make_pipeline(SchemaEncoder(SCHEMA), LogisticRegression(C=0.1)), True),
    "voting": (GaussianNB(), False),
    "monotone": (AdditiveClassifier(SCHEMA, monotone={"c0": 1}), True),
}


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("case", "n_classes"),
    # Monotone curves are of two classes.
    [
        (case, n_classes)
        for case in CASES
        for n_classes in (2, 3)
        if (case, n_classes) != ("monotone", 3)
    ],
)
def test_averages_are_those_of_draws_of_the_law(
    case: str, n_classes: int, cancer: Any, iris: Any
) -> None:
    """Integers by the law's own sampler, added to those that were released, and decoded."""
    model, is_framed = CASES[case]
    X, y = (cancer[0][:, :8], cancer[1]) if n_classes == 2 else iris
    X = framed(X) if is_framed else X
    plan, law = planned(model, X, y)
    observed = law.draw(3, SeededSampler(np.random.default_rng(0)))
    averaged, rows = plan.value(law, observed), X[:20]
    assert averaged.in_closed_form_ == (n_classes == 2 and case not in ("voting", "monotone"))

    vector, noise = law.decode(observed), SeededSampler(np.random.default_rng(1))
    # What says how sure a linear or additive model is comes last, and stays as released.
    kept = slice(0) if case == "voting" else slice(-1, None)
    votes = []
    # Beside the error of 64 copies, that of 400 draws is small.
    for _ in range(DRAWS if averaged.in_closed_form_ else 400):
        moved = law.decode(observed + noise.noise(law.dimension))
        moved[kept] = vector[kept]
        votes.append(plan.outputs.decode(moved).predict_proba(rows))
    errors = np.std(votes, axis=0) / np.sqrt(DRAWS)
    if not averaged.in_closed_form_:
        # 64 copies in opposite pairs have errors of their own.
        errors = np.std(votes, axis=0) / np.sqrt(32)
    found = averaged.predict_proba(rows)
    assert np.all(np.abs(found - np.mean(votes, axis=0)) <= 4.5 * errors + 2e-6)
    assert found.sum(axis=1) == pytest.approx(np.ones(20), abs=2e-6)
    assert np.array_equal(averaged.predict(rows), averaged.classes_[found.argmax(axis=1)])
    assert np.allclose(np.exp(averaged.predict_log_proba(rows)), found)


@pytest.mark.soak
def test_two_classes_keep_their_labels_and_come_out_less_sure(cancer: Any) -> None:
    X, y = cancer
    model = make_pipeline(StandardScaler(), LogisticRegression())

    def released(**how: Any) -> Any:
        private = PACPrivate(
            model, release=Parameters(certify=False, **how), secret=Subsets(32), random_state=0
        )
        return private.fit(X, y)

    plain, averaged = released(), released(average=True)
    assert isinstance(averaged.released_estimator_, AveragedClassifier)
    assert np.array_equal(plain.predict(X), averaged.predict(X))
    sure, honest = (each.predict_proba(X).max(axis=1) for each in (plain, averaged))
    assert np.all(honest <= sure + 1e-6)
    assert np.mean(honest) < np.mean(sure) - 0.004
    assert not hasattr(averaged, "decision_function")
    again = pickle.loads(pickle.dumps(averaged.released_estimator_))
    assert np.array_equal(again.predict_proba(X), averaged.predict_proba(X))
    assert again.n_features_in_ == X.shape[1]


def test_what_is_a_function_of_the_whole_table_is_listed(
    cancer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rule 17: with the integers forced equal, only what is listed tells one table of another."""
    monkeypatch.setattr(NoiseLaw, "draw", lambda law, *_: np.zeros(law.dimension, dtype=np.int64))
    X, y = cancer[0][:, :4], cancer[1]
    facts = {}
    for average in (False, True):
        for rows in (X, X[:, ::-1] + 1):
            release = Parameters(certify=False, average=average)
            private = PACPrivate(LogisticRegression(), release=release, secret=Subsets(32, seed=0))
            guarantee = private.fit(rows, y).guarantee_
            facts.setdefault(average, []).append(guarantee)
    plain, averaged = (facts[average] for average in (False, True))
    (listed,) = set(averaged[0].public) - set(plain[0].public)
    assert COVARIANCE in listed
    assert "whole table" in listed
    assert averaged[0].public == averaged[1].public
    assert averaged[0].spent == plain[0].spent


@pytest.mark.statistical
@pytest.mark.product(only=1)
@pytest.mark.parametrize("copies", [1, pytest.param(2, marks=pytest.mark.soak), 8])
@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), GaussianNB()], ids=str)
def test_at_no_budget_averages_rank_at_chance(copies: int, model: Any, cancer: Any) -> None:
    """Rule 4, on doubled and 8-fold tables too; one sound model in 2000 would fail.

    The copies' seed is public and the same in all releases, so their noise comes in pairs.
    """
    X, y = cancer[0][::3, :6], cancer[1][::3]
    plan, law = planned(model, *(np.repeat(each, copies, axis=0) for each in (X, y)), 1e-9)
    draws = SeededSampler(np.random.default_rng(7))

    # Copies of a row rank alike: one of each says what all of them would.
    def ranks(law: NoiseLaw, index: int) -> float:
        return roc_auc_score(y, plan.value(law, law.draw(index, draws)).predict_proba(X)[:, 1])

    values = np.array([ranks(law, i % 32) for i in range(64)])
    if isinstance(model, LinearDiscriminantAnalysis):
        assert abs(values.mean() - 0.5) <= 3.5 * values.std() / 8
        assert values.std() / 8 < 0.05
        return
    # The shape of the noise may score off chance by itself: beside the same noise around zero.
    empty = np.zeros_like(law.centres)
    object.__setattr__(law, "centres", empty)
    alone = np.array([ranks(law, 0) for _ in range(64)])
    error = np.sqrt(values.var() + alone.var()) / 8
    assert abs(values.mean() - alone.mean()) <= 3.5 * error


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_temperature_is_scored_as_it_is_released(n_classes: int, cancer: Any, iris: Any) -> None:
    X, y = (cancer[0][:, :5], cancer[1]) if n_classes == 2 else iris
    plan, law = planned(LogisticRegression(C=0.1), X, y)
    observed = law.draw(0, SeededSampler(np.random.default_rng(0)))
    scores = log_and_right(plan.value(law, observed), X, y, (4.0, 1.0))
    for place, temperature in enumerate((4.0, 1.0)):
        model = tempered(plan.value(law, observed), temperature)
        proba = model.predict_proba(X)[np.arange(len(y)), y]
        assert scores[place] == pytest.approx(np.log(proba).mean())
    model = tempered(plan.value(law, observed), 4.0)
    assert scores[-1] == model.score(X, y)


@pytest.mark.soak
def test_a_choice_is_made_of_averaged_models(cancer: Any) -> None:
    X, y = cancer[0][:, :12], cancer[1]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = {}
    for average in (False, True):
        private = PACPrivate(
            Tuned(model, {"logisticregression__C": [0.01, 1.0]}),
            release=Parameters(average=average),
            secret=Subsets(16, seed=0),
            random_state=0,
        )
        found[average] = private.fit(X, y)
        (heavy,) = (each for each in found[average].verdict_.options if "1.0" in each.name)
        found[average, "C=1"] = heavy
    assert found[True, "C=1"].mean > found[False, "C=1"].mean
    verdict, released = found[True].verdict_, found[True].released_estimator_
    assert isinstance(released, AveragedClassifier)
    assert verdict.expected.mean > verdict.reference.mean
    assert found[True].plan(X, y).verdict.expected.mean == verdict.expected.mean


def test_models_without_probabilities_are_refused(cancer: Any) -> None:
    with pytest.raises(ValueError, match="average=True"):
        PACPrivate(LinearSVC(), release=Parameters(average=True)).fit(*cancer)
    several = PACPrivate(
        MultiOutputClassifier(LogisticRegression()),
        secret=Subsets(8),
        release=Parameters(average=True),
    )
    X, y = cancer[0][:, :2], cancer[1]
    with pytest.raises(ValueError, match="one target"):
        several.fit(X, np.column_stack([y, 1 - y]))
    with pytest.raises(TypeError, match="released, and not fitted"):
        AveragedClassifier(LogisticRegression()).fit(*cancer)


def test_a_law_without_noise_averages_over_nothing(cancer: Any) -> None:
    X, y = cancer[0][:, :5], cancer[1]
    model = LogisticRegression()
    session = {"secret": Subsets(8, seed=0), "random_state": 0}
    proba = [
        PACPrivate(
            model,
            budget=Nats(3, allow_exact=True),
            release=Parameters(certify=False, average=average),
            **session,
        )
        .fit(X, y)
        .predict_proba(X)
        for average in (False, True)
    ]
    assert np.allclose(*proba, atol=1e-6)


def test_an_averaged_model_knows_its_columns_and_when_it_was_released(cancer: Any) -> None:
    X, y = cancer
    frame = pd.DataFrame(X, columns=[f"column {place}" for place in range(X.shape[1])])
    private = PACPrivate(
        LogisticRegression(C=1e-6), release=Parameters(average=True), secret=Subsets(8)
    )
    model = private.fit(frame, y).released_estimator_
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(NotFittedError):
        clone(model).predict(frame)
