"""Any estimator, or a plain function, released so that a secret about the data stays hidden."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import MetadataRouter

from pacsklearn._sklearn_compat import features_of
from pacsklearn.estimators.private_estimator import (
    PrivateEstimator,
    warn_of_parts_beside,
)
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.srpp.release.renyi_unit import check_secret_name
from pacsklearn.srpp.release.sliced_release import sliced_release
from pacsklearn.srpp.srpp_parameters import is_function, sliced_options, sliced_query
from pacsklearn.universe.codebook_reader import refuse_published
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn.universe.row_rules import check_names, check_readable
from pacsklearn.universe.samplers import sampler_for

_DEFAULT_SCENARIO = "prevalence"


@dataclass(eq=False, repr=False)
class SRPPPrivate(PrivateEstimator):
    """Release of an estimator, or of a function's value, that hides a secret about the data.

    The secret is what a scenario names: how frequent a value is, which group the model is about,
    what a simulator can be asked for. The estimator is fitted on data sets that each secret may
    stand for; noise makes the releases under any two secrets hard to tell apart, as measured by a
    Renyi divergence. The list of data sets, the noise and every figure of the guarantee are the
    same whichever secret is true. The secret is *not* whether a row was used; that is what
    :class:`PACPrivate` hides.

    By default the table is a universe: training sets with three shares of the secret column's
    value are drawn from it, one of them is used, and its share is hidden. The table's own share
    is not; see :class:`PrevalenceScenario` for that.

    Parameters
    ----------
    estimator : estimator or callable
        An estimator with a canonicalizer; preprocessing and searches belong inside it. Or a
        function ``f(X, y)`` that returns numbers, whose value is released.
    budget : float or Renyi, default=1.0
        Allowed Renyi divergence, in nats: a number is ``Renyi(number, 4)``.
    scenario : str or Scenario, optional
        What is secret. ``PrevalenceScenario(shift=0.1)`` when not given.
    noise : str or Noise, default="isotropic"
        Shape of the noise, and what noise costs in each direction.
    slices : int or Slices, default=200
        Public directions in which the release is looked at, and what is bounded over them.
    canonicalizer : "auto", str or Canonicalizer, default="auto"
        How a fitted model becomes a vector.
    secret_name : str, optional
        What you call the secret, say "clinic 2026: diagnosis". Needed with a ledger, which adds up
        releases about one secret only; the same for all of them.
    ledger : None, str or Ledger, default=None
        Account shared by several releases, ``"sqlite:///clinic.db"`` or one with the unit
        :meth:`ledger_unit`.
    random_state : None, int or RandomState, default=None
        None draws data set and noise from the operating system's generator. Anything else makes
        them reproducible: it warns, and the guarantee says "not for release".
    n_jobs : int, optional
        Workers fitting the worlds.

    Attributes
    ----------
    released_estimator_ : estimator
        A plain fitted estimator that holds only private numbers, when an estimator was given.
    released_value_ : float or ndarray
        The noised value, when a function was given.
    guarantee_ : PufferfishGuarantee
        What is promised about it.
    released_methods_ : tuple of str
        What can be asked of what was released.
    classes_, n_features_in_, feature_names_in_
        As in the wrapped estimator.

    Raises
    ------
    ScenarioError, BudgetError, BudgetExhaustedError, LedgerMismatchError, NoCanonicalizerError, \
