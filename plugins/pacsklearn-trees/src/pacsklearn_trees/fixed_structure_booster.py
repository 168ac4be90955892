"""Boosted trees whose splits are public and drawn without data: only leaf values are learned."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

__all__ = ["FixedStructureBoosterClassifier", "FixedStructureBoosterRegressor", "Structure"]

Floats = NDArray[np.float64]


class Structure:
    """Complete trees with random splits inside a box; a function of public numbers alone.

    Each node splits its own cell: a random feature, at a uniform place between the cell's ends.

    Parameters
    ----------
    low, high : ndarray of shape (n_features,)
        Ends of the box.
    n_trees, depth, seed : int
    """

    def __init__(self, low: Floats, high: Floats, n_trees: int, depth: int, seed: int) -> None:
        generator = np.random.default_rng(seed)
        n_nodes, trees = 2**depth - 1, np.arange(n_trees)
        self.depth, self.n_leaves = depth, 2**depth
        self.features = generator.integers(low.size, size=(n_trees, n_nodes))
        self.thresholds = generator.uniform(size=(n_trees, n_nodes))
        ends = np.empty((2, n_trees, 2 * n_nodes + 1, low.size))
        ends[:, :, 0] = np.stack([low, high])[:, None]
        for node in range(n_nodes):
            feature = self.features[:, node]
            left, right = ends[:, trees, node, feature]
            self.thresholds[:, node] = left + (right - left) * self.thresholds[:, node]
            ends[:, :, 2 * node + 1] = ends[:, :, 2 * node + 2] = ends[:, :, node]
            ends[1, trees, 2 * node + 1, feature] = self.thresholds[:, node]
            ends[0, trees, 2 * node + 2, feature] = self.thresholds[:, node]

    def leaves(self, X: Floats) -> NDArray[np.intp]:
        """Leaf of every row in every tree; shape (n_trees, n)."""
        found = np.zeros((len(self.features), len(X)), dtype=np.intp)
        rows = np.arange(len(X))
        for tree, node in enumerate(found):
            for _ in range(self.depth):
                above = X[rows, self.features[tree, node]] > self.thresholds[tree, node]
                node[:] = 2 * node + 1 + above
        return found - (self.n_leaves - 1)


@dataclass(eq=False, repr=False)
class _FixedStructureBooster(BaseEstimator):
    """What the classifier and the regressor share."""

    feature_ranges: Any = None
    _: KW_ONLY
    n_estimators: int = 50
    max_depth: int = 3
    learning_rate: float = 0.3
    reg_lambda: float = 1.0
    structure_seed: int = 0

    def structure(self, n_features: int) -> Structure:
        """Trees without leaf values, from the parameters alone.

        Raises
        ------
        ValueError
            When ``feature_ranges`` is missing or is no box of so many features.
        """
        if self.feature_ranges is None:
            raise ValueError(
                "feature_ranges is missing: give (low, high), each a number or one number for "
                "every feature, chosen without looking at the data. Splits are drawn between them."
            )
        try:
            low, high = (
                np.broadcast_to(np.asarray(end, dtype=np.float64), (n_features,))
                for end in self.feature_ranges
            )
        except (TypeError, ValueError):
            raise ValueError(
                "feature_ranges must be (low, high), each a number or one number for each of the "
                f"{n_features} features, got {self.feature_ranges!r}."
            ) from None
        if not (np.all(np.isfinite(high - low)) and np.all(low <= high)):
            raise ValueError("feature_ranges must be finite, and no low may be above its high.")
        if min(self.n_estimators, self.max_depth) < 1:
            raise ValueError(
                "n_estimators and max_depth must be at least 1, got "
                f"{self.n_estimators!r} and {self.max_depth!r}."
            )
        return Structure(low, high, self.n_estimators, self.max_depth, self.structure_seed)

    def _raw(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        leaves = self.structure(self.n_features_in_).leaves(X)
        return self.intercept_ + np.take_along_axis(self.leaf_values_, leaves, axis=1).sum(axis=0)

    def _boost(self, X: Floats, y: Floats) -> None:
        structure = self.structure(X.shape[1])
        self.intercept_ = self._start(y)
        self.leaf_values_ = np.empty((self.n_estimators, structure.n_leaves))
        raw = np.full(len(y), self.intercept_)
        for tree, leaves in enumerate(structure.leaves(X)):
            gradient, hessian = self._slopes(raw, y)
            total = np.bincount(leaves, gradient, structure.n_leaves)
            curvature = np.bincount(leaves, hessian, structure.n_leaves) + self.reg_lambda
            # A leaf without rows says nothing, also when nothing holds it back.
            step = np.divide(total, curvature, out=np.zeros_like(total), where=curvature > 0)
            self.leaf_values_[tree] = -self.learning_rate * step
            raw += self.leaf_values_[tree, leaves]


class FixedStructureBoosterClassifier(ClassifierMixin, _FixedStructureBooster):
    """Gradient boosting for two classes on trees whose splits are public.

    XGBoost's Newton steps, round by round, on complete trees drawn at random inside public ranges.
    The splits know nothing of the data, so all that is learned is one number for each leaf, and
    ``PACPrivate`` releases those as parameters.

    Parameters
    ----------
    feature_ranges : (low, high)
        Public ends of each feature: numbers, or arrays of shape (n_features,).
    n_estimators : int, default=50
        Trees.
    max_depth : int, default=3
        Every tree has ``2 ** max_depth`` leaves.
    learning_rate : float, default=0.3
    reg_lambda : float, default=1.0
        Pulls leaf values to 0; larger values make them stabler and so cheaper to release.
    structure_seed : int, default=0
        Public seed of the splits.

    Attributes
    ----------
    leaf_values_ : ndarray of shape (n_estimators, 2 ** max_depth)
    intercept_ : float
    classes_ : ndarray of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pacsklearn_trees import FixedStructureBoosterClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = FixedStructureBoosterClassifier((-2, 2)).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.9)
    True
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> FixedStructureBoosterClassifier:
        """Learn the leaf values."""
        rows, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size != 2:
            raise ValueError(
                "Only binary classification is supported. FixedStructureBoosterClassifier got "
                f"{self.classes_.size} class{'es' * (self.classes_.size != 1)} in y."
            )
        self._boost(rows, codes.astype(np.float64))
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Log-odds of the second class."""
        return self._raw(X)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of both classes."""
        share = expit(self._raw(X))
        return np.column_stack([1 - share, share])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """More probable class."""
        above = self._raw(X) > 0
        return self.classes_[above.astype(np.intp)]

    def _start(self, y: Floats) -> float:
        share = y.mean()
        return float(np.log(share / (1 - share)))

    def _slopes(self, raw: Floats, y: Floats) -> tuple[Floats, Floats]:
        share = expit(raw)
        return share - y, share * (1 - share)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class FixedStructureBoosterRegressor(RegressorMixin, _FixedStructureBooster):
    """Gradient boosting of squared error on trees whose splits are public.

    See :class:`FixedStructureBoosterClassifier`.

    Parameters
    ----------
    feature_ranges : (low, high)
        Public ends of each feature: numbers, or arrays of shape (n_features,).
    n_estimators : int, default=50
        Trees.
    max_depth : int, default=3
        Every tree has ``2 ** max_depth`` leaves.
    learning_rate : float, default=0.3
    reg_lambda : float, default=1.0
        Pulls leaf values to 0.
    structure_seed : int, default=0
        Public seed of the splits.

    Attributes
    ----------
    leaf_values_ : ndarray of shape (n_estimators, 2 ** max_depth)
    intercept_ : float
    n_features_in_ : int
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> FixedStructureBoosterRegressor:
        """Learn the leaf values."""
        rows, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._boost(rows, np.asarray(y, dtype=np.float64))
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Value of every row."""
        return self._raw(X)

    def _start(self, y: Floats) -> float:
        return float(y.mean())

    def _slopes(self, raw: Floats, y: Floats) -> tuple[Floats, Floats]:
        return raw - y, np.ones_like(y)
