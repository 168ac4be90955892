"""Any estimator made private: wrap it, state a budget, call fit."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils import Tags

from pacsklearn._sklearn_compat import StrOptions, check_parameters
from pacsklearn._validation import check_integer
from pacsklearn.estimators.advice import PlanRequest, advice_on
from pacsklearn.estimators.failed_fit import explained
from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.estimators.prepared_rows import PreparedRows, opening_of
from pacsklearn.estimators.private_estimator import (
    PrivateEstimator,
    unfitted,
)
from pacsklearn.estimators.release_kind import ReleaseKind
from pacsklearn.estimators.released_answers import Answers
from pacsklearn.estimators.released_parameters import Parameters, answers_queries
from pacsklearn.estimators.steps_before import warn_of_steps_before
from pacsklearn.estimators.table_release import table_release
from pacsklearn.exceptions import NoCanonicalizerError, UnknownNameError
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.answers.statement import CostPreview
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.nats import as_budget
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.fit_report import recorded
from pacsklearn.kernel.outputs.universe import check_is_estimator, check_wrapped
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.secret.home_process import SubsetSeed
from pacsklearn.sampled.sampled_subsets import LISTED, SampledSubsets

if TYPE_CHECKING:
    from pacsklearn.tabular.choosing.fit_plan import FitPlan

_CURATORS = frozenset({"fit_report_", "leaderboard_"})


@dataclass(eq=False, repr=False)
class PACPrivate(PrivateEstimator):
    """PAC-private version of an estimator: what leaves it is noised numbers or noised answers.

    ``fit`` fits a clone on each of ``n_subsets`` candidate subsets of the rows. If a canonicalizer
    knows the estimator, the fitted models are brought into a canonical form, and the parameters of
    one secretly drawn candidate are released with exactly as much noise as the budget demands.
    Any other classifier or regressor stays a black box: its *answers* are released privately, one
    by one, until the budget is spent.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor, clusterer or transformer. Preprocessing and searches belong inside
        it (a pipeline, ``GridSearchCV``), so that they too see the rows of one subset only.
    budget : float or Budget, default=1/16
        What everything released may reveal about which rows were used. A number is in nats of
        mutual information, as is :class:`Nats`: it bounds every attack. :class:`Membership` (such
        as ``Membership(0.60)``: telling whether any one row was used),
        :class:`Identification`, :class:`KOfN` and :class:`Success` cap what the best adversary
        achieves instead: far less noise for the same promise, and no other one. What hides
        nothing (from ``ln(n_subsets)`` nats on no noise is needed) takes consent:
        ``Nats(10, allow_exact=True)``.
    noise : str or NoiseBackend, default="auto"
        ``"isotropic"``, ``"diagonal"``, ``"eigen"``, ``"logdet"``, the name of a plugin
        (``"residual"``) or an instance. "auto" is ``"logdet"``, and ``"criterion"`` under a cap.
    metric : "auto", None, array-like or Metric, default="auto"
        What noise costs in each direction of the released vector. "auto" asks the canonicalizer
        (for linear models: the expected change of the decision); None counts every number the
        same; a vector or a matrix weighs them.
    canonicalizer : "auto", str or Canonicalizer, default="auto"
        How a fitted model becomes a vector.
    release : {"auto", "parameters", "responses", "student"}, default="auto"
        What is released; "auto" releases parameters where a canonicalizer supports the estimator
        and answers of other classifiers and regressors. ``"student"`` has the estimator answer
        ``queries`` privately and releases a student fitted on the answers: what all candidates
        agree on is in it without noise, and the guarantee says so in its title.
    student : estimator, optional
        What learns the answers. None chooses a linear model, a smooth one, trees with small leaves
        or a clone of ``estimator``: what agrees best with released answers it has not seen.
    queries : rows, Schema, SchemaQueries or callable, optional
        What the teacher is asked: public rows, and where those are fewer than 2,000 others crossed
        from pairs of them (``lambda generator: rows`` asks no others); a public :class:`Schema`,
        to draw from its ranges and categories; :class:`SchemaQueries`, with public marginals or
        ones released for a part of the budget; or a function of a NumPy generator.
    alpha : float, optional
        With a student: learn only answers that are the true model's with confidence
        ``1 - alpha``; None learns all, which nothing beat: over nine tables (two splits, 1/64 and
        1/4 nat) 0.1 changes AUC by -.0005 +- .0033 (boosted student) and -.0001 +- .0016
        (logistic), 0.01 by -.012 +- .009 and -.010 +- .007.
    max_answers : int, optional
        With responses: how many answers the budget must last for if all of them are contested
        (answers on which all candidates agree are free). 10,000 when neither this nor
        ``query_budget`` is given.
    query_budget : float, optional
        Instead of ``max_answers``: nats a contested answer may reveal.
    answers : {"auto", "labels", "probabilities", "values"}, default="auto"
        With responses: labels of classifiers, on request class probabilities; values of
        regressors.
    value_range : (float, float), optional
        For regressors: public range of the targets, stated without looking at them. Answers are
        clipped to it, and need it. Released models and answers are drawn toward its middle, or
        toward ``prior_mean``, as far as their noise asks for; without either a regressor under
        much noise is worse than any constant.
    prior_mean : float, optional
        For regressors: what is publicly expected of the targets. Without ``value_range`` they are
        taken to lie between zero and twice as much.
    stabilize : None, bool or int, default=None
        With responses: answer with the average of so many models on random subspaces of the
        features (True: 20), fitted inside each subset. Candidates then agree on more rows, and
        those are free and exact; fitting and predicting cost so many times as much. See
        :class:`StabilizedClassifier` for more options.
    tune : None, dict or list of dict, default=None
        At most 64 options to choose among, as a parameter grid of this estimator:
        ``{"estimator__C": [1e-4, 1e-2, 1]}``, or ``{"estimator": [one, another]}``. The option
        whose simulated releases score best is released, for the price of one release. The choice
        is a function of the whole table, like the metric: the guarantee states ``ln(outcomes)``.
        Seeds, starting points, priors, constants and thresholds are never tuned, nor are answers.
    scoring : None, str or callable, default=None
        What ``tune`` compares: None is Matthews' correlation for classifiers, ``score`` for others.
    ledger : None, str or Ledger, default=None
        A further account to charge, shared across fits and processes: ``"sqlite:///clinic.db"``.
    store : {"memory", "ledger"}, default="memory"
        With responses: where answers are stored. "ledger" puts them into the database of
        ``ledger``, on disk before they are told, and holds only those used last in memory. They
        serve this fit; one that goes on in another process is a :class:`PrivacySession` that is
        saved.
    n_subsets : int, default=128
        Number of candidate subsets; guessing the secret blindly succeeds with ``1/n_subsets``.
    rate : float, default=0.5
        Share of the candidate subsets each row is in; ``rate * n_subsets`` must be whole.
    stratify : "auto" or bool, default="auto"
        Give every subset the same share of each class; "auto" does so for classifiers.
    subset_seed : None, int or SubsetSeed, default=None
        None draws the subsets in secret. An integer makes them public and the same every time: who
        then knows whether about seven rows were used can look all others up without any release.
        Every figure is that of an adversary who knows the subsets; see :class:`SubsetSeed`.
    random_state : None, int or RandomState, default=None
        None draws the secret and the noise from the operating system's generator. Anything else
        makes them reproducible for tests: it warns, and the guarantee says "not for release".
    n_jobs : int, optional
        Workers fitting the candidates; any joblib backend.
    verbose : int, default=0
        1 shows joblib's progress, 2 also ``fit_report_``.
    fast_fit : bool, default=True
        Fit all candidates at once where that gives the same models, to solver tolerance (least
        squares, ridge, logistic regression, linear support vector machines with a squared loss,
        Poisson and gamma regression, lasso, elastic net, K-Means, linear discriminants, PCA,
        Gaussian naive Bayes, nearest centroids, standardisation and pipelines of these). False
        fits one after the other.
    certify : bool, default=True
        With a released model: state in ``guarantee_`` what the optimal adversary achieves at the
        worst row under this very noise, at confidence 1 - 1e-6, beside what the information
        implies; usually a fraction of a second.
    debug : bool, default=False
        When a candidate cannot be fitted, fit it once more in a separate process, which can
        release nothing, and write its error in full to standard error. The words may quote rows:
        for the curator's terminal, never for a service.
    secret_space : {"listed", "sampled", "sampled-large"} or SampledSubsets, default="listed"
        "sampled" draws the secret afresh from *all* balanced subsets and sizes the noise on trial
        subsets: somebody who knows some rows' memberships learns nothing about the others'. It
        costs more fits and more noise, holds at a stated confidence, and is for released
        parameters; ``n_subsets`` is not used. See :class:`SampledSubsets`.

    Attributes
    ----------
    released_estimator_ : estimator
        A plain fitted scikit-learn estimator that holds only private numbers: publish it.
    guarantee_ : Guarantee
        What is promised about it, in numbers and in words.
    released_as_ : {"parameters", "responses", "student"}
        What was released. Where ``release="auto"`` chose responses, a warning says why.
    released_methods_ : tuple of str
        What can be asked of what was released.
    fit_report_ : FitReport
        Where the time of ``fit`` went: design, fits, canonical form, calibration, certificate.
        For the curator; it is not part of what is released.
    answers_given_ : int
        With responses: rows answered so far, stored answers included.
    remaining_budget_ : float
        With responses: nats that may still be charged.
    noise_variances_ : ndarray of shape (n_outputs,)
        With parameters: variance of the noise in each number of the canonical vector, a function
        of the noise law. :class:`AdditiveTermsDisplay` draws it.
    classes_ : ndarray of shape (n_classes,)
        Public class labels, for classifiers.
    best_params_ : dict
        With ``tune``: the chosen option. Public.
    leaderboard_ : tuple of ExpectedScore
        With ``tune``: every option's simulated score, best first. For the curator: it is in no
        pickle.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when ``X`` had string column names.

    Raises
    ------
    BudgetError, DesignError, NoCanonicalizerError, StructureMismatchError, GaugeError, \
