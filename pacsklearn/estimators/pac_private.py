"""Any estimator made private: wrap it, state a budget, call fit."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils import Tags

from pacsklearn._fit_report import recorded
from pacsklearn._sklearn_compat import one_blas_thread
from pacsklearn._validation import check_flag, check_integer
from pacsklearn.estimators.advice import PlanRequest, advice_on, advised
from pacsklearn.estimators.alternatives import options_of
from pacsklearn.estimators.codebook import through_codebook
from pacsklearn.estimators.cost_preview import CostPreview
from pacsklearn.estimators.failed_fit import explain
from pacsklearn.estimators.open_fit import OpenFit, PreparedRows
from pacsklearn.estimators.private_estimator import (
    PrivateEstimator,
    unfitted,
    warn_of_parts_beside,
)
from pacsklearn.estimators.release_kind import ReleaseKind, stated_release
from pacsklearn.estimators.released_answers import automatic_release, warn_of_answers
from pacsklearn.estimators.responders import check_adds
from pacsklearn.estimators.subsets import stated_secret
from pacsklearn.exceptions import NoCanonicalizerError, SubsetFitError
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.universe.codebook_reader import published_facts
from pacsklearn.universe.design import StatedDesign
from pacsklearn.universe.row_rules import check_is_estimator, check_readable
from pacsklearn.universe.stated_budget import as_budget

if TYPE_CHECKING:
    from pacsklearn.tabular.choosing.fit_plan import FitPlan


@dataclass(eq=False, repr=False)
class PACPrivate(PrivateEstimator):
    """PAC-private version of an estimator: what leaves it is noised numbers or noised answers.

    ``fit`` fits a clone on each of 128 candidate subsets of the rows. If a canonicalizer
    knows the estimator, the fitted models are brought into a canonical form, and the parameters of
    one secretly drawn candidate are released with exactly as much noise as the budget demands.
    Any other classifier or regressor stays a black box: its *answers* are released privately, one
    by one, until the budget is spent.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor, clusterer or transformer. Preprocessing and searches belong inside
        it (a pipeline, ``GridSearchCV``), so that they too see the rows of one subset only.
        :class:`Tuned` chooses one of several for the price of one release.
    budget : float or Budget, default=1/16
        What everything released may reveal about which rows were used. A number is in nats of
        mutual information, as is :class:`Nats`: it bounds every attack. :class:`Membership` (such
        as ``Membership(0.60)``: telling whether any one row was used),
        :class:`Identification`, :class:`KOfN` and :class:`Success` cap what the best adversary
        achieves instead: far less noise for the same promise, and no other one. What hides
        nothing (from the logarithm of the number of subsets on no noise is needed) takes consent:
        ``Nats(10, allow_exact=True)``.
    release : "auto", Parameters, Answers or Student, default="auto"
        What is released, with its arguments. "auto" is :class:`Parameters` where a canonicalizer
        supports the estimator, and :class:`Answers` of other classifiers and regressors, which a
        warning says. :class:`Student` has the estimator answer queries privately and releases a
        student fitted on the answers: what all candidates agree on is in it without noise, and the
        guarantee says so in its title.
    secret : None, Subsets or SampledSubsets, default=None
        What is hidden: which of a list of balanced subsets is used (None is :class:`Subsets` with
        its defaults), or which of *all* balanced subsets (:class:`SampledSubsets`), in which
        known memberships tell next to nothing about others but those of a block or a rare class.
    schema : None, Schema, str or Path, default=None
        By what the table is read where it holds more than numbers: a public
        :class:`~pacsklearn.tabular.Schema` or the path of one in JSON or YAML, which costs nothing;
        or ``"from table"``: categories and rounded ranges are looked up in the rows and published
        exactly, as the guarantee lists them, so that presence in the table is not protected
        (:meth:`Schema.from_table <pacsklearn.tabular.Schema.from_table>`). Gaps are filled by
        public constants. An estimator that selects columns (``ColumnTransformer``) gets
        categories for its encoders, any other the table encoded.
    noise : str or NoiseBackend, default="auto"
        With released parameters: ``"isotropic"``, ``"diagonal"``, ``"eigen"``, ``"logdet"``,
        the name of a plugin (``"residual"``) or an instance. "auto" is ``"logdet"``, and
        ``"criterion"`` under a cap.
    ledger : None, str or Ledger, default=None
        A further account to charge, shared across fits and processes: ``"sqlite:///clinic.db"``.
    random_state : None, int or RandomState, default=None
        None draws the secret and the noise from the operating system's generator. Anything else
        makes them reproducible for tests: it warns, and the guarantee says "not for release".
    n_jobs : int, optional
        Workers fitting the candidates; any joblib backend. Without them a fit takes one BLAS
        thread: many small products are what it is made of.
    verbose : int, default=0
        1 shows joblib's progress, 2 also ``fit_report_``.

    Attributes
    ----------
    released_estimator_ : estimator
        A plain fitted scikit-learn estimator that holds only private numbers: publish it.
    guarantee_ : PACGuarantee
        What is promised about it, in numbers and in words.
    release_ : Parameters, Answers or Student
        What was released, with its arguments; chosen where ``release="auto"``.
    released_methods_ : tuple of str
        What can be asked of what was released.
    fit_report_ : FitReport
        Where the time of ``fit`` went: design, fits, canonical form, calibration, certificate.
        For the curator; it is not part of what is released.
    answers_given_ : int
        With answers: rows answered so far, stored answers included.
    remaining_budget_ : float
        With answers: nats that may still be charged.
    noise_variances_ : ndarray of shape (n_outputs,)
        With parameters: variance of the noise in each number of the canonical vector, a function
        of the noise law. :class:`AdditiveTermsDisplay` draws it.
    classes_ : ndarray of shape (n_classes,)
        Public class labels, for classifiers.
    best_estimator_ : estimator
        With :class:`Tuned`: what was chosen, unfitted. Public.
    best_params_ : dict
        With :class:`Tuned`: its parameters, as the grid names them. Public.
    verdict_ : Verdict
        With :class:`Tuned`: every option's simulated utility, first that of the one released,
        beside the public constant's. For the curator: it is in no pickle.
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
    budget: float | Budget = 1 / 16
    _: KW_ONLY
    release: str | ReleaseKind = "auto"
    secret: StatedDesign | None = None
    schema: Any = None
    noise: Any = "auto"
    ledger: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    # How long the universe took, and how options score.
    _curators = frozenset({"fit_report_", "verdict_"})
    _instead: ClassVar[dict[str, str]] = {
        "release": "Parameters() or another of the release kinds",
        "secret": "Subsets()",
        "budget": "Nats(1/16)",
    }

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        kinds = {name: unfitted(state[name]) for name in ("release", "release_") if name in state}
        return state | kinds

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
        warn_of_parts_beside(self)
        with recorded() as report, one_blas_thread():
            kind, why, rows = self._prepared(X, y, groups, fit_params)
            if why is not None:
                warn_of_answers(self.estimator, why)
            try:
                learned = advised(kind, OpenFit(self, rows, as_budget(self.budget), kind.store))
            except SubsetFitError as error:
                explain(rows.candidates, error)
                raise
            learned |= {**rows.features, "_subset_seed": rows.design.seed, "release_": kind}
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
            a classifier or regressor are released, and the same model over candidates in other
            blocks (see :class:`Subsets`).

        Returns
        -------
        FitPlan
            ``print`` shows it. It is a function of the private rows, covered by no guarantee.

        Notes
        -----
        *Guarantee.* None. A choice made by looking at it is information about the whole table; let
        :class:`Tuned` choose, which states how much.
        """
        check_integer(name="n_releases", value=n_releases, minimum=2)
        check_flag(name="alternatives", value=alternatives)
        with recorded() as report, one_blas_thread():
            kind, why, rows = self._prepared(X, y, groups, fit_params)
            budget = as_budget(self.budget)
            request = PlanRequest(
                rows.candidates,
                rows.target(budget),
                report,
                scoring,
                n_releases,
                alternatives=alternatives,
                noise=self.noise,
                why="" if why is None else why.why,
                lists=rows.in_blocks(budget),
            )
            plan = advice_on(kind).plan(kind, rows.stated, request)
        return replace(plan, public=(*plan.public, *published_facts(rows.candidates.estimator)))

    @property
    def guarantee_(self) -> PACGuarantee:
        """What is promised about everything released so far."""
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
        """Return what answers queries, after a fit that releases answers."""
        if "_answering" not in vars(self):
            raise AttributeError(
                "There are answers only after a fit with release=Answers(); a fit that releases "
                "parameters has released_estimator_."
            )
        return self._answering.responder

    def preview(self, X: Any) -> CostPreview:
        """Compute what answering the rows of ``X`` costs now, without the secret."""
        self.responder()
        return self._answering.preview(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None and self._is_black_box():
            tags.classifier_tags.multi_label = tags.target_tags.multi_output = False
            tags.target_tags.single_output = True
        return tags

    def _is_black_box(self) -> bool:
        if self.__sklearn_is_fitted__():
            return "_answering" in vars(self)
        try:
            return self._kind()[0].is_black_box
        except (NoCanonicalizerError, ValueError):  # fit says so; tags are asked for often
            return False

    def _offered(self) -> Iterable[str]:
        return self._kind()[0].offered(self.estimator)

    def _kind(self) -> tuple[ReleaseKind, NoCanonicalizerError | None]:
        """Return what is released; why it is no model, where that was not stated."""
        stated = stated_release(self.release)
        return automatic_release(self.estimator) if stated is None else (stated, None)

    def _prepared(
        self, X: Any, y: Any, groups: Any, fit_params: dict[str, Any]
    ) -> tuple[ReleaseKind, NoCanonicalizerError | None, PreparedRows]:
        """Return what is released, and the rows as they are read; all checked."""
        self._check_parameters()
        reading = self if self.schema is None else through_codebook(self, X, groups)
        kind, why = reading._kind()
        kind.check(reading)
        rows = PreparedRows.of(reading, kind, X, y, groups, fit_params)
        if why is not None:
            budget, space = as_budget(self.budget, warn=False), rows.candidates.space
            check_adds(budget.criterion(space), budget.amount, space, why=why)
        return kind, why, rows

    def _check_parameters(self) -> None:
        check_is_estimator(self.estimator)
        check_readable(options_of(self.estimator).template)
        stated_release(self.release)
        stated_secret(self.secret)
