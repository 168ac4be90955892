"""Simulated releases against the same computed by hand, and against real ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import PACPrivate, Parameters, Subsets
from pacsklearn.canonical.linear import LinearRegressorCanonicalizer
from pacsklearn.estimators.answer_kinds import LabelKind
from pacsklearn.exceptions import SubsetFitError
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Target
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.tabular import Column, Schema, SchemaEncoder
from pacsklearn.tabular.choosing.privacy_curve import privacy_utility_curve
from pacsklearn.tabular.choosing.simulated_releases import (
    SEED,
    SimulatedAnswers,
    SimulatedReleases,
    outside_rows,
    released_scorer,
)
from pacsklearn.universe.design import Design

LDA = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5)


def prepared(data: Any, budget: float = 1 / 4) -> tuple[Candidates, ParameterPlan]:
    candidates = Design(n_subsets=16).candidates(LDA, *data)
    plan = ParameterPlan.of(LDA, lambda: candidates, Target(budget), ReleaseChoices())
    return candidates, plan


def accuracy(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) == y))


def test_rows_outside_are_no_rows_of_the_candidate(cancer: Any) -> None:
    candidates, _ = prepared(cancer)
    few, every = outside_rows(candidates, SEED, 50), outside_rows(candidates, SEED)
    numbered = replace(candidates, X=np.arange(len(cancer[1]))[:, None])
    for index in range(16):
        rows = outside_rows(numbered, SEED, 50).rows_of(index)[0].ravel()
        assert rows.size == 50
        assert not np.isin(rows, candidates.space.rows(index)).any()
        assert np.array_equal(few.rows_of(index)[0], cancer[0][rows])
        assert len(every.rows_of(index)[1]) == len(cancer[1]) - candidates.space.rows(index).size


def test_a_simulated_release_is_the_noised_candidate_by_hand(cancer: Any) -> None:
    candidates, plan = prepared(cancer)
    law = plan.calibrate(candidates.space.weights)
    held_out = outside_rows(candidates, SEED)
    simulated = SimulatedReleases(
        LDA, candidates.space, plan.outputs, accuracy, held_out, n_releases=4, seed=5
    )
    noise = np.random.default_rng([5, 1])
    for index, found in zip(simulated.candidates, simulated.at(law), strict=True):
        drawn = np.rint(noise.normal(0, LATTICE_SCALE, law.dimension))
        vector = law.origin + ((law.centres[index] + drawn) * law.step) @ law.axes
        assert found == accuracy(plan.outputs.decode(vector), *held_out.rows_of(index))


@pytest.mark.soak
@pytest.mark.statistical
def test_simulated_scores_are_those_of_releases(cancer: Any) -> None:
    """Two means of independent releases, on rows they never saw, within four standard errors."""
    half = tuple(part[::2] for part in cancer)
    candidates, plan = prepared(half)
    simulated = SimulatedReleases(
        LDA,
        candidates.space,
        plan.outputs,
        accuracy,
        outside_rows(candidates, SEED),
        n_releases=60,
        seed=0,
    )
    expected = simulated.at(plan.calibrate(candidates.space.weights))
    found = []
    for seed in range(12):
        model = PACPrivate(
            LDA,
            budget=1 / 4,
            release=Parameters(certify=False),
            secret=Subsets(16),
            random_state=seed,
        )
        with pytest.warns(UserWarning, match="random_state"):
            model.fit(*half)
        found.append(model.score(cancer[0][1::2], cancer[1][1::2]))
    rows = 2 * 0.05 / 284  # the held-out rows are a sample too
    doubt = 4 * np.sqrt(np.var(found) / 12 + expected.var() / 60 + rows)
    assert abs(np.mean(found) - expected.mean()) < doubt


def test_simulated_answers_are_those_of_a_session(iris: Any) -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    candidates = Design(n_subsets=16).candidates(tree, *iris)
    models, kind = candidate_models(candidates), LabelKind(np.arange(3))
    predictions = kind.predictions(models, iris[0])
    sessions: list[Any] = []

    def score(answers: Any, index: int) -> float:
        sessions.append((index, answers.values))
        return float(np.mean(answers.values == iris[1]))

    simulated = SimulatedAnswers(
        tree, candidates.space, predictions, kind, score, n_releases=5, seed=0
    )
    contested = (predictions != predictions[:, :1]).any(axis=1)
    assert simulated.n_contested == contested.sum() > 0
    exact = simulated.at(50.0)
    for index, answers in sessions:
        assert np.array_equal(answers, models.models[index].predict(iris[0]))
    sessions.clear()
    assert simulated.at(1e-12).mean() < exact.mean()
    for _, answers in sessions:
        assert np.array_equal(answers[~contested], predictions[~contested, 0])


def test_what_a_simulation_fails_with_quotes_nothing(cancer: Any) -> None:
    candidates, plan = prepared(cancer)

    def leaking(model: Any, X: Any, y: Any) -> float:
        raise ValueError(f"row {X[0]}")

    simulated = SimulatedReleases(
        LDA,
        candidates.space,
        plan.outputs,
        leaking,
        outside_rows(candidates, SEED),
        n_releases=2,
        seed=0,
    )
    with pytest.raises(SubsetFitError, match="withheld"):
        simulated.at(plan.calibrate(candidates.space.weights))


SMALL = {"secret": Subsets(16), "n_releases": 8}
BUDGETS = [1 / 16, 1.0]


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("scoring", "name"),
    [
        (None, "accuracy"),
        ("balanced_accuracy", "balanced_accuracy"),
        (make_scorer(balanced_accuracy_score), "_Scorer"),
    ],
)
def test_scoring_of_classifiers(iris: Any, scoring: Any, name: str) -> None:
    made = privacy_utility_curve(RidgeClassifier(), *iris, budgets=[100], scoring=scoring, **SMALL)
    assert made.scoring == name
    # The held-out rows are balanced, so both scores agree.
    assert made.all_rows_score == pytest.approx(0.84, abs=0.1)


@pytest.mark.soak
def test_a_search_is_scored_as_the_model_it_releases(iris: Any) -> None:
    search = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 1]}, cv=2, scoring="f1_macro")
    made = privacy_utility_curve(search, *iris, budgets=[100], **SMALL)
    assert made.scoring == "accuracy"
    assert 0.7 < made.all_rows_score <= 1


# scikit-learn 1.7 doubts that whole numbers are a regressor's targets.
@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
def test_regressors_and_clusterers() -> None:
    X, y = load_diabetes(return_X_y=True)
    made = privacy_utility_curve(Ridge(), X, y, budgets=BUDGETS, **SMALL)
    assert made.scoring == "R²"
    assert made.points[0].median < made.noiseless_score
    found = privacy_utility_curve(KMeans(3, n_init=1), X, budgets=[100], **SMALL)
    assert found.scoring == "score"
    assert found.noiseless_score < 0


def test_transformers_are_scored_by_a_callable(iris: Any) -> None:
    X, _ = iris

    def kept(model: Any, X_test: Any, y_test: Any) -> float:
        assert y_test is None
        rebuilt = model.inverse_transform(model.transform(X_test))
        return -float(np.mean((rebuilt - X_test) ** 2))

    made = privacy_utility_curve(PCA(2), X, budgets=BUDGETS, scoring=kept, **SMALL)
    assert made.scoring == "kept"
    low, high = made.points
    assert low.mean < high.mean <= made.noiseless_score + 1e-3


@pytest.mark.parametrize(
    ("estimator", "scoring", "match"),
    [
        (PCA(2), None, "scoring"),
        (PCA(2), "accuracy", "scoring"),
        (StandardScaler(), None, r"scoring=None.*StandardScaler"),
        (KMeans(3), "rand_score", "scoring"),
    ],
)
def test_scores_a_released_model_lacks(iris: Any, estimator: Any, scoring: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        privacy_utility_curve(estimator, iris[0], scoring=scoring, **SMALL)


def test_rows_are_encoded_once_for_every_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the scores are those of releases that encode them again, whatever steps do in place."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"a": draw.uniform(size=200), "b": draw.choice(["x", "y"], 200)})
    target = (frame.a > draw.uniform(size=200)).to_numpy().astype(int)
    schema = Schema((Column("a", low=0, high=1), Column("b", "category", categories=("x", "y"))))
    in_place = FunctionTransformer(lambda rows: np.negative(rows, out=rows))
    model = make_pipeline(SchemaEncoder(schema), in_place, LogisticRegression())
    candidates = Design(n_subsets=16).candidates(model, frame, target)
    plan = ParameterPlan.of(model, lambda: candidates, Target(1.0), ReleaseChoices())
    held_out = outside_rows(candidates, SEED)
    options = {"n_releases": 8, "seed": SEED}
    known = plan.outputs.form.template, candidates.space, plan.outputs, accuracy, held_out
    simulated = SimulatedReleases(*known, **options)
    calls, transform = [], SchemaEncoder.transform

    def counted(encoder: Any, X: Any) -> Any:
        calls.append(len(X))
        return transform(encoder, X)

    law = plan.calibrate(candidates.space.weights)
    monkeypatch.setattr(SchemaEncoder, "transform", counted)
    scores = [simulated.at(law), simulated.at(law), simulated.without_noise()]
    assert len(calls) == len(set(simulated.candidates))
    found = [
        scores[2],
        SimulatedReleases(*known, **options).without_noise(),
    ]
    assert len(calls) == len(set(simulated.candidates))
    by_hand = [
        accuracy(plan.outputs.decode(plan.outputs.vectors[i]), *held_out.rows_of(i))
        for i in simulated.candidates
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(found, [by_hand, by_hand])
    # Another encoder's rows are its own.
    other = SchemaEncoder(schema.with_column("a", high=2)).fit(frame)
    rows = held_out.known(0)[0]
    held_out.encoded.look_up(make_pipeline(other), plan.outputs.form.canonicalizer, rows, rows)
    np.testing.assert_array_equal(other.transform(rows), transform(other, rows))


@pytest.mark.parametrize("model", [Ridge(), DummyRegressor(strategy="constant", constant=20.0)])
@pytest.mark.parametrize("target", ["varied", "of a table", "one value", "two columns"])
def test_a_score_by_its_formula_is_that_of_scikit_learn(model: Any, target: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    if target == "of a table":
        y = pd.Series(y).astype("Int64")
    elif target == "one value":
        y = np.full(len(y), 20.0)
    elif target == "two columns":
        y = np.column_stack([y, X[:, 0]])
        model = Ridge()
    form = LinearRegressorCanonicalizer()
    fitted = clone(model).fit(X, y)
    scorer = released_scorer(None, fitted, form, y)
    assert scorer(fitted, X, y) == pytest.approx(fitted.score(X, y), rel=1e-12)
