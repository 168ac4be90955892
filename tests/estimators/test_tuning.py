"""``Tuned``: chosen by released score, priced as information about the whole table."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from pacsklearn import Answers, Guarantee, PACPrivate, Subsets, Tuned
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.tabular.choosing.simulated_releases import SimulatedReleases, outside_rows
from pacsklearn.universe.design import Design

CHAIN = make_pipeline(StandardScaler(), RidgeClassifier())
GRID = {"ridgeclassifier__alpha": [1e-2, 1e3]}
SHRUNK = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.9)


def tuned(
    grid: Any = GRID, estimator: Any = CHAIN, scoring: Any = None, **params: Any
) -> PACPrivate:
    return PACPrivate(Tuned(estimator, grid, scoring), **{"secret": Subsets(16), **params})


@pytest.fixture(scope="module")
def model(cancer: Any) -> PACPrivate:
    return tuned(ledger=MemoryLedger(1.0), budget=1 / 16).fit(*cancer)


def test_the_released_model_is_the_best_on_the_leaderboard(model: PACPrivate) -> None:
    first, second = model.verdict_.options
    assert first.mean > second.mean
    assert first.name == "ridgeclassifier__alpha=1000.0"
    assert model.best_params_ == {"ridgeclassifier__alpha": 1000.0}
    assert model.released_estimator_.alpha == 1000.0
    assert model.estimator.estimator is CHAIN


def test_an_option_far_behind_is_simulated_less_and_listed_last(cancer: Any) -> None:
    options = {"ridgeclassifier__alpha": [1e3, 1e-2, 2e3]}
    board = tuned(options, secret=Subsets(16, seed=0)).fit(*cancer).verdict_.options
    assert [len(score.scores) for score in board] == [32, 32, 8]
    assert board[2].name == "ridgeclassifier__alpha=0.01"
    assert board[2].behind(board[1]) > 3
    # The winner's figure is that of fresh draws: two draws of one law.
    assert set(board[0].scores).isdisjoint(board[1].scores)


def test_a_choice_is_charged_once_and_its_price_is_stated(model: PACPrivate) -> None:
    assert len(model.ledger.events) == 1
    assert model.ledger.spent <= 1 / 16
    words = dict(model.guarantee_.details)["choice"]
    assert f"ln 2 = {math.log(2):.4g} nats about the whole table" in words
    assert any("2 possible outcomes" in text for text in model.guarantee_.not_covered)
    assert Guarantee.from_json(model.guarantee_.to_json()) == model.guarantee_


def test_scores_stay_with_the_curator(model: PACPrivate) -> None:
    kept = pickle.loads(pickle.dumps(copy.copy(model).set_params(ledger=None)))
    assert "verdict_" not in vars(kept)
    assert kept.best_params_ == model.best_params_
    for shown in (repr(model), str(model.guarantee_), model._repr_html_inner()):
        assert f"{model.verdict_.expected.mean:.3f}" not in shown


@pytest.mark.soak
def test_a_released_score_decides_and_not_the_one_without_noise(cancer: Any) -> None:
    options = {"ridgeclassifier__alpha": [1.0, 3e3]}
    without = {
        alpha: PACPrivate(
            make_pipeline(StandardScaler(), RidgeClassifier(alpha)), secret=Subsets(16)
        )
        .plan(*cancer, n_releases=4, scoring="balanced_accuracy", alternatives=False)
        .without_noise
        for alpha in (1.0, 3e3)
    }
    assert without[1.0] > without[3e3]
    assert tuned(options, budget=1 / 64).fit(*cancer).released_estimator_.alpha == 3e3
    assert tuned(options, budget=2.0).fit(*cancer).released_estimator_.alpha == 1.0


def test_the_choice_is_the_same_whichever_candidate_is_the_secret(cancer: Any) -> None:
    found = set()
    for seed in range(2):
        one = tuned(secret=Subsets(16, seed=0), random_state=seed)
        with pytest.warns(UserWarning, match="random_state"):
            one.fit(*cancer)
        found.add(tuple((score.name, score.scores) for score in one.verdict_.options))
    assert len(found) == 1


FAMILIES = [
    RidgeClassifier(),
    make_pipeline(StandardScaler(), LogisticRegression(C=1e-3)),
    make_pipeline(StandardScaler(), SHRUNK),
    GaussianNB(),
    NearestCentroid(),
]


@pytest.mark.product(only=2)
@pytest.mark.statistical
@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: str(getattr(one, "steps", one))[:60])
def test_at_no_budget_every_option_scores_at_chance(family: Any, cancer: Any) -> None:
    """Balanced accuracy at 1e-9 nat within four standard errors of one half."""
    candidates = Design(n_subsets=16).candidates(family, *cancer)
    plan = ParameterPlan.of(family, lambda: candidates, Target(1e-9), ReleaseChoices())
    law = plan.calibrate(candidates.space.weights)

    def gain(estimator: Any, X: Any, y: Any) -> float:
        predicted = estimator.predict(X)
        return float(np.mean([np.mean(predicted[y == one] == one) for one in (0, 1)]) - 0.5)

    scores = SimulatedReleases(
        family,
        candidates.space,
        plan.outputs,
        gain,
        outside_rows(candidates, 0),
        n_releases=100,
        seed=0,
    ).at(law)
    assert law.dimension > 0
    assert abs(scores.mean()) < 4 * max(scores.std(), 0.01) / 10


@pytest.mark.parametrize(
    ("grid", "match"),
    [
        ({"ridgeclassifier__alpha": np.arange(1.0, 66.0)}, "between"),
        ({"budget": [1, 2]}, "budget"),
        ({"alphas": [1, 2]}, "alphas"),
        ({"ridgeclassifier__random_state": [0, 1]}, "list"),
        ({"ridgeclassifier__class_weight": [None, "balanced"]}, "list"),
        ({"ridgeclassifier__alpha": [np.ones(3)]}, "ndarray"),
        (1, "dict"),
    ],
)
def test_what_must_not_be_tuned(grid: Any, match: str, cancer: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=match):
        tuned(grid).fit(*cancer)


@pytest.mark.parametrize(
    ("listed", "match"),
    [
        ([], "none"),
        ([Tuned(RidgeClassifier())], "lists options and cannot be one"),
        ([FunctionTransformer(np.sign), KMeans(2)], "predicts"),
        ([RidgeClassifier(), KMeans(2)], "classifiers"),
        ([RidgeClassifier(random_state=0), RidgeClassifier(random_state=1)], "random_state"),
        ([GaussianNB(), GaussianNB(priors=[0.1, 0.9])], "GaussianNB"),
        ([DummyClassifier(strategy="constant", constant=c) for c in (0, 1)], "DummyClassifier"),
    ],
)
def test_what_must_not_be_chosen_among(listed: Any, match: str, cancer: Any) -> None:
    with pytest.raises((ValueError, TypeError, NoCanonicalizerError), match=match):
        tuned(None, listed).fit(*cancer)


def test_it_is_fitted_inside_a_private_estimator_only(cancer: Any) -> None:
    with pytest.raises(TypeError, match="PACPrivate"):
        Tuned(CHAIN, GRID).fit(*cancer)


def test_answers_are_not_chosen_among(cancer: Any) -> None:
    with pytest.raises(NoCanonicalizerError, match="answers"):
        tuned(None, [RandomForestClassifier(), RidgeClassifier()]).fit(*cancer)
    with pytest.raises(ValueError, match="Tuned"):
        tuned(release=Answers()).fit(*cancer)


@pytest.mark.soak
def test_what_all_candidates_agree_on_is_never_chosen(cancer: Any) -> None:
    blind = make_pipeline(FunctionTransformer(np.zeros_like), RidgeClassifier())
    with pytest.raises(ValueError, match="option"):
        tuned(None, [blind]).fit(*cancer)
    one = tuned(None, [blind, RidgeClassifier(1e4)], "accuracy", budget=1e-6)
    assert isinstance(one.fit(*cancer).released_estimator_, RidgeClassifier)
    first, last = one.verdict_.options
    assert last.mean > first.mean
    assert "whole table" in last.why_not


def test_plans_show_the_leaderboard(cancer: Any) -> None:
    plan = tuned().plan(*cancer, n_releases=2, alternatives=False)
    assert [score.name for score in plan.verdict.options] == [
        "ridgeclassifier__alpha=1000.0",
        "ridgeclassifier__alpha=0.01",
    ]
    assert "ridgeclassifier__alpha=0.01: " in str(plan)


def test_what_works_in_place_is_scored_on_the_rows_as_they_are(cancer: Any) -> None:
    def writing(model: Any, X: Any, y: Any) -> float:
        score = model.score(X, y)
        X[:], y[:] = 0, 0
        return float(score)

    how = {"secret": Subsets(16, seed=0)}
    plain, written = (tuned(scoring=each, **how).fit(*cancer) for each in (None, writing))
    accuracies = [[np.mean(each.right) for each in plain.verdict_.options[1:]]]
    accuracies.append([each.mean for each in written.verdict_.options[1:]])
    np.testing.assert_allclose(*accuracies)
    boards = []
    for is_copied in (True, False):
        chain = make_pipeline(MinMaxScaler(copy=is_copied, clip=True), LogisticRegression())
        options = tuned({"logisticregression__C": [1e-2, 1.0]}, chain, **how).fit(*cancer)
        boards.append([each.scores for each in options.verdict_.options])
    np.testing.assert_array_equal(*boards)
