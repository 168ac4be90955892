"""Release answers of a black box, one by one, until the budget is spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, final

from pacsklearn._sklearn_compat import Interval, StrOptions
from pacsklearn._validation import warn_user
from pacsklearn.estimators.alternatives import options_of
from pacsklearn.estimators.answer_kinds import answer_kind
from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.estimators.release_kind import ReleaseKind
from pacsklearn.estimators.released_parameters import Parameters, answers_queries
from pacsklearn.estimators.response_model import ResponseModel
from pacsklearn.exceptions import AnswersWarning, NoCanonicalizerError
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.priors import Prior

MOST_ANSWERS = 10_000
"""Answers that a budget lasts for when nothing else is said."""


class AnsweringKind(ReleaseKind):
    """What is asked of a black box, which stays here.

    Attributes
    ----------
    of : {"auto", "labels", "probabilities", "values"}
    stabilize : None, bool or int
    """

    of: str = "auto"
    stabilize: Any

    def answering(self, estimator: Any) -> Any:
        """Return what answers: the estimator, or the average of many of them."""
        if self.stabilize is None or self.stabilize is False:
            return estimator
        from pacsklearn.estimators.stabilized import stabilized

        return stabilized(estimator, self.stabilize)

    def kind_of(self, estimator: Any, y: Any) -> AnswerKind:
        """Return which kind answers are: labels, probabilities or values."""
        return kind_of_answers(estimator, y, self.of, self.prior)

    def responder(
        self, fit: OpenFit, query_budget: float | None, max_answers: int | None
    ) -> Responder:
        """Return what answers, with a fit's candidates."""
        answering = self.answering(fit.estimator)
        candidates = fit.candidates(answering)
        return fit.responders.find(
            candidates,
            query_budget=query_budget,
            max_answers=max_answers,
            kind=self.kind_of(answering, candidates.y),
        )


@final
@dataclass(eq=False, repr=False)
class Answers(AnsweringKind):
    """Release private answers, each charged as it is asked for.

    For ``release`` of :class:`PACPrivate`. Rows on which all candidates agree are free and exact.

    Parameters
    ----------
    n : int, optional
        How many answers the budget must last for if all of them are contested. 10,000 when neither
        this nor ``query_budget`` is given.
    query_budget : float, optional
        Instead of ``n``: nats a contested answer may reveal.
    of : {"auto", "labels", "probabilities", "values"}, default="auto"
        Labels of classifiers, on request class probabilities; values of regressors.
    store : {"memory", "ledger"}, default="memory"
        Where answers are stored. "ledger" puts them into the database of the ``ledger``, on disk
        before they are told, and holds only those used last in memory. They serve this fit; one
        that goes on in another process is a :class:`PrivacySession` that is saved.
    stabilize : None, bool or int, default=None
        Answer with the average of so many models on random subspaces of the features (True: 20),
        fitted inside each subset. Candidates then agree on more rows; fitting and predicting cost
        so many times as much. See :class:`StabilizedClassifier` for more options.
    prior : Range or Expected, default=None
        For regressors, which need its range: values are clipped to it, and drawn toward what is
        expected as far as their noise asks for (:mod:`pacsklearn.priors`).

    Examples
    --------
    >>> from pacsklearn import Answers
    >>> Answers(500)
    Answers(n=500)
    """

    n: int | None = None
    _: KW_ONLY
    query_budget: float | None = None
    of: str = "auto"
    store: str = "memory"
    stabilize: bool | int | None = None
    prior: Prior | None = None

    name: ClassVar[str] = "responses"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ReleaseKind._parameter_constraints,
        "n": [Interval(Integral, 1, None, closed="left"), None],
        "store": [StrOptions({"memory", "ledger"})],
    }

    def offered(self, estimator: Any) -> Iterable[str]:
        """List what may be asked: labels or values, and shares of classes on request."""
        return ("predict", "predict_proba")[: 2 if self.of == "probabilities" else 1]

    @property
    def count(self) -> int | None:
        """Answers that the budget must last for, where what one may reveal is not stated."""
        unstated = self.n is None and self.query_budget is None
        return MOST_ANSWERS if unstated else self.n

    def prepare(self, fit: OpenFit) -> Responder:
        """Prepare what will answer, before it is asked."""
        return self.responder(fit, self.query_budget, self.count)

    def take(self, fit: OpenFit, plan: Responder) -> dict[str, Any]:
        """Release nothing: answers are released when they are asked for."""
        answering = ResponseModel(plan, fit.model)
        classes = answering.kind.classes
        return {
            "_answering": answering,
            "released_methods_": answering.kind.methods,
            **({} if classes is None else {"classes_": classes}),
        }


def automatic_release(estimator: Any) -> tuple[ReleaseKind, NoCanonicalizerError | None]:
    """Return what is released where nothing is stated; why it is no model, where it is none."""
    parameters = Parameters()
    try:
        parameters.canonicalizer_of(estimator)
    except NoCanonicalizerError as error:
        if not options_of(estimator).is_choice and answers_queries(estimator):
            return Answers(), error
    return parameters, None


def warn_of_answers(estimator: Any, why: NoCanonicalizerError) -> None:
    """Say that ``release="auto"`` releases answers, and why no model."""
    warn_user(
        f"release='auto' releases private answers of {type(estimator).__name__}, one by one until "
        f"the budget is spent, and no model. {why} Say release=Answers() where answers are meant.",
        AnswersWarning,
    )


def kind_of_answers(estimator: Any, y: Any, of: str, prior: Prior | None) -> AnswerKind:
    """Return what is answered, with what is publicly expected of it."""
    ends, mean = (None, None) if prior is None else (prior.bounds, prior.mean)
    return answer_kind(estimator, y, of, ends, mean)
