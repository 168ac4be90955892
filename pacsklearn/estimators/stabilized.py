"""Ensembles inside the subset, for answers that depend less on which rows it holds."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    is_classifier,
    is_regressor,
)
from sklearn.svm import SVC, NuSVC
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters, safe_indexing
from pacsklearn._validation import check_integer
from pacsklearn.kernel.outputs.subset_fitting import cut_params, seeded_clone
from pacsklearn.universe.row_rules import RowRules, check_universe, steps_of

_SHARE, _FEWEST = 0.3, 5


@final
@dataclass(frozen=True, eq=False)
class SubspaceMembers:
    """Fitted members and the columns that each was given."""

    models: tuple[Any, ...] = field(repr=False)
    columns: tuple[NDArray[np.intp], ...] = field(repr=False)

    def views(self, X: Any) -> list[tuple[Any, Any]]:
        """Return each member with what it may see of ``X``."""
        n_features = X.shape[1]
        return [
            (model, X if columns.size == n_features else safe_indexing(X, columns, axis=1))
            for model, columns in zip(self.models, self.columns, strict=True)
        ]


def class_scores(model: Any, X: Any, n_classes: int) -> NDArray[np.float64]:
    """Return how much a fitted classifier speaks for each of its classes, in [0, 1].

    Shares of the classes where the model has them; for support vector machines the margins of
    every pair of classes, clipped to [-1, 1]; otherwise its vote, and halfway clipped decision
    values where it has those.
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    if isinstance(steps_of(model)[-1], (SVC, NuSVC)):
        pairs = np.clip(model.decision_function(X), -1.0, 1.0)
        # With two classes the sign speaks for the second, with more for the first of a pair.
        pairs = -pairs[:, None] if n_classes == 2 else pairs
        return (1 + _by_class(pairs, n_classes)) / 2
    votes = np.asarray(model.predict(X)[:, None] == model.classes_, dtype=np.float64)
    if not hasattr(model, "decision_function"):
        return votes
    decisions = np.clip(model.decision_function(X), -1.0, 1.0)
    if decisions.ndim == 1:
        decisions = np.column_stack([-decisions, decisions])
    # The scale of the values is unknown: where all are clipped the votes still tell.
    return np.asarray(votes / 2 + (1 + decisions) / 4)


def _template(estimator: Any) -> Any:
    template = seeded_clone(estimator)
    last = steps_of(template)[-1]
    if isinstance(last, (SVC, NuSVC)):
        # Votes of pairs jump; the pairs' own margins are what can be averaged.
        last.set_params(decision_function_shape="ovo")
    return template