StructureMismatchError, GaugeError, SubsetFitError, NonDeterministicError
        From ``fit``. None quotes a row or the true secret.

    Notes
    -----
    *Guarantee.* For every pair of secrets of the scenario and every prior, the Renyi divergence
    between what would be released under either is at most the budget: exact for the training
    sets that the scenario lists; with the confidence printed for tables drawn from stated laws.

    *Edge cases.* Where no protected pair of secrets differs in the output, nothing is noised.
    Several releases under one ``ledger`` add up for one order, aggregation, slice profile and
    scenario, each on a training set of its own. Releases of one table under a reference or a
    simulator do not add up.

    Source: srpp, sections 2 to 4, Theorem 5.8 and appendix B.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pacsklearn import SRPPPrivate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    >>> private = SRPPPrivate(model, budget=2.0).fit(X, y, secret=X[:, 0] > 14)
    >>> private.guarantee_.spent == private.guarantee_.costs.full <= 2.0
    True
    """

    estimator: Any
    budget: Any = 1.0
    _: KW_ONLY
    scenario: Any = None
    noise: Any = "isotropic"
    slices: Any = 200
    canonicalizer: Any = "auto"
    secret_name: str | None = None
    ledger: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    _instead: ClassVar[dict[str, str]] = {
        "budget": "Renyi(1.0)",
        "noise": "Noise('isotropic')",
        "slices": "Slices(200)",
    }

    def fit(
        self, X: Any, y: Any = None, *, secret: Any = None, realized: Any = None, **fit_params: Any
    ) -> SRPPPrivate:
        """Release a private model of the rows that hides the secret.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_outputs), optional
        secret : array-like of shape (n_rows,) or str, optional
            What the secret is about: a value for each row, or the name of a column of ``X``. The
            labels, for classifiers, when not given.
        realized : object, optional
            The true secret, where the curator states it (which group, which share); drawn by
            the mechanism where it may be and is not given. It is kept nowhere.
        **fit_params : dict
            Passed to ``fit`` of the wrapped estimator.

        Returns
        -------
        SRPPPrivate
            Fitted.
        """
        warn_of_parts_beside(self, "SRPPPrivate(make_pipeline(...))")
        options = sliced_options(self)
        check_readable(self.estimator)
        refuse_published(self.estimator, "the table itself is the secret")
        check_secret_name(self.secret_name, self.ledger)
        plugins = registry()
        named = _DEFAULT_SCENARIO if self.scenario is None else self.scenario
        scenario = plugins.make("scenario", named)
        provenance = [plugins.provenance("scenario", named)]
        routed = self._routed(fit_params)
        learned: dict[str, Any] = {"released_methods_": ()}
        if not is_function(self.estimator):
            canonicalizer = self._canonicalizer()
            named = canonicalizer if self.canonicalizer == "auto" else self.canonicalizer
            provenance.append(plugins.provenance("canonicalizer", named))
            check_names(X)
            learned = {**features_of(X), "released_methods_": canonicalizer.methods}
        query, rows = sliced_query(self, scenario, X, y, routed, secret=secret, realized=realized)
        # Its unit is checked when that of the release is known; its budget before all else.
        ledger = None if self.ledger is None else open_ledger(self.ledger, ceiling=None, unit=None)
        release = sliced_release(
            query,
            scenario,
            rows,
            options,
            fitting=FitOptions(routed, self.n_jobs),
            ledger=ledger,
            sampler=sampler_for(self.random_state),
            provenance=tuple(provenance),
        )
        learned["guarantee_"] = release.guarantee
        if is_function(self.estimator):
            learned["released_value_"] = release.value
        else:
            learned["released_estimator_"] = release.value
            if hasattr(release.value, "classes_"):
                learned["classes_"] = release.value.classes_
        self._learn(learned)
        return self

    def ledger_unit(self, n_numbers: int) -> str:
        """Return the unit of a ledger that can bear releases like this one.

        Parameters
        ----------
        n_numbers : int
            How many numbers are released: coefficients and intercept, say.
        """
        options = sliced_options(self)
        named = _DEFAULT_SCENARIO if self.scenario is None else self.scenario
        scenario = registry().make("scenario", named)
        return options.unit(options.slices.of(n_numbers), scenario, self.secret_name)

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where metadata goes: ``secret`` and ``realized`` stay here, the rest is passed on."""
        if is_function(self.estimator):
            return MetadataRouter(owner=self).add_self_request(self)
        return super().get_metadata_routing()

    def __sklearn_tags__(self) -> Tags:
        if not is_function(self.estimator):
            return super().__sklearn_tags__()
        tags = BaseEstimator.__sklearn_tags__(self)
        tags.non_deterministic = self.random_state is None
        return tags

    def _offers(self, method: str) -> bool:
        return not is_function(self.estimator) and super()._offers(method)

    def _canonicalizer(self) -> Canonicalizer:
        try:
            return registry().canonicalizer(self.canonicalizer, self.estimator)
        except NoCanonicalizerError as error:
            if not (is_classifier(self.estimator) or is_regressor(self.estimator)):
                raise
            raise NoCanonicalizerError(
                error.why,
                f"{error.advice} SRPPPrivate releases models and functions of the rows; answers "
                "are released by PACPrivate, whose promise is about single rows.".lstrip(),
            ) from None

    def _offered(self) -> Iterable[str]:
        return self._canonicalizer().methods

    def _routed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        if is_function(self.estimator):
            if fit_params:
                raise TypeError(
                    f"A function takes no parameters of fit, got {', '.join(sorted(fit_params))}."
                )
            return {}
        return super()._routed(fit_params)
