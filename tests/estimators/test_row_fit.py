"""Nothing that a user states is ignored: each argument has an effect, or is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from pacsklearn import PACPrivate, PrivacySession, SRPPPrivate
from pacsklearn.exceptions import AnswersWarning, NoCanonicalizerError, ScenarioError
from pacsklearn.srpp import PrevalenceScenario, SliceProfile, Slices

IRIS = load_iris(return_X_y=True)
ABOUT_ANSWERS = {
    "max_answers": 10,
    "query_budget": 1e-3,
    "answers": "labels",
    "stabilize": True,
    "store": "ledger",
}
ABOUT_NUMBERS = {
    "noise": "eigen",
    "metric": None,
    "canonicalizer": "linear_classifier",
}
MODEL, BLACK_BOX = LogisticRegression(), KNeighborsClassifier()


@pytest.mark.parametrize("release", ["auto", "parameters"])
@pytest.mark.parametrize("argument", ABOUT_ANSWERS)
def test_answers_only(argument: str, release: str) -> None:
    model = PACPrivate(MODEL, release=release, **{argument: ABOUT_ANSWERS[argument]})
    ways = "release='responses' as well, or leave" if release == "auto" else "leave"
    with pytest.raises(ValueError, match=rf"^{argument} is about .*would be ignored.*{ways}"):
        model.fit(*IRIS)
    with pytest.raises(ValueError, match=rf"^{argument} is about "):
        model.plan(*IRIS)


@pytest.mark.parametrize("argument", ABOUT_NUMBERS)
def test_numbers_only(argument: str) -> None:
    stated = {argument: ABOUT_NUMBERS[argument]}
    for options in ({"release": "responses"}, {"release": "student", "queries": IRIS[0]}):
        with pytest.raises(ValueError, match=rf"^{argument} is about .* would be ignored"):
            PACPrivate(BLACK_BOX, **options, **stated).fit(*IRIS)


@pytest.mark.parametrize("release", ["auto", "responses"])
@pytest.mark.parametrize("argument", [{"value_range": (0, 1)}, {"prior_mean": 0.5}], ids=str)
def test_regressors_only(argument: dict[str, Any], release: str) -> None:
    estimator = MODEL if release == "auto" else BLACK_BOX
    with pytest.raises(ValueError, match="regressors"):
        PACPrivate(estimator, release=release, **argument).fit(*IRIS)


def test_a_prior_reaches_the_teacher() -> None:
    X, y = load_diabetes(return_X_y=True)

    def student(prior_mean: float) -> Any:
        return PACPrivate(
            KNeighborsRegressor(),
            release="student",
            queries=X[:40],
            student=LinearRegression(),
            value_range=(0, 400),
            prior_mean=prior_mean,
            budget=1e-6,
            n_subsets=8,
            subset_seed=0,
        ).fit(X, y)

    # Under so much noise the answers are the prior.
    assert student(50.0).predict(X).mean() == pytest.approx(50, abs=5)
    assert student(300.0).predict(X).mean() == pytest.approx(300, abs=5)


def test_directions_that_are_given_have_no_seed() -> None:
    profile = SliceProfile.uniform(4, n_slices=5, seed=0)
    for argument in ({"n": 10}, {"seed": 1}):
        with pytest.raises(ValueError, match="ignored"):
            SRPPPrivate(MODEL, slices=Slices(profile=profile, **argument)).fit(*IRIS)
    with pytest.raises(ValueError, match="canonicalizer"):
        SRPPPrivate(lambda X, y: X.mean(), canonicalizer="linear_classifier").fit(*IRIS)
    with pytest.raises(ScenarioError, match="confidence"):
        PrevalenceScenario(confidence=0.9)


def test_auto_says_what_it_chose_and_why() -> None:
    with pytest.warns(AnswersWarning, match="KNeighborsClassifier"):
        answering = PACPrivate(BLACK_BOX, n_subsets=8).fit(*IRIS)
    assert answering.released_as_ == "responses"
    assert "rows it was fitted on" in PACPrivate(BLACK_BOX, n_subsets=8).plan(*IRIS).why
    assert PACPrivate(MODEL, n_subsets=8).fit(*IRIS).released_as_ == "parameters"
    asked = PACPrivate(BLACK_BOX, release="responses", n_subsets=8)
    assert asked.fit(*IRIS).released_as_ == "responses"  # and no warning, which would be an error


def test_no_advice_to_answer_where_nothing_can() -> None:
    forest = IsolationForest()
    for release in ("auto", "parameters", "responses"):
        with pytest.raises((NoCanonicalizerError, ValueError), match="SGDOneClassSVM") as caught:
            PACPrivate(forest, release=release).fit(*IRIS)
        assert "release='responses'" not in str(caught.value)
    with pytest.raises(NoCanonicalizerError, match="release='responses'"):
        PACPrivate(RandomForestClassifier(), release="parameters").fit(*IRIS)
    with pytest.raises(NoCanonicalizerError, match="answers") as caught:
        SRPPPrivate(RandomForestClassifier()).fit(*IRIS)
    assert "release='responses'" not in str(caught.value)
    with (
        PrivacySession(*IRIS, budget=0.1, n_subsets=8) as session,
        pytest.raises(NoCanonicalizerError, match="SGDOneClassSVM"),
    ):
        session.release(forest)


def test_private_models_are_wrapped_once() -> None:
    for wrapper in (PACPrivate, SRPPPrivate):
        with pytest.raises(ValueError, match="estimator"):
            wrapper(PACPrivate(MODEL)).fit(*IRIS)


def test_a_released_model_says_that_there_are_no_answers() -> None:
    model = PACPrivate(MODEL, n_subsets=8).fit(*IRIS)
    for name in ("answers_given_", "remaining_budget_"):
        with pytest.raises(AttributeError, match="about"):
            getattr(model, name)
    assert not hasattr(model, "answers_given_")
    assert np.isfinite(model.predict_proba(IRIS[0])).all()
