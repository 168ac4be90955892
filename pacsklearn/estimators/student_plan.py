"""How good a student would be, and how much of that no budget buys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from pacsklearn.candidates.candidates import Candidates
from pacsklearn.candidates.models import candidate_models
from pacsklearn.candidates.outputs import observe
from pacsklearn.candidates.subset_fitting import Stage, attempt, unwrap
from pacsklearn.core.fit_report import FitReport
from pacsklearn.core.target import Target
from pacsklearn.estimators.fit_plan import ExpectedScore, FitPlan
from pacsklearn.estimators.planning import (
    NULL_BUDGET,
    SEED,
    advice_on_answers,
    constant_score,
    promise_of_nats,
)
from pacsklearn.estimators.released_scoring import scoring_name
from pacsklearn.estimators.simulated_releases import SimulatedAnswers, as_number, outside_rows
from pacsklearn.estimators.student import Lesson
from pacsklearn.estimators.teaching import learned
from pacsklearn.noise.sampler import SeededSampler
from pacsklearn.release.function import FunctionPlan
from pacsklearn.release.secret import opening_belief
from pacsklearn.responses.answer_kind import AnswerKind
from pacsklearn.responses.responder import Answers
from pacsklearn.schema.queries import SchemaQueries

__all__ = ["plan_student"]

_MOST_STUDENTS = 8


def plan_student(
    lesson: Lesson,
    candidates: Candidates,
    kind: AnswerKind,
    report: FitReport,
    *,
    title: str,
    budget: float,
    scoring: Any,
    n_releases: int,
) -> FitPlan:
    """Plan of a student of private answers.

    Parameters
    ----------
    lesson : Lesson
    candidates : Candidates
        Of the teacher.
    kind : AnswerKind
    report : FitReport
    title : str
    budget : float
    scoring : None, str or callable
    n_releases : int
        At most eight are simulated: each fits a student.
    """
    queries, chosen = lesson.queries, lesson.student
    student = lesson.teacher if chosen is None else chosen
    space, shares = candidates.space, 0.0

    def marginals(source: SchemaQueries) -> Any:
        nonlocal shares
        shares = source.share
        target = Target(shares * budget)
        plan = FunctionPlan.of(source.measured, space, candidates.X, candidates.y, target)
        law = plan.calibrate(opening_belief(space.weights))
        sampler = SeededSampler(np.random.default_rng([SEED, 4]))
        return plan.value(law.decode(observe(law, sampler.index(space.weights), sampler)))

    models = candidate_models(candidates)
    rows = queries.rows(candidates.X, marginals)

    def ask(stage: Stage) -> Any:
        stage.name = "predict"
        return kind.predictions(models, models.checked(rows))

    held_out = outside_rows(candidates, SEED)
    scorer = check_scoring(student, scoring=scoring)

    def choose(rows: Any, answers: Any) -> Any:
        nonlocal chosen  # once: it is nearly always the same, and takes longer than all the rest
        if chosen is None:
            chosen = lesson.choose(rows, answers)
        return chosen

    def score(answers: Answers, index: int) -> float:
        fitted, _ = learned(choose, rows, answers, kind, lesson.alpha)
        return as_number(scorer(fitted, *held_out(index)))

    simulated = SimulatedAnswers(
        candidates.estimator,
        unwrap(attempt(ask), 0, candidates.estimator),
        kind,
        score,
        space,
        n_releases=min(n_releases, _MOST_STUDENTS),
        seed=SEED,
    )
    contested = max(simulated.n_contested, 1)
    scores = simulated.at((1 - shares) * budget / contested)
    at_null = simulated.at(NULL_BUDGET / contested)
    n_rows = int(rows.shape[0])
    return FitPlan(
        estimator=title,
        route="student",
        why=f"a teacher answers privately, and a student of the answers is published; queries are "
        f"{queries.words}",
        promise=promise_of_nats(budget, space),
        public=("hyper-parameters", "public seeds", "answers on which all candidates agree"),
        n_numbers=n_rows,
        n_noised=simulated.n_contested,
        signal=math.nan,
        noise=math.nan,
        scoring=scoring_name(scoring, student),
        expected=ExpectedScore(title, tuple(scores.tolist())),
        without_noise=math.nan,
        constant=constant_score(student, scorer, held_out, simulated.candidates),
        at_null_budget=ExpectedScore(title, tuple(at_null.tolist())),
        seconds=sum(report.wall.values()),
        advice=tuple(advice_on_answers(simulated.n_contested / n_rows, kind)),
    )
