"""Release answers of a black box, one by one, until the budget is spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pacsklearn._validation import warn_user
from pacsklearn.estimators.answer_request import answer_kind
from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.estimators.release_kind import ReleaseKind, about
from pacsklearn.estimators.response_model import ResponseModel
from pacsklearn.estimators.stabilized import stabilized
from pacsklearn.exceptions import AnswersWarning, NoCanonicalizerError
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.responder import Responder

MOST_ANSWERS = 10_000
"""Answers that a budget lasts for when nothing else is said."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnsweringKind(ReleaseKind):
    """What is asked of a black box, which stays here.

    Parameters
    ----------
    answers, stabilize, value_range, prior_mean
        As for :class:`~pacsklearn.PACPrivate`.
    """

    answers: str = field(default="auto", metadata=about("what is answered"))
    stabilize: Any = field(default=None, metadata=about("private answers"))

    def answering(self, estimator: Any) -> Any:
        """What answers: the estimator, or the average of many of them."""
        return stabilized(estimator, self.stabilize)

    def kind_of(self, estimator: Any, y: Any) -> AnswerKind:
        """Labels, probabilities or values."""
        return answer_kind(estimator, y, self.answers, self.value_range, self.prior_mean)

    def responder(
        self, fit: OpenFit, query_budget: float | None, max_answers: int | None
    ) -> Responder:
        """What answers, with a fit's candidates."""
        answering = self.answering(fit.estimator)
        candidates = fit.candidates(answering)
        return fit.responders.find(
            candidates,
            query_budget=query_budget,
            max_answers=max_answers,
            kind=self.kind_of(answering, candidates.y),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers(AnsweringKind):
    """Private answers, each charged as it is asked for.

    Parameters
    ----------
    max_answers, query_budget, store, answers, stabilize, value_range, prior_mean
        As for :class:`~pacsklearn.PACPrivate`.
    why : NoCanonicalizerError, optional
        Why "auto" releases no parameters; None where answers were asked for.
    """

    name: ClassVar[str] = "responses"
    released_as: ClassVar[str] = "responses"
    noun: ClassVar[str] = "answers"
    spelling: ClassVar[str] = "release='responses'"

    max_answers: int | None = field(
        default=None, metadata=about("how many private answers the budget must last for")
    )
    query_budget: float | None = field(
        default=None, metadata=about("what one private answer may reveal")
    )
    store: str = field(default="memory", metadata=about("where private answers are stored"))
    why: NoCanonicalizerError | None = None

    def offered(self, estimator: Any) -> Iterable[str]:
        """Labels or values, and shares of classes on request."""
        del estimator
        return ("predict", "predict_proba")[: 2 if self.answers == "probabilities" else 1]

    @property
    def count(self) -> int | None:
        """Answers that the budget must last for, where what one may reveal is not stated."""
        unstated = self.max_answers is None and self.query_budget is None
        return MOST_ANSWERS if unstated else self.max_answers

    def step_budget(self, budget: float) -> float:
        """Nats that a contested answer may reveal."""
        if self.query_budget is not None:
            return float(self.query_budget)
        assert self.count is not None
        return budget / self.count

    def prepare(self, fit: OpenFit) -> Responder:
        """What will answer, before it is asked."""
        if self.why is not None:
            warn_user(
                f"release='auto' releases private answers of {type(fit.estimator).__name__}, one "
                f"by one until the budget is spent, and no model. {self.why} Say "
                "release='responses' where answers are meant.",
                AnswersWarning,
            )
        return self.responder(fit, self.query_budget, self.count)

    def take(self, model: Any, fit: OpenFit, plan: Responder) -> dict[str, Any]:
        """Nothing is released before it is asked for."""
        del fit
        answering = ResponseModel(plan, model)
        classes = answering.kind.classes
        return {
            "_answering": answering,
            "released_as_": self.released_as,
            "released_methods_": answering.kind.methods,
            **({} if classes is None else {"classes_": classes}),
        }
