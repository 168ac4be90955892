"""How good a student would be, and how much of that no budget buys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, final

import numpy as np
from sklearn.base import is_classifier

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import warn_user
from pacsklearn.estimators.advice import Advice, PlanRequest
from pacsklearn.estimators.joint_labels import JointLabels
from pacsklearn.exceptions import SubsetFitError, UtilityWarning
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.responder import Answers
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.kernel.outputs.run import SubsetRun, attempt
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.function import FunctionPlan
from pacsklearn.tabular.choosing.answers_plan import advice_on_answers
from pacsklearn.tabular.choosing.fit_plan import FitPlan
from pacsklearn.tabular.choosing.judge import LOG_SCORE
from pacsklearn.tabular.choosing.log_score import log_scores, temperatures_of
from pacsklearn.tabular.choosing.planning import NULL_BUDGET, promise_of, promise_of_nats
from pacsklearn.tabular.choosing.simulated_releases import (
    SEED,
    SimulatedAnswers,
    SimulatedJointLabels,
    Simulation,
    outside_rows,
    scorer_for,
    scoring_name,
    some_of,
)
from pacsklearn.tabular.choosing.verdict import Utility, Verdict, public_constant, reference_of
from pacsklearn.tabular.schema.queries import SchemaQueries
from pacsklearn.tabular.students.student import Student
from pacsklearn.tabular.students.student_queries import StudentQueries
from pacsklearn.tabular.students.teaching import learned, rehearse, sure_of
from pacsklearn.universe.row_rules import title_of

_MOST_STUDENTS, _SCORED_ROWS = 8, 500
_HELP = (
    "More queries, queries that are more like the rows, a larger budget or a steadier teacher may "
    "help."
)


def warn_of_poor_student(student: Any, candidates: Candidates) -> None:
    """Warn when a released student is no better than a constant; nothing secret is used.

    The released student is asked, on rows of the whole table.
    """
    if np.ndim(candidates.y) != 1:
        return
    rows = some_of(np.arange(candidates.space.n_rows), _SCORED_ROWS, [SEED, 3])
    X, y = safe_indexing(candidates.X, rows), np.asarray(safe_indexing(candidates.y, rows))
    constant = public_constant(student, candidates.y)
    if constant is None:
        return
    score = _score_of(None, student, y)
    # A student that these rows cannot be asked of was paid for all the same.
    scores = attempt(lambda: (score(student, X, y), score(constant, X, y)), "predict", fits=True)
    if scores.value is not None and scores.value[0] <= scores.value[1]:
        warn_user(
            f"The student {type(student).__name__} is no better than a constant answer on the rows "
            f"of the table. {_HELP} PACPrivate.plan shows the figures (for the curator's eyes).",
            UtilityWarning,
        )


def _score_of(scoring: Any, student: Any, y: Any) -> Callable[[Any, Any, Any], float]:
    """Return score of students: the log-probability of the true classes, or what was asked for."""
    if scoring is None and is_classifier(student):
        return lambda model, X, y: float(log_scores(model, X, y, temperatures_of(model)).max())
    return scorer_for(scoring, student, y)


@final
class _Graded:
    """Scores of simulated students, and why there is none: in words that quote no row."""

    def __init__(
        self, score: Callable[[Answers, int], float], kind: AnswerKind, alpha: float | None
    ) -> None:
        self._score, self._kind, self._alpha = score, kind, alpha
        self.refused: list[ValueError] = []

    def __call__(self, answers: Answers, index: int) -> float:
        try:
            sure_of(answers, self._kind, self._alpha, paid="")
        except ValueError as error:
            self.refused.append(error)
            raise
        return self._score(answers, index)

    def under(self, simulated: Simulation, law: Any) -> tuple[float, ...]:
        """Return the scores under a law; none where too few answers are sure to be learned."""
        before = len(self.refused)
        try:
            return tuple(simulated.at(law).tolist())
        except SubsetFitError:
            if len(self.refused) == before:
                raise
            return ()


class StudentAdvice(Advice):
    """Whether a student will be better than a constant."""

    name = "student"

    def after(self, learned: Mapping[str, Any], candidates: Candidates) -> None:
        """Warn when a released student is no better than a constant."""
        warn_of_poor_student(learned["released_estimator_"], candidates)

    def plan(self, kind: Student, estimator: Any, request: PlanRequest) -> FitPlan:
        """Return the plan of a student; at most eight are simulated, each of which fits one."""
        teacher = kind.answering(estimator)
        candidates = replace(request.candidates, estimator=teacher)
        labels = kind.kind_of(teacher, candidates.y)
        target, scoring = request.target, request.scoring
        queries, chosen = StudentQueries.of(kind.queries), kind.student
        student = estimator if chosen is None else chosen
        space, shares, budget = candidates.space, 0.0, target.budget

        def marginals(source: SchemaQueries) -> Any:
            nonlocal shares
            shares = source.share
            part = Target(shares * budget)
            plan = FunctionPlan.of(source.measured, space, candidates.X, candidates.y, part)
            law = plan.calibrate(opening_belief(space.weights))
            sampler = SeededSampler(np.random.default_rng([SEED, 4]))
            return plan.value(law, law.draw(sampler.index(space.weights), sampler))

        models = candidate_models(candidates)
        rows = queries.rows(candidates.X, marginals)
        if chosen is not None:
            rehearse(lambda *_: chosen, rows, labels)

        held_out, scored = outside_rows(candidates, SEED), _score_of(scoring, student, candidates.y)

        def choose(rows: Any, answers: Any) -> Any:
            # Once: it is nearly always the same, and takes longer than all the rest.
            nonlocal chosen
            if chosen is None:
                chosen = kind.choose(estimator, rows, answers)
            return chosen

        def score(answers: Answers, index: int) -> float:
            fitted, _ = learned(choose, rows, answers, labels, kind.alpha)
            return scored(fitted, *held_out.rows_of(index))

        graded = _Graded(score, labels, kind.alpha)
        answers = attempt(lambda: labels.predictions(models, models.checked(rows)), "predict")
        predictions = SubsetRun(candidates.estimator).value(answers)
        how: dict[str, Any] = {
            "n_releases": min(request.n_releases, _MOST_STUDENTS),
            "seed": SEED,
        }
        simulated: Simulation
        if target.criterion is None:
            answering = SimulatedAnswers(
                candidates.estimator, space, predictions, labels, graded, **how
            )
            simulated, n_contested = answering, answering.n_contested
            laws: list[Any] = [
                nats / max(n_contested, 1) for nats in ((1 - shares) * budget, NULL_BUDGET)
            ]
            promise = promise_of_nats(budget, space)
        else:
            joint = JointLabels.of(labels, predictions)
            simulated = SimulatedJointLabels(teacher, space, joint, graded, **how)
            n_contested, belief = joint.n_contested, opening_belief(space.weights)
            laws = [joint.plan(each).calibrate(belief) for each in (target, Target(NULL_BUDGET))]
            promise = promise_of(laws[0], space, target)
        scores, at_null = (graded.under(simulated, law) for law in laws)
        if not scores:
            raise graded.refused[0]
        n_rows, title = int(rows.shape[0]), f"student of {title_of(estimator)}"
        constant = public_constant(teacher, candidates.y, labels.prior)
        by_log = scoring is None and is_classifier(student)
        verdict = Verdict(
            LOG_SCORE if by_log else scoring_name(scoring, student),
            (Utility(title, scores),),
            reference_of(constant, scored, held_out.rows_of, simulated.candidates),
        )
        poor = f"It is not sure to beat the public constant. {_HELP}"
        return FitPlan(
            estimator=title,
            route="student",
            why=(
                "a teacher answers privately, and a student of the answers is published; queries "
                f"are {queries.words}"
            ),
            promise=promise,
            public=(
                "hyper-parameters",
                "public seeds",
                *(["classes_"] if labels.classes is not None else []),
                "answers on which all candidates agree",
            ),
            n_numbers=n_rows,
            n_noised=n_contested,
            verdict=verdict,
            at_null_budget=Utility(title, at_null) if at_null else None,
            seconds=sum(request.report.wall.values()),
            advice=(
                *([] if verdict.beats_reference else [poor]),
                *advice_on_answers(n_contested / n_rows, labels),
            ),
        )
