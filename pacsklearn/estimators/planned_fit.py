"""``plan``: what a private estimator's fit would release, before it does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.base import is_classifier, is_regressor

from pacsklearn._validation import check_budget, check_integer
from pacsklearn.candidates.candidates import Candidates
from pacsklearn.core.canonicalizer import Canonicalizer
from pacsklearn.core.fit_report import recorded
from pacsklearn.core.target import Target
from pacsklearn.estimators.fit_plan import FitPlan
from pacsklearn.estimators.planning import plan_answers, plan_parameters
from pacsklearn.estimators.stabilized import stabilized
from pacsklearn.estimators.steadier_models import steadier_models
from pacsklearn.estimators.tuning import (
    Choice,
    Option,
    choose,
    listed_options,
    released_scoring,
)
from pacsklearn.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.release.secret import opening_belief
from pacsklearn.release.session_criterion import as_criterion, check_cap
from pacsklearn.responses.answer_kind import answer_kind

__all__ = ["MOST_ANSWERS", "PlannedFit", "PreparedRows", "title_of"]

MOST_ANSWERS = 10_000
"""Answers that a budget lasts for when nothing else is said."""


@final
class PreparedRows(NamedTuple):
    """What a fit and its plan begin with: checked rows, their candidates, and the public seed."""

    candidates: Candidates
    canonicalizer: Canonicalizer | None
    features: dict[str, Any]
    seed: Any
    routed: dict[str, Any]
    options: list[Option]


class PlannedFit(ABC):
    """Plans of :class:`PACPrivate`."""

    estimator: Any
    budget: float
    criterion: Any
    noise: Any
    metric: Any
    canonicalizer: Any
    release: str
    stabilize: Any
    answers: str
    value_range: Any
    max_answers: int | None
    query_budget: float | None
    allow_exact: bool
    tune: Any
    scoring: Any

    @abstractmethod
    def _prepared(self, X: Any, y: Any, groups: Any, fit_params: Any) -> PreparedRows:
        """Check parameters and rows, and draw the candidates."""

    def plan(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        n_releases: int = 32,
        scoring: Any = None,
        alternatives: bool = True,
        **fit_params: Any,
    ) -> FitPlan:
        """Say what ``fit`` would release and how good it would be, for the curator's eyes.

        Releases are simulated over the candidates, with noise of a public seed, and scored on rows
        outside the drawn subset: no row is held out, nothing is charged, and no secret is drawn.

        Parameters
        ----------
        X, y, groups, **fit_params
            As for :meth:`fit`.
        n_releases : int, default=32
            Simulated releases, at least 2.
        scoring : None, str or callable, default=None
            None takes the released model's own ``score``.
        alternatives : bool, default=True
            Also simulate a few steadier models behind the same preprocessing, where parameters of
            a classifier or regressor are released.

        Returns
        -------
        FitPlan
            ``print`` shows it. It is a function of the private rows, covered by no guarantee.

        Notes
        -----
        *Guarantee.* None. A choice made by looking at it is information about the whole table; let
        ``tune`` choose, which states how much.
        """
        check_integer(name="n_releases", value=n_releases, minimum=2)
        with recorded() as report:
            budget = check_budget(budget=self.budget)
            rows = self._prepared(X, y, groups, fit_params)
            candidates, space = rows.candidates, rows.candidates.space
            criterion = as_criterion(self.criterion, space)
            check_cap(criterion, budget, space, allow_exact=self.allow_exact)
            title = title_of(self.estimator)
            if rows.canonicalizer is None:
                return self._plan_of_answers(rows, report, title, n_releases, scoring)
            choices = ReleaseChoices(self.noise, self.metric, self.canonicalizer)
            target = Target(budget, criterion)
            prepare = partial(_planned, candidates=candidates, target=target, choices=choices)
            choice = self._choice(rows, prepare)
            plan = prepare(self.estimator) if choice is None else choice.plan
            plan.calibrate(opening_belief(space.weights))
        chosen = self.estimator if choice is None else choice.option.estimator
        predicts = is_classifier(chosen) or is_regressor(chosen)
        others = steadier_models(chosen) if alternatives and predicts else {}
        if np.ndim(candidates.y) != 1:
            others = {}
        return plan_parameters(
            plan,
            candidates,
            report,
            title=title_of(chosen),
            scoring=scoring,
            n_releases=n_releases,
            leaderboard=() if choice is None else choice.leaderboard,
            alternatives={
                name: partial(_planned, other, candidates, target) for name, other in others.items()
            },
        )

    def _options(self) -> list[Option]:
        """Options of ``tune``, checked before anything is fitted."""
        if self.tune is None:
            if self.scoring is not None:
                raise ValueError(
                    f"scoring={self.scoring!r} is what tune= compares, and nothing is tuned; leave "
                    "it out, or list options."
                )
            return []
        if self.release not in ("auto", "parameters"):
            raise ValueError(
                f"tune chooses among released parameters, got release={self.release!r}: answers "
                "and students hold what all candidates agree on, so choosing by their score would "
                "choose by the whole table without noise. plan() shows their figures."
            )
        return listed_options(self, self.tune)

    def _choice(self, rows: PreparedRows, prepare: Callable[[Any], ParameterPlan]) -> Choice | None:
        if not rows.options:
            return None
        scoring = released_scoring(self.scoring, self.estimator)
        return choose(rows.options, prepare, rows.candidates, scoring)

    def _plan_of_answers(
        self, rows: PreparedRows, report: Any, title: str, n_releases: int, scoring: Any
    ) -> FitPlan:
        if scoring is not None:
            raise ValueError(
                "scoring must be None where answers are released: they are labels or values, "
                f"scored by accuracy or R^2, got {scoring!r}."
            )
        budget = float(self.budget)
        count = MOST_ANSWERS if self.max_answers is None else self.max_answers
        step = budget / count if self.query_budget is None else float(self.query_budget)
        estimator = stabilized(self.estimator, self.stabilize)
        return plan_answers(
            estimator,
            Candidates(
                estimator,
                rows.candidates.X,
                rows.candidates.y,
                rows.candidates.space,
                rows.candidates.options,
            ),
            answer_kind(estimator, rows.candidates.y, self.answers, self.value_range),
            report,
            title=title,
            why=(
                "release='responses' was asked for"
                if self.release == "responses"
                else "no canonicalizer turns this model into numbers, so it stays here and answers"
            ),
            budget=budget,
            step_budget=step,
            n_releases=n_releases,
        )


def _planned(
    estimator: Any,
    candidates: Candidates,
    target: Target,
    choices: ReleaseChoices | None = None,
) -> ParameterPlan:
    def prepare() -> Candidates:
        return Candidates.prepare(
            estimator, candidates.X, candidates.y, candidates.space, candidates.options
        )

    return ParameterPlan.of(estimator, prepare, target, choices or ReleaseChoices())


def title_of(estimator: Any) -> str:
    """Steps of an estimator, for people."""
    steps = [step for _, step in getattr(estimator, "steps", [("", estimator)])]
    return " + ".join(type(step).__name__ for step in steps if step not in (None, "passthrough"))
