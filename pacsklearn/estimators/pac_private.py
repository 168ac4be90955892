"""Any estimator with a canonicalizer, made private: wrap it, state a budget, call fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.utils import Tags

from pacsklearn.estimators.planned_fit import PlannedFit
from pacsklearn.exceptions import NoCanonicalizerError, UnknownNameError
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.answers.statement import CostPreview
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.secret.home_process import SubsetSeed
from pacsklearn.sampled.sampled_subsets import LISTED, SampledSubsets
from pacsklearn.tabular.choosing.tuning import unfitted
from pacsklearn.tabular.students.student import STUDENT_METHODS

_CURATORS = frozenset({"fit_report_", "leaderboard_"})


@dataclass(eq=False, repr=False)
class PACPrivate(PlannedFit):
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
    budget : float, default=1/16
        Most that everything released may reveal about which rows were used, in nats of mutual
        information. From ``ln(n_subsets)`` on no noise is needed, and nothing is hidden: such a
        budget needs ``allow_exact=True``.
    criterion : None, str, Criterion or callable, default=None
        Cap what the best adversary achieves, instead of the mutual information: ``"membership"``
        (telling whether any one row was used), ``"identification"`` (naming the subset),
        ``"35_of_n"`` (naming 35 of its rows), a :class:`Criterion`, or a callable that makes one
        for the secret space. ``budget`` is then the cap, between what guessing blindly has and 1.
        It needs far less noise for the same promise about membership, and promises nothing else.
    noise : str or NoiseBackend, default="auto"
        ``"isotropic"``, ``"diagonal"``, ``"eigen"``, ``"logdet"``, ``"residual"``, a registered
        name or an instance. "auto" is ``"logdet"``, and ``"criterion"`` with a criterion.
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
        1 shows a progress bar, 2 also ``fit_report_``.
    fast_fit : bool, default=True
        Fit all candidates at once where that gives the same models, to solver tolerance (least
        squares, ridge, logistic regression, linear support vector machines with a squared loss,
        Poisson and gamma regression, lasso, elastic net, K-Means, linear discriminants, PCA,
        Gaussian naive Bayes, nearest centroids, standardisation and pipelines of these). False
        fits one after the other.
    allow_exact : bool, default=False
        Allow a budget that hides nothing, of at least the entropy of the secret.
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
    engine : {None, "dask"}, default=None
        "dask" fits the candidates, or sums the batches of a :class:`~pacsklearn.Table`, on the
        workers of the active ``dask.distributed`` client. Secret, noise and ledger stay here.

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
    budget: float = 1 / 16
    criterion: Any = None
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
    allow_exact: bool = False
    certify: bool = True
    debug: bool = False
    secret_space: str | SampledSubsets = LISTED
    engine: str | None = None

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

    def _offered(self) -> Iterable[str]:
        if self.release == "student":
            student = self.estimator if self.student is None else self.student
            return [method for method in STUDENT_METHODS if hasattr(student, method)]
        canonicalizer = self._canonicalizer()
        if canonicalizer is not None:
            return canonicalizer.methods
        return ("predict", "predict_proba")[: 2 if self.answers == "probabilities" else 1]

    def _is_black_box(self) -> bool:
        if self.__sklearn_is_fitted__():
            return "_answering" in vars(self)
        try:
            return self._canonicalizer() is None
        except (NoCanonicalizerError, UnknownNameError):  # fit says so; tags are asked for often
            return False
