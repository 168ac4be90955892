"""``fit`` of a private estimator, and ``plan``: what it would release, before it does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier, is_regressor

from pacsklearn._sklearn_compat import StrOptions, check_parameters, features_of
from pacsklearn._validation import check_budget, check_integer
from pacsklearn.bigdata.sources import workers
from pacsklearn.bigdata.table import Table
from pacsklearn.estimators.private_estimator import PrivateEstimator, warn_of_steps_before
from pacsklearn.estimators.row_fit import (
    MOST_ANSWERS,
    PreparedRows,
    check_student,
    opened_session,
    refuse_ignored,
    route_of,
    table_release,
)
from pacsklearn.estimators.stabilized import stabilized
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.answers.answer_kind import answer_kind
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.candidates import Candidates, Design, FitOptions, subset_seed
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.fit_report import recorded
from pacsklearn.kernel.outputs.subset_fitting import explained
from pacsklearn.kernel.outputs.universe import check_names, check_universe, check_wrapped
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices, public_prior
from pacsklearn.kernel.release.procedure import as_criterion, check_cap
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.sampled.sampled_subsets import sampled_subsets
from pacsklearn.tabular.choosing.answers_plan import plan_answers
from pacsklearn.tabular.choosing.fit_plan import FitPlan, steadier_models
from pacsklearn.tabular.choosing.planning import plan_parameters
from pacsklearn.tabular.choosing.tuning import (
    Choice,
    Option,
    choose,
    listed_options,
    released_scoring,
)
from pacsklearn.tabular.students.student import Lesson, StudentQueries
from pacsklearn.tabular.students.student_plan import plan_student


class PlannedFit(PrivateEstimator):
    """The fit of :class:`PACPrivate`, and plans of it."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "release": [StrOptions({"auto", "parameters", "responses", "student"})],
        "store": [StrOptions({"memory", "ledger"})],
    }
    budget: float
    criterion: Any
    noise: Any
    metric: Any
    canonicalizer: Any
    release: str
    stabilize: Any
    answers: str
    value_range: Any
    prior_mean: Any
    max_answers: int | None
    query_budget: float | None
    subset_seed: Any
    n_jobs: int | None
    verbose: int
    debug: bool
    engine: str | None
    fast_fit: bool
    allow_exact: bool
    tune: Any
    scoring: Any
    secret_space: Any
    student: Any
    queries: Any
    alpha: float | None

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **fit_params: Any) -> Self:
        """Release a private model of the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features), or Table
            The universe. A :class:`~pacsklearn.Table` is read in passes, and names its target and
            groups itself.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs), optional
            Targets.
        groups : array-like of shape (n_rows,), optional
            Unit of privacy: all rows of a group are used together or not at all.
        **fit_params : dict
            Passed to every subset's ``fit`` (``sample_weight``); with metadata routing enabled,
            what the wrapped estimator requested.

        Returns
        -------
        PACPrivate
            Fitted.
        """
        warn_of_steps_before(self)
        with recorded() as report, explained(debug=self.debug) as watched:
            if isinstance(X, Table):
                self._check_parameters()
                learned = table_release(self, X, y, groups, fit_params)
            else:
                budget = check_budget(budget=self.budget)
                with nullcontext() if self.engine is None else workers(self.engine):
                    rows = self._prepared(X, y, groups, fit_params)
                    watched.append(rows.candidates)
                    route, session = route_of(self, rows), opened_session(self, rows, budget)
                    learned = {**rows.features, "_subset_seed": rows.seed}
                    learned |= route(self, session, rows)
        self._learn(learned)
        self.fit_report_ = report
        if self.verbose > 1:
            from rich.console import Console

            Console(stderr=True, highlight=False).print(str(report), markup=False)
        return self

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
            if rows.drawn is not None:
                raise ValueError(
                    "secret_space must be 'listed' for a plan: it simulates releases over a list "
                    "of candidates. With 'sampled' expect somewhat more noise than it says."
                )
            candidates, space = rows.candidates, rows.candidates.space
            criterion = as_criterion(self.criterion, space)
            check_cap(criterion, budget, space, allow_exact=self.allow_exact)
            title = title_of(self.estimator)
            if self.release == "student":
                return self._plan_of_student(rows, report, title, n_releases, scoring)
            if rows.canonicalizer is None:
                return self._plan_of_answers(rows, report, title, n_releases, scoring)
            prior = public_prior(self.estimator, self.prior_mean, self.value_range)
            choices = ReleaseChoices(self.noise, self.metric, self.canonicalizer, prior)
            target = Target(budget, criterion)
            prepare = partial(_planned, candidates=candidates, target=target, choices=choices)
            choice = self._choice(rows, prepare)
            plan = prepare(self.estimator) if choice is None else choice.plan
            # Inside the report: what a fit would calibrate is part of what it takes.
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
                name: partial(_planned, other, candidates, target, ReleaseChoices(prior=prior))
                for name, other in others.items()
            },
        )

    def _lesson(self) -> Lesson:
        queries = StudentQueries.of(self.queries)
        return Lesson(self.student, self.estimator, queries, self.alpha)

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

    def _plan_of_student(
        self, rows: PreparedRows, report: Any, title: str, n_releases: int, scoring: Any
    ) -> FitPlan:
        teacher = stabilized(self.estimator, self.stabilize)
        return plan_student(
            self._lesson(),
            replace(rows.candidates, estimator=teacher),
            answer_kind(
                teacher, rows.candidates.y, self.answers, self.value_range, self.prior_mean
            ),
            report,
            title=f"student of {title}",
            target=Target(float(self.budget), as_criterion(self.criterion, rows.candidates.space)),
            scoring=scoring,
            n_releases=n_releases,
        )

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
            replace(rows.candidates, estimator=estimator),
            answer_kind(
                estimator, rows.candidates.y, self.answers, self.value_range, self.prior_mean
            ),
            report,
            title=title,
            why=(
                "release='responses' was asked for"
                if self.release == "responses"
                else "the model stays here and answers"
                + (f". {reason.why}" if (reason := self._why_answers()) else "")
            ),
            budget=budget,
            step_budget=step,
            n_releases=n_releases,
        )

    def _prepared(self, X: Any, y: Any, groups: Any, fit_params: Any) -> PreparedRows:
        self._check_parameters()
        backend = self.noise
        if not (isinstance(backend, str) and backend == "auto"):
            registry().noise_backend(backend)
        listed = self._options()
        canonicalizer = self._canonicalizer()
        if listed:
            canonicalizer = registry().canonicalizer(self.canonicalizer, listed[0].estimator)
        answering = "student" if self.release == "student" else "responses"
        refuse_ignored(self, answering if canonicalizer is None else "parameters")
        routed = self._routed(fit_params)
        check_names(X)
        # Kept aside so that a failing fit leaves the last one whole.
        features = features_of(X)
        seed = subset_seed(self.subset_seed, self.random_state)
        options = FitOptions(routed, self.n_jobs, self.verbose, self.fast_fit)
        design: Design | SecretSpace = Design.of(self, groups, seed)
        drawn = None
        if sampled_subsets(self.secret_space) is not None:
            X, y, drawn = self._drawn(X, y, Design.of(self, groups, seed), canonicalizer)
            # Two trials, for the checks alone: the secret's own list does not exist.
            design = drawn.trials(0, 2).space
        candidates = Candidates.prepare(self.estimator, X, y, design, options)
        return PreparedRows(candidates, canonicalizer, features, seed, routed, listed, drawn)

    def _drawn(
        self, X: Any, y: Any, design: Design, canonicalizer: Canonicalizer | None
    ) -> tuple[Any, Any, DrawnSubsets]:
        if canonicalizer is None:
            raise ValueError(
                "secret_space='sampled' is for released parameters: answers are calibrated to a "
                f"list of candidates, and {type(self.estimator).__name__} would answer. Use "
                "secret_space='listed', or an estimator whose parameters can be released."
            )
        if self.tune is not None:
            raise ValueError(
                "tune must be None with secret_space='sampled': options are compared by releases "
                "that are simulated over a list of candidates, and there is none."
            )
        X, y = check_universe(self.estimator, X, y)
        classifies = is_classifier(self.estimator)
        return X, y, DrawnSubsets.of(design, X.shape[0], y, classifies=classifies)

    def _check_parameters(self) -> None:
        known = hasattr(self.estimator, "fit") and hasattr(self.estimator, "get_params")
        if isinstance(self.estimator, type) or not known:
            is_class = isinstance(self.estimator, type)
            name = (self.estimator if is_class else type(self.estimator)).__name__
            given = (
                f"the class; give an instance, {name}()"
                if is_class
                else f"an object of type {name}"
            )
            raise TypeError(
                f"estimator must be a scikit-learn estimator, with fit and get_params, got {given}."
            )
        check_wrapped(self.estimator)
        check_parameters(self)
        check_student(self)

    def _canonicalizer(self) -> Canonicalizer | None:
        """Canonicalizer of the wrapped estimator, or None to release responses."""
        if self.release in ("responses", "student"):
            return None
        try:
            return registry().canonicalizer(self.canonicalizer, self.estimator)
        except NoCanonicalizerError as error:
            if not _answers_queries(self.estimator):
                raise
            if self.release == "auto":
                return None
            raise NoCanonicalizerError(
                error.why, f"{error.advice} Or let it answer: release='responses'.".lstrip()
            ) from None

    def _why_answers(self) -> NoCanonicalizerError | None:
        """Why ``release="auto"`` does not release parameters; None where answers were asked for.

        Asked again rather than kept: a plugin may have come since.
        """
        if self.release != "auto":
            return None
        try:
            registry().canonicalizer(self.canonicalizer, self.estimator)
        except NoCanonicalizerError as error:
            return error
        return None


def _answers_queries(estimator: Any) -> bool:
    """Whether private responses can be released: it is a classifier or regressor that predicts."""
    if not (hasattr(estimator, "__sklearn_tags__") and hasattr(estimator, "predict")):
        return False
    return is_classifier(estimator) or is_regressor(estimator)


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
