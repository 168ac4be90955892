"""A table, a budget, perhaps a schema: the best private model of a short list."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pacsklearn.estimators.codebook import check_consent
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.estimators.private_estimator import (
    JudgedByBudget,
    ShowsItsGuarantee,
    unfitted,
    warn_of_parts_beside,
)
from pacsklearn.estimators.released_parameters import Parameters
from pacsklearn.estimators.subsets import Subsets
from pacsklearn.estimators.table_space import space_for
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.priors import Constant, Prior, Range
from pacsklearn.tabular.choosing.families import (
    classifier_families,
    regressor_families,
    teacher,
    too_dear,
)
from pacsklearn.tabular.choosing.fit_plan import FitPlan
from pacsklearn.tabular.choosing.model_or_constant import ModelOrConstant, NothingBeatsTheConstant
from pacsklearn.tabular.choosing.option import value_name
from pacsklearn.tabular.choosing.verdict import Utility
from pacsklearn.tabular.schema.queries import SchemaQueries
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.schema.stated_schema import check_needs_none, stated_schema
from pacsklearn.tabular.students.student import Student
from pacsklearn.universe.row_rules import check_is_estimator
from pacsklearn.universe.stated_budget import as_budget


@dataclass(eq=False, repr=False)
class _AutoPrivate(ShowsItsGuarantee, BaseEstimator):
    """What both share."""

    budget: float | Budget = 1 / 16
    _: KW_ONLY
    schema: Schema | str | Path | None = None
    families: Any = None
    scoring: Any = None
    prior: Prior | Constant | None = None
    secret: Subsets | None = None
    ledger: Any = None
    random_state: Any = None

    draws_its_own_secret: ClassVar[bool] = True
    _curators: ClassVar[frozenset[str]] = frozenset({"verdict_"})  # how options score
    _instead: ClassVar[dict[str, str]] = {"budget": "Nats(1/16)", "secret": "Subsets()"}

    @abstractmethod
    def _listed(self, schema: Schema | None, n_features: int) -> list[Any]:
        """Return the families that are chosen among when none are given."""

    @abstractmethod
    def _options(self, listed: list[Any]) -> tuple[ModelOrConstant, Parameters]:
        """Return what is chosen from, and how it is released."""

    def _check_prior(self) -> None:
        """Ask for what is publicly expected before a row is looked at."""

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Any:
        """Choose, release, and state what is promised.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_rows, n_columns)
            Or a table of a plugin, which names its target and groups itself.
        y : array-like of shape (n_rows,)
        groups : array-like of shape (n_rows,), optional
            Unit of privacy.

        Returns
        -------
        self
        """
        warn_of_parts_beside(self, f"{type(self).__name__}(families=[make_pipeline(...)])")
        model, left_out = self._model(X, y, groups)
        try:
            model.fit(X, y, groups=groups)
            released, guarantee = model.released_estimator_, model.guarantee_
            private, verdict = model, getattr(model, "verdict_", None)
            best = getattr(model, "best_estimator_", model.estimator)
        except NothingBeatsTheConstant as stop:
            released, guarantee = stop.released(as_budget(self.budget, warn=False))
            private, verdict, best = None, stop.choice.verdict, None
        for name in ("classes_", "feature_names_in_"):
            # The fit before may have had them where this one has none.
            self.__dict__.pop(name, None)
        self.private_, self.released_estimator_, self.guarantee_ = private, released, guarantee
        self.best_estimator_ = None if best is None else clone(best)
        self.verdict_ = verdict and replace(verdict, options=(*verdict.options, *left_out))
        rows, _ = _in_memory(X, y)
        self.n_features_in_ = np.shape(rows)[1]
        if is_classifier(self):
            self.classes_ = released.classes_
        if hasattr(rows, "columns"):
            self.feature_names_in_ = np.array(list(rows.columns), dtype=object)
        return self

    def plan(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        n_releases: int = 32,
        scoring: Any = None,
    ) -> FitPlan:
        """Say what ``fit`` would release and how good it would be; see :meth:`PACPrivate.plan`.

        Where its verdict does not beat the reference, ``fit`` releases the constant.
        """
        model, _ = self._model(X, y, groups, stops=False)
        return model.plan(
            X, y, groups=groups, n_releases=n_releases, scoring=scoring, alternatives=False
        )

    def predict(self, X: Any) -> Any:
        """Return the predictions of the released model."""
        check_is_fitted(self)
        return self.released_estimator_.predict(X)

    def __sklearn_is_fitted__(self) -> bool:
        return "released_estimator_" in vars(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "families": unfitted(self.families)}

    def _model(
        self, X: Any, y: Any, groups: Any, *, stops: bool = True
    ) -> tuple[PACPrivate, list[Utility]]:
        """Return what is fitted, and the families that the table's shape leaves out."""
        is_student = isinstance(self.families, Student)
        if not is_student:
            self._check_prior()
        check_consent(self.schema, self.secret)
        schema = None if self.schema is None else stated_schema(self.schema, X, groups)
        rows, targets = _in_memory(X, y)
        n_classes = len(set(np.ravel(targets).tolist())) if is_classifier(self) else 0
        shared = {
            "ledger": self.ledger,
            "secret": self.secret,
            "schema": schema,
            "random_state": self.random_state,
        }
        budget = as_budget(self.budget)
        if is_student:
            student = clone(self.families)
            if student.queries is None and schema is not None:
                student.queries = SchemaQueries(schema, "private")
            one = teacher(schema, n_classes=n_classes or None)
            return PACPrivate(one, budget, release=student, **shared), []
        if schema is None and self.families is None:
            check_needs_none(rows)
        n_rows, n_features = np.shape(rows)
        listed = self._listed(schema, n_features) if self.families is None else self.families
        if not isinstance(listed, (list, tuple)) or not listed:
            raise ValueError(
                "families must be a list of at least one estimator, a Student or None, got an "
                f"object of type {type(listed).__name__}; one estimator is a list too."
            )
        for one in listed:
            check_is_estimator(one, "families")
            if get_tags(one).estimator_type != get_tags(self).estimator_type:
                raise TypeError(
                    f"families of {type(self).__name__} must be "
                    f"{'classifiers' if is_classifier(self) else 'regressors'}, got "
                    f"{type(one).__name__}."
                )
        # What the user lists is taken as it is; the built-in list leaves out what takes too long.
        too_long = [
            ""
            if self.families is not None
            else too_dear(family, n_rows, n_features, n_classes) or _refused(family, X)
            for family in listed
        ]
        kept = [family for family, why in zip(listed, too_long, strict=True) if not why]
        left_out = [
            Utility(value_name(family), (), why_not=why)
            for family, why in zip(listed, too_long, strict=True)
            if why
        ]
        options, release = self._options(kept)
        options.stops = stops
        return PACPrivate(options, budget, release=release, **shared), left_out


