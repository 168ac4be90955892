"""A table, a budget, perhaps a schema: the best private model of a short list."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pacsklearn._validation import warn_user
from pacsklearn.estimators.alternatives import Prepare
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.estimators.private_estimator import (
    JudgedByBudget,
    unfitted,
)
from pacsklearn.estimators.released_parameters import Parameters
from pacsklearn.estimators.steps_before import warn_of_steps_before
from pacsklearn.estimators.subsets import Subsets
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.nats import as_budget
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.model_digest import mark_released
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.public_prior import PublicPrior
from pacsklearn.kernel.outputs.universe import RowRules
from pacsklearn.kernel.secret.home_process import SubsetSeed
from pacsklearn.priors import Range
from pacsklearn.tabular.choosing.families import (
    classifier_families,
    regressor_families,
    teacher,
    too_dear,
)
from pacsklearn.tabular.choosing.fit_plan import ExpectedScore, FitPlan
from pacsklearn.tabular.choosing.planning import constant_score, expected_score
from pacsklearn.tabular.choosing.simulated_releases import SEED, outside_rows, released_scorer
from pacsklearn.tabular.choosing.tuning import (
    MOST_OPTIONS,
    Choice,
    Tuned,
    released_scoring,
    value_name,
)
from pacsklearn.tabular.schema.queries import SchemaQueries
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.students.student import Student

_CURATORS = frozenset({"leaderboard_"})
_RELEASES_IN_DOUBT = 96
_SHARED = (
    "ledger",
    "random_state",
    "n_jobs",
    "verbose",
)


class _NothingBeatsAConstant(Exception):  # noqa: N818 - it never leaves this module
    """Raised before anything is charged or drawn."""

    def __init__(
        self, candidates: Candidates, choice: Choice, constant: float, constants: tuple[Any, ...]
    ) -> None:
        super().__init__()
        self.candidates, self.choice, self.constant = candidates, choice, constant
        self.constants = constants


@dataclass(eq=False, repr=False)
class _TunedOrConstant(Tuned):
    """Stops where no option is expected to beat a constant."""

    constants: tuple[Any, ...] = ()

    def choose(self, prepare: Prepare, candidates: Candidates) -> Choice:
        choice = super().choose(prepare, candidates)
        choice = replace(choice, outcomes=choice.outcomes + len(self.constants))
        outputs, best = choice.plan.outputs, choice.leaderboard[0]
        scoring = released_scoring(self.scoring, self.template)
        score = released_scorer(scoring, outputs.template, outputs.canonicalizer, candidates.y)
        held_out = outside_rows(candidates, SEED)
        draws = range(min(len(best.scores), choice.plan.space.n_candidates))
        constant = constant_score(outputs.template, score, held_out, draws)
        if abs(best.mean - constant) <= 2 * best.standard_error:
            # Other draws, and more: the best of several looks better than it is by those it won by.
            best = expected_score(
                best.name, choice.plan, candidates, scoring, _RELEASES_IN_DOUBT, seed=SEED + 1
            )
        if best.mean <= constant + 2 * best.standard_error:
            raise _NothingBeatsAConstant(candidates, choice, constant, self.constants)
        return choice


@dataclass(eq=False, repr=False)
class _AutoPrivate(BaseEstimator):
    """What both share."""

    schema: Schema | None = None
    _: KW_ONLY
    budget: float | Budget = 1 / 16
    scoring: Any = None
    families: Any = None
    constant: Any = None
    students: bool = False
    queries: Any = None
    value_range: tuple[float, float] | None = None
    ledger: Any = None
    n_subsets: int = 128
    rate: float = 0.5
    subset_seed: int | SubsetSeed | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    draws_its_own_secret: ClassVar[bool] = True

    @abstractmethod
    def _listed(self, n_features: int) -> list[Any]:
        """Families that are chosen among when none are given."""

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Any:
        """Choose, release, and state what is promised.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        groups : array-like of shape (n_rows,), optional
            Unit of privacy.

        Returns
        -------
        self
        """
        warn_of_steps_before(self, f"{type(self).__name__}(families=[make_pipeline(...)])")
        model = self._model(X, y)
        try:
            model.fit(X, y, groups=groups)
            released, guarantee = model.released_estimator_, model.guarantee_
            leaderboard = getattr(model, "leaderboard_", ())
            best = getattr(model, "best_estimator_", model.estimator)
        except _NothingBeatsAConstant as stop:
            released, guarantee = self._constant(stop, y)
            leaderboard, best = stop.choice.leaderboard, None
            leaderboard = (ExpectedScore("a constant", (stop.constant,)), *leaderboard)
        for name in ("classes_", "feature_names_in_"):
            # The fit before may have had them where this one has none.
            self.__dict__.pop(name, None)
        self.released_estimator_, self.guarantee_ = released, guarantee
        self.best_estimator_ = None if best is None else clone(best)
        self.leaderboard_ = (*leaderboard, *self._left_out(X, y))
        self.n_features_in_ = np.shape(X)[1]
        if is_classifier(self):
            self.classes_ = released.classes_
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array(list(X.columns), dtype=object)
        return self

    def plan(self, X: Any, y: Any, *, groups: Any = None, n_releases: int = 32) -> FitPlan:
        """Say what ``fit`` would release and how good it would be; see :meth:`PACPrivate.plan`.

        It does not say whether a constant would be released instead: compare its score with the
        constant's.
        """
        model = self._model(X, y)
        if isinstance(
            model.estimator, _TunedOrConstant
        ):  # it would stop where a constant is better
            model.estimator = Tuned(model.estimator.estimator, scoring=self.scoring)
        scoring = None if self.students else released_scoring(self.scoring, self)
        return model.plan(
            X, y, groups=groups, n_releases=n_releases, scoring=scoring, alternatives=False
        )

    def predict(self, X: Any) -> Any:
        """Predictions of the released model."""
        check_is_fitted(self)
        return self.released_estimator_.predict(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "released_estimator_")

    def __getstate__(self) -> dict[str, Any]:
        # How options score is for the curator.
        state = {**super().__getstate__(), "families": unfitted(self.families)}
        return {name: value for name, value in state.items() if name not in _CURATORS}

    def _model(self, X: Any, y: Any) -> PACPrivate:
        shared = {name: getattr(self, name) for name in _SHARED}
        shared["budget"] = as_budget(self.budget)
        shared["secret"] = Subsets(self.n_subsets, rate=self.rate, seed=self.subset_seed)
        given = self.value_range
        if self.students:
            queries = self.queries
            if queries is None and self.schema is not None:
                queries = SchemaQueries(self.schema, "private")
            return PACPrivate(
                teacher(self.schema, n_classes=self._n_classes(y) or None),
                release=Student(queries=queries, prior=None if given is None else Range(*given)),
                **shared,
            )
        if self.queries is not None:
            raise ValueError("queries are for students=True; leave them out, or ask for students.")
        listed = [family for family, why_not in self._families(X, y) if not why_not]
        if not listed:
            raise ValueError("families must list at least one estimator, got none.")
        if self.schema is None and self.families is None:
            RowRules.of(listed[0][-1]).check(X)
        options = _TunedOrConstant(
            listed,
            scoring=self.scoring,
            constants=self._constants(y, MOST_OPTIONS - len(listed)),
        )
        expected = self._expected_range()
        prior = None if expected is None else Range(*expected)
        return PACPrivate(options, release=Parameters(prior=prior), **shared)

    def _constants(self, y: Any, room: int) -> tuple[Any, ...]:
        """Constants that could be released, stated before anything is fitted."""
        if self.constant is None and not is_classifier(self):
            return ()
        if room < 1:
            raise ValueError(
                f"families must list at most {MOST_OPTIONS - 1} estimators, got "
                f"{MOST_OPTIONS - room}: a choice made on the whole table tells up to ln(outcomes) "
                "nats about it, and a constant is an outcome too. List fewer."
            )
        if self.constant is not None:
            return (self.constant,)
        classes = tuple(np.unique(np.asarray(y)))
        return classes if len(classes) <= room else classes[:1]

    def _n_classes(self, y: Any) -> int:
        return len(set(np.ravel(y).tolist())) if is_classifier(self) else 0

    def _families(self, X: Any, y: Any) -> list[tuple[Any, str]]:
        """Families to choose among, each with why the table's shape leaves it out, if it does."""
        if self.families is not None:
            return [(family, "") for family in self.families]
        shape = int(np.shape(X)[1]), self._n_classes(y)
        return [(family, too_dear(family, *shape)) for family in self._listed(shape[0])]

    def _left_out(self, X: Any, y: Any) -> tuple[ExpectedScore, ...]:
        listed = [] if self.students else self._families(X, y)
        return tuple(ExpectedScore(value_name(family), (), why) for family, why in listed if why)

    def _expected_range(self) -> tuple[float, float] | None:
        """Public range around the constant, for what regressors are drawn toward it."""
        if is_classifier(self):
            return self.value_range
        prior = PublicPrior.of(self.constant or None, self.value_range)
        if prior is None:
            return None
        middle = prior.mean if self.constant is None else float(self.constant)
        return middle - prior.reach, middle + prior.reach

    def _constant(self, stop: _NothingBeatsAConstant, y: Any) -> tuple[Any, Guarantee]:
        """A constant and its guarantee; nothing is drawn, and nothing charged."""
        candidates = stop.candidates
        answer, dummy = self.constant, None
        if is_classifier(self):
            classes, counts = np.unique(np.asarray(candidates.y), return_counts=True)
            if answer is None:
                # Which class is the most frequent is a choice on the whole table as well: all of
                # them are among the outcomes, or only the first one can be released.
                n_constants = len(stop.constants)
                answer = classes[:n_constants][counts[:n_constants].argmax()]
            dummy = DummyClassifier(strategy="constant", constant=answer)
            dummy.fit(np.zeros((classes.size, 1)), classes)
        else:
            if answer is None:
                raise ValueError(
                    "Nothing on the list is expected to beat a constant under this budget, and a "
                    "regressor's constant must be public: give constant=, a number known "
                    "beforehand, or a larger budget. Nothing was charged."
                )
            dummy = DummyRegressor(strategy="constant", constant=float(answer))
            dummy.fit(np.zeros((1, 1)), [float(answer)])
        shown = answer.item() if isinstance(answer, np.generic) else answer
        warn_user(
            "Nothing on the list is expected to beat a constant under this budget: the constant "
            f"{shown!r} is what is released, and nothing was charged. A larger budget, a public "
            "schema, a cap such as Membership(0.6), or students=True may help.",
            UtilityWarning,
        )
        budget = as_budget(self.budget, warn=False)
        with PrivacySession(
            candidates.X,
            candidates.y,
            secret=candidates.space,
            budget=budget,
        ) as session:
            promised = session.guarantee_
        capped = budget.criterion(candidates.space)
        nothing = 0.0 if capped is None else float(capped.prior(candidates.space.weights).max())
        guarantee = replace(
            promised,
            spent=nothing,
            mutual_information=None if capped is None else 0.0,
            n_releases=1,
            metered=0.0,
            bound="nothing that is released depends on which rows were used",
            released=(),
            public=("a constant answer", "classes_"),
        )
        guarantee = stop.choice.stated(guarantee)
        return mark_released(dummy, guarantee), guarantee