def _by_class(pairs: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    scores = np.zeros((len(pairs), n_classes))
    first, second = np.triu_indices(n_classes, k=1)
    for column, (one, other) in enumerate(zip(first, second, strict=True)):
        scores[:, one] += pairs[:, column]
        scores[:, other] -= pairs[:, column]
    return scores / (n_classes - 1)


def _count(share: Any, available: int) -> int:
    if isinstance(share, str):  # "auto"
        return min(available, max(_FEWEST, round(_SHARE * available)))
    return max(1, round(float(share) * available))


_MEMBERS = 20
# Each is fitted for every candidate: more would only ever be a slip of the pen.
_MOST_MEMBERS = 10_000


@dataclass(eq=False, repr=False)
class _Stabilized(MetaEstimatorMixin, BaseEstimator):
    """Parameters and fitting that both have in common."""

    estimator: Any
    _: KW_ONLY
    n_members: int = _MEMBERS
    max_features: Any = "auto"
    max_samples: float = 1.0
    random_state: int = 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_members": [Interval(Integral, 1, _MOST_MEMBERS, closed="both")],
        "max_features": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="right")],
        "max_samples": [Interval(Real, 0, 1, closed="right")],
        "random_state": [Interval(Integral, 0, None, closed="left")],
    }

    def _fit_members(self, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        """Fit clones on public random columns, and rows, of what they are given.

        Which columns and which positions a member gets depends on the seed and on the shape of
        ``X`` alone, so the members are a function of the rows and public constants.
        """
        check_parameters(self)
        validate_data(self, X, skip_check_array=True)
        n_rows, n_features = X.shape
        width = _count(self.max_features, n_features)
        height = _count(self.max_samples, n_rows)
        models, chosen = [], []
        for member in range(int(self.n_members)):
            # A stream a member: more members leave those before them as they are.
            generator = np.random.default_rng([int(self.random_state), member])
            columns = np.sort(generator.permutation(n_features)[:width])
            rows = np.sort(generator.permutation(n_rows)[:height])
            part = X if width == n_features else safe_indexing(X, columns, axis=1)
            target, weights = y, fit_params
            if height < n_rows:
                part, target = safe_indexing(part, rows), safe_indexing(y, rows)
                weights = cut_params(fit_params, rows, n_rows)
            models.append(_template(self.estimator).fit(part, target, **weights))
            chosen.append(columns)
        self.members_ = SubspaceMembers(tuple(models), tuple(chosen))

    def _views(self, X: Any) -> list[tuple[Any, Any]]:
        check_is_fitted(self, "members_")
        X = RowRules.of(self.estimator).check(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.members_.views(X)

    def __sklearn_tags__(self) -> Tags:
        tags = copy.deepcopy(get_tags(self.estimator))
        tags.target_tags.multi_output = False
        tags.target_tags.single_output = True
        tags.array_api_support = False
        tags.transformer_tags = None
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags


class StabilizedClassifier(ClassifierMixin, _Stabilized):
    """Averages a classifier over random subspaces of the features, and over rows on request.

    Models of one family that are fitted on different halves of the rows disagree less when each
    is the average of many weaker ones, and private answers are free where all candidates agree:
    ``PACPrivate(SVC(), release=Answers(stabilize=True))`` puts this around the estimator
    inside every subset.

    Parameters
    ----------
    estimator : classifier
    n_members : int, default=20
    max_features : "auto" or float, default="auto"
        Share of the features that a member sees; "auto" is 0.3, but at least five features.
    max_samples : float, default=1.0
        Share of the rows that a member is fitted on, without replacement.
    random_state : int, default=0
        Public seed of the members' features and rows. It must be an integer: the ensemble has to
        be a function of the rows alone.

    Attributes
    ----------
    members_ : SubspaceMembers
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Raises
    ------
    ValueError, TypeError
        From ``fit``, when a parameter is out of range or ``estimator`` is no classifier.

    Notes
    -----
    A member speaks with its class probabilities where it has them, support vector machines with
    the margins of every pair of classes clipped to [-1, 1], others with their votes and clipped
    decision values; the average decides. Everything happens on the rows given and with public
    seeds. Columns are taken by position, so a ``ColumnTransformer`` that names columns inside
    ``estimator`` needs ``max_features=1.0``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from pacsklearn.estimators import StabilizedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(StabilizedClassifier(SVC(), max_features=0.5).fit(X, y).score(X, y), 2)
    0.97
    """

    def fit(self, X: Any, y: Any, **fit_params: Any) -> StabilizedClassifier:
        """Fit the members; ``fit_params`` of one value a row follow the rows."""
        if not is_classifier(self.estimator):
            raise TypeError(
                "estimator of a StabilizedClassifier must be a classifier, got "
                f"{type(self.estimator).__name__}."
            )
        X, y = check_universe(self.estimator, X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self._fit_members(X, y, fit_params)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Average the scores of the members as shares of the classes; (n_rows, n_classes).

        They rank classes as ``predict`` does and are not calibrated.
        """
        scores = self._scores(X)
        total = scores.sum(axis=1, keepdims=True)
        return np.where(total > 0, scores / np.where(total > 0, total, 1.0), 1 / scores.shape[1])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest average score."""
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def _scores(self, X: Any) -> NDArray[np.float64]:
        views = self._views(X)
        total = np.zeros((views[0][1].shape[0], self.classes_.size))
        for model, part in views:
            # A member may not have seen every class.
            columns = np.searchsorted(self.classes_, model.classes_)
            total[:, columns] += class_scores(model, part, columns.size)
        return total / len(views)


class StabilizedRegressor(RegressorMixin, _Stabilized):
    """Averages a regressor over random subspaces of the features, and over rows on request.

    See :class:`StabilizedClassifier`; the members' values are averaged.

    Parameters
    ----------
    estimator : regressor
    n_members : int, default=20
    max_features : "auto" or float, default="auto"
    max_samples : float, default=1.0
    random_state : int, default=0

    Attributes
    ----------
    members_ : SubspaceMembers
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Raises
    ------
    ValueError, TypeError
        From ``fit``, when a parameter is out of range or ``estimator`` is no regressor.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from pacsklearn.estimators import StabilizedRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = StabilizedRegressor(DecisionTreeRegressor(max_depth=4), max_features=0.6)
    >>> model.fit(X, y).score(X, y) > 0.5
    True
    """

    def fit(self, X: Any, y: Any, **fit_params: Any) -> StabilizedRegressor:
        """Fit the members; ``fit_params`` of one value a row follow the rows."""
        if not is_regressor(self.estimator):
            raise TypeError(
                "estimator of a StabilizedRegressor must be a regressor, got "
                f"{type(self.estimator).__name__}."
            )
        X, y = check_universe(self.estimator, X, y)
        self._fit_members(X, y, fit_params)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the mean of the members' values."""
        views = self._views(X)
        return np.asarray(np.mean([model.predict(part) for model, part in views], axis=0))


def stabilized(estimator: Any, stabilize: Any) -> Any:
    """Return ``estimator`` as the argument ``stabilize`` of :class:`Answers` asks for it.

    Parameters
    ----------
    estimator : classifier or regressor
    stabilize : True or int
        A number of members, True for the default one.
    """
    n_members = _MEMBERS if stabilize is True else stabilize
    try:
        count = check_integer(name="stabilize", value=n_members, minimum=1, maximum=_MOST_MEMBERS)
    except ValueError as error:
        raise ValueError(
            f"stabilize must be None, True or a number of members ({error}) Wrap the estimator in "
            "a StabilizedClassifier or StabilizedRegressor for more options."
        ) from None
    kind = StabilizedClassifier if is_classifier(estimator) else StabilizedRegressor
    return kind(estimator, n_members=count)