def _in_memory(X: Any, y: Any) -> tuple[Any, Any]:
    """Return rows and targets that show what the table is like: all of them, or a sample."""
    kind = space_for(X)
    if kind is not None:
        return kind.sample_of(X)
    if y is None:
        raise ValueError("y must be given: what is chosen predicts a target.")
    return X, y


def _refused(family: Any, X: Any) -> str:
    """Return why a listed model cannot be fitted on a table of a plugin; empty where it can."""
    kind = space_for(X)
    try:
        if kind is not None:
            kind.check_fits(family)
    except ValueError:
        return f"left out by the table's kind: a {type(X).__name__} cannot be fitted with it"
    return ""


def _offers(method: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(vars(self).get("released_estimator_"), method)


def _is_probable(auto: AutoPrivateClassifier) -> bool:
    """Return whether what is released, or before a fit whatever may be, has probabilities."""
    if auto.__sklearn_is_fitted__():
        return hasattr(auto.released_estimator_, "predict_proba")
    if auto.families is None:
        return True
    listed = isinstance(auto.families, (list, tuple))
    return listed and all(hasattr(family, "predict_proba") for family in auto.families)


@final
class AutoPrivateClassifier(JudgedByBudget, ClassifierMixin, _AutoPrivate):
    """Best private classifier of a short list, for one release's price.

    Additive models, and linear models of few columns or shrunken ones, are released in simulation;
    the one that scores best is released. Where none is expected to beat the public constant, the
    constant is released, and a warning says so.

    Parameters
    ----------
    budget : float or Budget, default=1/16
        As for :class:`PACPrivate`: nats of mutual information, or a cap. ``Membership(0.60)`` caps
        the success at telling whether a row was used, which needs far less noise and promises
        nothing else.
    schema : Schema, str or Path, optional
        Public codebook of the table, or the path of one. With it, encoding costs nothing, and text,
        categories, dates and missing values are read; without it the table must be numbers.
        ``"from table"`` looks categories and rounded ranges up in the rows and publishes them
        exactly, as for :class:`PACPrivate`: presence in the table is then not protected.
    families : list of estimators or Student, optional
        At most 63 estimators in place of the built-in list: the constant is an outcome as well. Or
        a student's release, of boosted trees or, with a schema and more than two classes, of an
        SVM: what all candidates agree on is in it without noise, and its guarantee says so in its
        title. Without ``queries``, marginals of the schema's columns are released privately for a
        quarter of the budget.
    scoring : None, str or callable, default=None
        What is compared, by any name of scikit-learn's; None is the log-probability of the true
        classes plus accuracy, so that no option is released that is behind another in accuracy by
        more than it is ahead in log-probability.
    prior : Constant, optional
        Public probabilities of the classes, which a model must beat and are released where none
        does; without one all classes are equally probable.
    secret : Subsets, optional
    ledger, random_state
        As for :class:`PACPrivate`. Candidates are fitted by as many workers as
        ``joblib.parallel_config`` says.

    Attributes
    ----------
    released_estimator_ : estimator
        Publish it.
    guarantee_ : Guarantee
    private_ : PACPrivate or None
        What released it; None for a constant, of which there is nothing to audit.
    best_estimator_ : estimator or None
        What was chosen, unfitted; None for a constant. Public.
    verdict_ : Verdict or None
        Simulated utility of every option, the first of which is the best, beside that of the
        constant; then what the table's shape left out of the built-in list, without a score, and
        why. For the curator: it is in no pickle. None of a student.
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
    >>> from pacsklearn import AutoPrivateClassifier, Subsets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoPrivateClassifier(1 / 4, secret=Subsets(32)).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """

    _listed = staticmethod(classifier_families)

    def _check_prior(self) -> None:
        if not isinstance(self.prior, Constant | None):
            raise ValueError(
                f"prior must be Constant(proba) for a classifier, got {self.prior!r}: public "
                "probabilities of the classes."
            )

    def _options(self, listed: list[Any]) -> tuple[ModelOrConstant, Parameters]:
        return ModelOrConstant(listed, scoring=self.scoring, prior=self.prior), Parameters()

    @available_if(_is_probable)
    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities of the released model."""
        check_is_fitted(self)
        return self.released_estimator_.predict_proba(X)

    @available_if(_offers("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the decision function of the released model."""
        return self.released_estimator_.decision_function(X)


@final
class AutoPrivateRegressor(JudgedByBudget, RegressorMixin, _AutoPrivate):
    """Best private regressor of a short list, for one release's price.

    Parameters
    ----------
    budget, schema, families, secret, ledger, random_state
        As for :class:`AutoPrivateClassifier`.
    scoring : None, str or callable, default=None
        None is R^2.
    prior : Range or Expected
        What is publicly expected of the targets (:mod:`pacsklearn.priors`): linear and additive
        models are drawn toward it under much noise, and its mean is released where nothing beats
        it. Asked for before anything is fitted; a student states its own.

    Attributes
    ----------
    released_estimator_, guarantee_, private_, best_estimator_, verdict_
        As for :class:`AutoPrivateClassifier`.
    """

    _listed = staticmethod(regressor_families)

    def _check_prior(self) -> None:
        if not isinstance(self.prior, Prior):
            raise ValueError(
                "prior must state what is publicly expected of the targets, Range(low, high) or "
                f"Expected(mean), got {self.prior!r}: models are drawn toward it, and compared "
                "with it."
            )

    def _options(self, listed: list[Any]) -> tuple[ModelOrConstant, Parameters]:
        assert isinstance(self.prior, Prior)
        expected = self.prior.normal()
        # As a range: it does not ask every listed model for a constant of its own.
        reach = Range(expected.mean - expected.reach, expected.mean + expected.reach)
        return ModelOrConstant(listed, scoring=self.scoring), Parameters(prior=reach)
