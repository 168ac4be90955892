"""Simulated releases against the same computed by hand, and against real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import PACPrivate
from pacsklearn.candidates.candidates import Candidates, Design
from pacsklearn.candidates.models import candidate_models
from pacsklearn.core.noise_law import LATTICE_SCALE
from pacsklearn.core.target import Target
from pacsklearn.estimators.planning import SEED
from pacsklearn.estimators.simulated_releases import (
    SimulatedAnswers,
    SimulatedReleases,
    outside_rows,
)
from pacsklearn.exceptions import SubsetFitError
from pacsklearn.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.responses.answer_kind import LabelKind

LDA = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5)


def prepared(data: Any, budget: float = 1 / 4) -> tuple[Candidates, ParameterPlan]:
    candidates = Candidates.prepare(LDA, *data, Design(n_subsets=16))
    plan = ParameterPlan.of(LDA, lambda: candidates, Target(budget), ReleaseChoices())
    return candidates, plan


def accuracy(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) == y))


def test_rows_outside_are_no_rows_of_the_candidate(cancer: Any) -> None:
    candidates, _ = prepared(cancer)
    few, every = outside_rows(candidates, SEED, 50), outside_rows(candidates, SEED)
    numbered = Candidates(
        LDA, np.arange(len(cancer[1]))[:, None], cancer[1], candidates.space, candidates.options
    )
    for index in range(16):
        rows = outside_rows(numbered, SEED, 50)(index)[0].ravel()
        assert rows.size == 50
        assert not np.isin(rows, candidates.space.rows(index)).any()
        assert np.array_equal(few(index)[0], cancer[0][rows])
        assert len(every(index)[1]) == len(cancer[1]) - candidates.space.rows(index).size


def test_a_simulated_release_is_the_noised_candidate_by_hand(cancer: Any) -> None:
    candidates, plan = prepared(cancer)
    law = plan.calibrate(candidates.space.weights)
    held_out = outside_rows(candidates, SEED)
    simulated = SimulatedReleases(
        plan.outputs, candidates.space, accuracy, held_out, n_releases=4, seed=5
    )
    noise = np.random.default_rng([5, 1])
    for index, found in zip(simulated.candidates, simulated.at(law), strict=True):
        drawn = np.rint(noise.normal(0, LATTICE_SCALE, law.dimension))
        vector = law.origin + ((law.centres[index] + drawn) * law.step) @ law.axes
        assert found == accuracy(plan.outputs.decode(vector), *held_out(index))


@pytest.mark.statistical
def test_simulated_scores_are_those_of_releases(cancer: Any) -> None:
    """Two means of independent releases, on rows they never saw, within four standard errors."""
    half = tuple(part[::2] for part in cancer)
    candidates, plan = prepared(half)
    simulated = SimulatedReleases(
        plan.outputs,
        candidates.space,
        accuracy,
        outside_rows(candidates, SEED),
        n_releases=60,
        seed=0,
    )
    expected = simulated.at(plan.calibrate(candidates.space.weights))
    found = []
    for seed in range(12):
        model = PACPrivate(LDA, budget=1 / 4, n_subsets=16, random_state=seed, certify=False)
        with pytest.warns(UserWarning, match="random_state"):
            model.fit(*half)
        found.append(model.score(cancer[0][1::2], cancer[1][1::2]))
    rows = 2 * 0.05 / 284  # the held-out rows are a sample too
    doubt = 4 * np.sqrt(np.var(found) / 12 + expected.var() / 60 + rows)
    assert abs(np.mean(found) - expected.mean()) < doubt


def test_simulated_answers_are_those_of_a_session(iris: Any) -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    candidates = Candidates.prepare(tree, *iris, Design(n_subsets=16))
    models, kind = candidate_models(candidates), LabelKind(np.arange(3))
    predictions = kind.predictions(models, iris[0])
    sessions: list[Any] = []

    def score(answers: Any, index: int) -> float:
        sessions.append((index, answers.values))
        return float(np.mean(answers.values == iris[1]))

    simulated = SimulatedAnswers(
        tree, predictions, kind, score, candidates.space, n_releases=5, seed=0
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
        plan.outputs,
        candidates.space,
        leaking,
        outside_rows(candidates, SEED),
        n_releases=2,
        seed=0,
    )
    with pytest.raises(SubsetFitError, match="withheld"):
        simulated.at(plan.calibrate(candidates.space.weights))