SubsetFitError, NonDeterministicError
        From ``fit``; see :mod:`pacsklearn.exceptions`. None quotes a data value.

    Notes
    -----
    *Guarantee.* The mutual information between the drawn candidate and everything in the released
    model is at most ``budget``; ``guarantee_`` turns that into bounds on any adversary's success.
    It covers one call of ``fit``. Every fit draws its own secret: several fits on the same rows
    (a grid search!) reveal more together than one, and are meant for the curator's eyes.

    *Edge cases.* Numbers on which all candidates agree are released as they are: they tell
    nothing about which rows were used.

    Sources: pac-private-algorithms (template, canonical forms, diagonal noise), residual-pac
    (log-determinant bound), pac-private-responses (balanced secret space).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from pacsklearn import PACPrivate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PACPrivate(make_pipeline(StandardScaler(), LinearSVC(C=0.01)), budget=1 / 4)
    >>> model.fit(X, y).released_estimator_
    LinearSVC(C=0.01, random_state=0)
    >>> round(model.guarantee_.posterior_membership, 3)
    0.838
    """

    estimator: Any
    _: KW_ONLY
    budget: float | Budget = 1 / 16
    noise: Any = "auto"
    metric: Any = "auto"
    canonicalizer: Any = "auto"
    release: str = "auto"
    max_answers: int | None = None
    query_budget: float | None = None
    answers: str = "auto"
    student: Any = None
    queries: Any = None
    alpha: float | None = None
    value_range: tuple[float, float] | None = None
    prior_mean: float | None = None
    stabilize: bool | int | None = None
    tune: Any = None
    scoring: Any = None
    ledger: Any = None
    store: str = "memory"
    n_subsets: int = 128
    rate: float = 0.5
    stratify: Any = "auto"
    subset_seed: int | SubsetSeed | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    fast_fit: bool = True
    certify: bool = True
    debug: bool = False
    secret_space: str | SampledSubsets = LISTED

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "release": [StrOptions({"auto", "parameters", "responses", "student"})],
        "store": [StrOptions({"memory", "ledger"})],
    }
    _learned = (
        "_answering",
        "_guarantee",
        "_subset_seed",
        "best_params_",
        "classes_",
        "feature_names_in_",
        "leaderboard_",
        "n_features_in_",
        "noise_variances_",
        "released_as_",
        "released_estimator_",
        "released_methods_",
    )

    def __getstate__(self) -> dict[str, Any]:
        # How long the universe took, and how options score, is for the curator.
        state = {
            **super().__getstate__(),
            "tune": unfitted(self.tune),
            "student": unfitted(self.student),
        }
        return {name: value for name, value in state.items() if name not in _CURATORS}

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **fit_params: Any) -> Self:
        """Release a private model of the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            The universe; or a table of a plugin, which names its target and groups itself.
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
            spaces, budget = registry().space_for(X), as_budget(self.budget)
            if spaces is not None:
                self._check_parameters()
                opening = opening_of(self, budget)
                learned = table_release(self, opening, spaces, X, y, groups, fit_params)
            else:
                kind = self._checked_kind()
                rows = PreparedRows.of(self, kind.needs_list, X, y, groups, fit_params)
                watched.append(rows.candidates)
                fit, advice = (
                    OpenFit(rows, rows.procedure(self, budget), self.store),
                    advice_on(kind),
                )
                plan = kind.prepare(fit)
                if rows.candidates.space.has_members:  # advice simulates over a list of candidates
                    advice.before(plan, rows.candidates)
                learned = kind.take(self, fit, plan)
                advice.after(learned, rows.candidates)
                learned |= {**rows.features, "_subset_seed": rows.seed}
        if "released_estimator_" in learned:
            self._pass_output_config(learned["released_estimator_"])
        self._learn(learned)
        self.fit_report_ = report
        if self.verbose > 1:
            sys.stderr.write(f"{report}\n")
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
            budget = as_budget(self.budget)
            kind = self._checked_kind()
            rows = PreparedRows.of(self, kind.needs_list, X, y, groups, fit_params)
            if not rows.candidates.space.has_members:
                raise ValueError(
                    "secret_space must be 'listed' for a plan: it simulates releases over a list "
                    "of candidates. With 'sampled' expect somewhat more noise than it says."
                )
            target = Target(budget.amount, budget.criterion(rows.candidates.space))
            request = PlanRequest(
                rows.candidates, target, report, scoring, n_releases, alternatives=alternatives
            )
            return advice_on(kind).plan(kind, self.estimator, request)

    @property
    def guarantee_(self) -> Guarantee:
        """What is promised about everything released so far."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("guarantee_ is there once the estimator is fitted.")
        if "_answering" in vars(self):
            return self._answering.responder.guarantee_
        return self._guarantee

    @property
    def answers_given_(self) -> int:
        """Rows answered so far, stored answers included."""
        return self.responder().n_answered

    @property
    def remaining_budget_(self) -> float:
        """Nats that may still be charged."""
        return self.responder().remaining_budget

    def responder(self) -> Responder:
        """What answers queries, after a fit that releases responses."""
        if "_answering" not in vars(self):
            raise AttributeError(
                "There are answers only after a fit with release='responses'; a fit that releases "
                "parameters has released_estimator_."
            )
        return self._answering.responder

    def preview(self, X: Any) -> CostPreview:
        """Cost of answering the rows of ``X`` now; computed without the secret."""
        self.responder()
        return self._answering.preview(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None and self._is_black_box():
            tags.classifier_tags.multi_label = False
            tags.target_tags.multi_output = False
            tags.target_tags.single_output = True
        return tags

    def _is_black_box(self) -> bool:
        if self.__sklearn_is_fitted__():
            return "_answering" in vars(self)
        try:
            return self._kind().is_black_box
        except (NoCanonicalizerError, UnknownNameError):  # fit says so; tags are asked for often
            return False

    def _offered(self) -> Iterable[str]:
        return self._kind().offered(self.estimator)

    def _kind(self) -> ReleaseKind:
        """What is released, with its arguments; chosen where that is left open."""
        name = self.release
        if self.tune is not None and name in ("auto", Parameters.name):
            name = "tuned"
        if name != "auto":
            stated: ReleaseKind = registry().load("release_kind", name).of(self)
            return stated
        parameters = Parameters.of(self)
        try:
            parameters.canonicalizer_of(self.estimator)
        except NoCanonicalizerError as error:
            if not answers_queries(self.estimator):
                raise
            return replace(Answers.of(self), why=error)
        return parameters

    def _checked_kind(self) -> ReleaseKind:
        self._check_parameters()
        kind = self._kind()
        kind.check(self)
        return kind

    def _check_parameters(self) -> None:
        check_is_estimator(self.estimator)
        check_wrapped(self.estimator)
        check_parameters(self)
