"""How good private answers would be, and what a fit that ends in answers says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import warn_user
from pacsklearn.estimators.advice import Advice, PlanRequest
from pacsklearn.estimators.released_answers import Answers
from pacsklearn.estimators.responders import check_adds, step_of
from pacsklearn.estimators.response_model import answers_score
from pacsklearn.exceptions import SubsetFitError, UtilityWarning
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.responder import Answers as AnsweredRows
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.kernel.outputs.run import SubsetRun, attempt
from pacsklearn.kernel.release.account import Account
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.tabular.choosing.fit_plan import FitPlan
from pacsklearn.tabular.choosing.planning import NULL_BUDGET, promise_of_nats
from pacsklearn.tabular.choosing.simulated_releases import SEED, SimulatedAnswers, some_of
from pacsklearn.tabular.choosing.verdict import Utility, Verdict, public_constant, reference_of
from pacsklearn.universe.row_rules import title_of

_ASKED_ROWS = 512
_QUICK_CANDIDATES, _QUICK_RELEASES, _QUICK_ROWS = 32, 4, 256
_MANY_CONTESTED = 0.15
_AT_RANDOM = "what candidates disagree on is answered almost at random"
_HELP = (
    "Fewer answers (Answers(n)), a larger budget, a steadier model, or release=Student(...), which "
    "learns from what they agree on, may help."
)


class AnswersAdvice(Advice):
    """Whether private answers will be better than a constant."""

    name = "responses"

    def before(self, plan: Responder, candidates: Candidates) -> None:
        """Warn of answers that are expected to be no better than a constant."""
        if np.ndim(candidates.y) != 1:
            return
        kind, estimator = plan.kind, candidates.estimator

        def ask(queries: Any) -> Any:
            return plan.predictions(plan.models.checked(queries), _QUICK_CANDIDATES)

        # Every fit of answers comes through here: some candidates and rows stand for all.
        few = replace(candidates, space=first_subsets(candidates.space, _QUICK_CANDIDATES))
        try:
            simulated, verdict = _judged(
                title_of(estimator),
                few,
                kind,
                ask,
                plan.step_budget,
                most=_QUICK_ROWS,
                n_releases=_QUICK_RELEASES,
            )
        except SubsetFitError:
            # Candidates that cannot answer some rows may answer others; predict says which.
            return
        if verdict.gain <= 0:
            contested = simulated.n_contested / simulated.n_queries
            advice = " ".join([_HELP, *advice_on_answers(contested, kind)])
            warn_user(
                f"Answers of {type(estimator).__name__}, {plan.step_budget:.4g} nats each, are "
                f"expected to be no better than a constant answer: {_AT_RANDOM}. {advice} "
                "PACPrivate.plan shows the figures (for the curator's eyes).",
                UtilityWarning,
            )

    def plan(self, kind: Answers, estimator: Any, request: PlanRequest) -> FitPlan:
        """Return the plan of private answers to rows like those outside the drawn subset."""
        if request.scoring is not None:
            raise ValueError(
                "scoring must be None where answers are released: they are labels or values, "
                f"scored by accuracy or R^2, got {request.scoring!r}."
            )
        budget = request.target.budget
        answering = kind.answering(estimator)
        candidates = replace(request.candidates, estimator=answering)
        labels = kind.kind_of(answering, candidates.y)
        check_adds(request.target.criterion, budget, candidates.space)
        account = Account(MemoryLedger(budget), None)
        step_budget = step_of(account, kind.query_budget, kind.count)
        models = candidate_models(candidates)
        title = title_of(estimator)
        simulated, verdict = _judged(
            title,
            candidates,
            labels,
            lambda queries: labels.predictions(models, models.checked(queries)),
            step_budget,
            most=_ASKED_ROWS,
            n_releases=request.n_releases,
        )
        contested = simulated.n_contested / simulated.n_queries
        poor = f"It is not sure to beat the public constant: {_AT_RANDOM}. {_HELP}"
        return FitPlan(
            estimator=title,
            route="responses",
            why=(
                f"the model stays here and answers. {request.why}"
                if request.why
                else "release=Answers() was asked for"
            ),
            promise=promise_of_nats(budget, candidates.space),
            public=(
                "hyper-parameters",
                "public seeds",
                *(["classes_"] if labels.classes is not None else []),
                "answers on which all candidates agree",
            ),
            n_numbers=simulated.n_queries,
            n_noised=simulated.n_contested,
            verdict=verdict,
            at_null_budget=Utility(
                title, tuple(simulated.at(NULL_BUDGET * step_budget / budget).tolist())
            ),
            seconds=sum(request.report.wall.values()),
            advice=(
                *([] if verdict.beats_reference else [poor]),
                *advice_on_answers(contested, labels),
            ),
        )


def first_subsets(space: SecretSpace, most: int) -> SecretSpace:
    """Return the first candidates, eight or a multiple of eight, as a space of their own."""
    if most >= space.n_subsets:
        return space
    weights = space.weights[:most]
    return replace(
        space,
        packed=space.packed[:, : most // 8],
        n_subsets=most,
        weights=weights / weights.sum(),
    )


def advice_on_answers(contested: float, kind: AnswerKind) -> Iterable[str]:
    """Yield what would help answers of a model on which candidates disagree so often."""
    if contested > _MANY_CONTESTED and kind.answers == "labels":
        yield (
            f"Candidates disagree on {100 * contested:.0f} % of the rows, and each such answer is "
            "paid for. Steadier models disagree on 3 to 13 %: larger leaves, a smaller learning "
            "rate, row sampling, or Answers(stabilize=True)."
        )


def _judged(
    name: str,
    candidates: Candidates,
    kind: AnswerKind,
    ask: Callable[[Any], Any],
    step_budget: float,
    *,
    most: int,
    n_releases: int,
) -> tuple[SimulatedAnswers, Verdict]:
    """Return simulated answers to some rows, and the verdict on so many nats for each.

    They are scored on the rows outside each candidate, beside the public constant's answers.
    """
    space = candidates.space
    rows = some_of(np.arange(space.n_rows), most, [SEED, 3])
    queries, truth = safe_indexing(candidates.X, rows), safe_indexing(candidates.y, rows)

    outcome = attempt(lambda: ask(queries), "predict", fits=True)
    predictions = SubsetRun(candidates.estimator).value(outcome)
    if predictions.dtype.kind == "f":
        # Some regressors say nan far from what they saw; such rows get no answer.
        are_finite = np.isfinite(predictions).reshape(len(rows), -1).all(axis=1)
        rows, predictions = rows[are_finite], predictions[are_finite]
        queries, truth = safe_indexing(queries, are_finite), safe_indexing(truth, are_finite)

    def outside(index: int) -> Any:
        return np.flatnonzero(~np.isin(rows, space.rows(index)))

    def scored(answers: AnsweredRows, index: int) -> float:
        chosen = outside(index)
        predicted = kind.predicted(answers.values[chosen])
        return answers_score(kind, safe_indexing(truth, chosen), predicted)

    def held_out(index: int) -> tuple[Any, Any]:
        return safe_indexing(queries, outside(index)), safe_indexing(truth, outside(index))

    simulated = SimulatedAnswers(
        candidates.estimator, space, predictions, kind, scored, n_releases=n_releases, seed=SEED
    )
    if not all(outside(index).size for index in simulated.candidates):
        raise SubsetFitError(
            f"{type(candidates.estimator).__name__}: some candidate has no row outside its subset "
            "of which every candidate says a finite number, so nothing tells how good answers are."
        )
    reference = reference_of(
        public_constant(candidates.estimator, candidates.y, kind.prior),
        lambda model, X, y: answers_score(kind, y, model.predict(X)),
        held_out,
        simulated.candidates,
    )
    scoring = "R²" if kind.answers == "values" else "accuracy"
    utility = Utility(name, tuple(simulated.at(step_budget).tolist()))
    return simulated, Verdict(scoring, (utility,), reference)
