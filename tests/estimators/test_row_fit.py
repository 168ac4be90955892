"""Nothing that a user states is ignored: each argument has an effect, or is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from pacsklearn import (
    Answers,
    Membership,
    PACPrivate,
    Parameters,
    PrivacySession,
    SRPPPrivate,
    Student,
    Subsets,
)
from pacsklearn.exceptions import AnswersWarning, BudgetError, NoCanonicalizerError, ScenarioError
from pacsklearn.priors import Expected, Range
from pacsklearn.srpp import PrevalenceScenario, SliceProfile, Slices

IRIS = load_iris(return_X_y=True)
MODEL, BLACK_BOX = LogisticRegression(), KNeighborsClassifier()


@pytest.mark.parametrize(
    "release", [Answers(), Student(queries=IRIS[0])], ids=["answers", "student"]
)
def test_noise_is_for_numbers_only(release: Any) -> None:
    with pytest.raises(ValueError, match=r"^noise is about .* would be ignored"):
        PACPrivate(BLACK_BOX, release=release, noise="eigen").fit(*IRIS)


@pytest.mark.parametrize("kind", [Parameters, Answers])
@pytest.mark.parametrize("prior", [Range(0, 1), Expected(0.5)], ids=repr)
def test_regressors_only(prior: Any, kind: Any) -> None:
    with pytest.raises(ValueError, match="regressors"):
        PACPrivate(MODEL, release=kind(prior=prior)).fit(*IRIS)


@pytest.mark.soak
def test_a_prior_reaches_the_teacher() -> None:
    X, y = load_diabetes(return_X_y=True)

    def student(prior_mean: float) -> Any:
        return PACPrivate(
            KNeighborsRegressor(),
            release=Student(
                student=LinearRegression(),
                queries=X[:40],
                prior=Expected(prior_mean, Range(0, 400)),
            ),
            secret=Subsets(8, seed=0),
            budget=1e-6,
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
        answering = PACPrivate(BLACK_BOX, secret=Subsets(8)).fit(*IRIS)
    assert repr(answering.release_) == "Answers()"
    assert "rows it was fitted on" in PACPrivate(BLACK_BOX, secret=Subsets(8)).plan(*IRIS).why
    assert PACPrivate(MODEL, secret=Subsets(8)).fit(*IRIS).release_.name == "parameters"
    asked = PACPrivate(BLACK_BOX, release=Answers(), secret=Subsets(8))
    assert asked.fit(*IRIS).release_ is asked.release  # and no warning, which would be an error


def test_no_advice_to_answer_where_nothing_can() -> None:
    forest = IsolationForest()
    for release in ("auto", Parameters(), Answers()):
        with pytest.raises((NoCanonicalizerError, ValueError), match="SGDOneClassSVM") as caught:
            PACPrivate(forest, release=release).fit(*IRIS)
        assert "release=Answers()" not in str(caught.value)
    with pytest.raises(NoCanonicalizerError, match=r"release=Answers\(\)"):
        PACPrivate(RandomForestClassifier(), release=Parameters()).fit(*IRIS)
    with pytest.raises(NoCanonicalizerError, match="answers") as caught:
        SRPPPrivate(RandomForestClassifier()).fit(*IRIS)
    assert "release=Answers()" not in str(caught.value)
    with (
        PrivacySession(*IRIS, budget=0.1, secret=Subsets(8)) as session,
        pytest.raises(NoCanonicalizerError, match="SGDOneClassSVM"),
    ):
        session.release(forest)


def test_private_models_are_wrapped_once() -> None:
    for wrapper in (PACPrivate, SRPPPrivate):
        with pytest.raises(ValueError, match="estimator"):
            wrapper(PACPrivate(MODEL)).fit(*IRIS)


def test_a_released_model_says_that_there_are_no_answers() -> None:
    model = PACPrivate(MODEL, secret=Subsets(8)).fit(*IRIS)
    for name in ("answers_given_", "remaining_budget_"):
        with pytest.raises(AttributeError, match="about"):
            getattr(model, name)
    assert not hasattr(model, "answers_given_")
    assert np.isfinite(model.predict_proba(IRIS[0])).all()


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.AnswersWarning")
@pytest.mark.parametrize("release", ["auto", Answers(5)], ids=repr)
def test_under_a_cap_neither_fit_nor_plan_answers(release: Any) -> None:
    model = PACPrivate(BLACK_BOX, Membership(0.6), release=release, secret=Subsets(8))
    for ask in (model.fit, model.plan):
        with pytest.raises(BudgetError, match=r"Nats\(0.02"):
            ask(*IRIS)