def _offers(method: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(getattr(self, "released_estimator_", None), method)


@final
class AutoPrivateClassifier(JudgedByBudget, ClassifierMixin, _AutoPrivate):
    """Best private classifier of a short list, for one release's price.

    Additive models, linear models of few columns or shrunken ones, and a forest of fixed structure
    are released in simulation; the one that scores best is released. Where none is
    expected to beat a constant, the constant is released, and a warning says so.

    Parameters
    ----------
    schema : Schema, optional
        Public codebook of the table. With it, encoding costs nothing, and text, categories, dates
        and missing values are read; without it the table must be numbers.
    budget : float or Budget, default=1/16
        As for :class:`PACPrivate`: nats of mutual information, or a cap. ``Membership(0.60)`` caps
        the success at telling whether a row was used, which needs far less noise and promises
        nothing else.
    scoring : None, str or callable, default=None
        What is compared; None is Matthews' correlation of true and predicted classes.
    families : list of estimators, optional
        At most 63 estimators in place of the built-in list: the constant is an outcome as well.
    constant : object, optional
        Public class that is released where nothing beats it. None takes the most frequent class:
        every class then counts among the possible outcomes that the guarantee states, or, where
        there are more than 64 in all, only the first class can be released.
    students : bool, default=False
        Release a student instead, of boosted trees or, with a schema and more than two classes, of
        an SVM: what all candidates agree on is in it without noise, and its guarantee says so in
        its title.
    queries : rows, SchemaQueries or callable, optional
        With students: as for :class:`PACPrivate`. Without any, marginals of the schema's columns
        are released privately for a quarter of the budget.
    value_range : None
        For regressors.
    ledger, n_subsets, rate, subset_seed, random_state, n_jobs, verbose
        As for :class:`PACPrivate`.

    Attributes
    ----------
    released_estimator_ : estimator
        Publish it.
    guarantee_ : Guarantee
    best_estimator_ : estimator or None
        What was chosen, unfitted; None for a constant. Public.
    leaderboard_ : tuple of ExpectedScore
        Simulated score of every option, best first, then what the table's shape left out of the
        built-in list, without a score, and why. For the curator: it is in no pickle.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    *Guarantee.* That of one :class:`PACPrivate` release; which option was chosen is a function of
    the whole table, and ``ln(outcomes)`` is stated, the same number whatever was chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pacsklearn import AutoPrivateClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoPrivateClassifier(budget=1 / 4, n_subsets=32).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """

    def _listed(self, n_features: int) -> list[Any]:
        return classifier_families(self.schema, n_features)

    @available_if(_offers("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of the released model."""
        return self.released_estimator_.predict_proba(X)

    @available_if(_offers("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Decision function of the released model."""
        return self.released_estimator_.decision_function(X)


@final
class AutoPrivateRegressor(JudgedByBudget, RegressorMixin, _AutoPrivate):
    """Best private regressor of a short list, for one release's price.

    Parameters
    ----------
    schema : Schema, optional
        Public codebook of the table.
    budget : float or Budget, default=1/16
    scoring : None, str or callable, default=None
        None is R^2.
    families : list of estimators, optional
    constant : float, optional
        Public number that is released where nothing beats a constant; without one such a fit is
        refused, and nothing is charged. Linear and additive models are drawn toward it under much
        noise, as by ``prior_mean`` of :class:`PACPrivate`.
    students : bool, default=False
    queries : rows, SchemaQueries or callable, optional
    value_range : (float, float), optional
        Public range of the targets: of students' answers, and how far models are expected to go
        from the constant (its middle without one). By default, as far as the constant is from zero.
    ledger, n_subsets, rate, subset_seed, random_state, n_jobs, verbose
        As for :class:`PACPrivate`.

    Attributes
    ----------
    released_estimator_, guarantee_, best_estimator_, leaderboard_
        As for :class:`AutoPrivateClassifier`.
    """

    def _listed(self, n_features: int) -> list[Any]:
        return regressor_families(self.schema, n_features)
