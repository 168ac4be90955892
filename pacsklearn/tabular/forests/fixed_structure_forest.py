"""Forests of complete trees: public structure, thresholds on a grid, and what leaves say."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.forests.growth import GrowingForest, Growth, Statistics, ThresholdRule
from pacsklearn.tabular.forests.structure import descend

_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


@dataclass(eq=False, repr=False)
class FixedStructureForest(BaseEstimator):
    """What classifier and regressor share: parameters, thresholds, the way to a leaf."""

    n_estimators: int = 3
    depth: int = 3
    _: KW_ONLY
    thresholds: str = "learned"
    feature_range: Any = None
    step: float = 0.1
    smoothing: float = 0.3
    penalty: float = 0.1
    prior_count: float = 5.0
    random_state: int = 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "thresholds": [StrOptions({"learned", "random"})],
        "step": [Interval(Real, 1e-4, 1, closed="both")],
        "smoothing": [Interval(Real, 0, 1, closed="both")],
        "penalty": [_NOT_NEGATIVE],
        "prior_count": [_NOT_NEGATIVE],
    }
    # What thresholds leave as little of as they can; an ``Impurity``, which is no method.
    impurity: ClassVar[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
        """
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=is_regressor(self))
        growth, weights = Growth(self, X), checked_weights(sample_weight, len(y))
        statistics = self.statistics(self.read_targets(y), weights)
        growth.grow([GrowingForest(self, np.arange(len(y)), statistics)])
        return self

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf that each row reaches in each tree, from 0 on.

        Shape (n_rows, n_estimators).
        """
        check_is_fitted(self, "leaf_values_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return descend(X, self.features_, self.thresholds_)

    @abstractmethod
    def read_targets(self, y: Any) -> NDArray[Any]:
        """Return checked targets as :meth:`statistics` takes them."""

    @abstractmethod
    def statistics(self, targets: NDArray[Any], weights: Floats) -> Statistics:
        """Return what impurity and leaves follow from."""

    @abstractmethod
    def leaf_means(self, sums: Floats, origins: Floats) -> Floats:
        """Return what the leaves say, by the sums of the statistics in every node of some trees."""

    def set_leaves(self, means: Floats, sums: Floats) -> None:
        """Set ``leaf_values_`` by ``leaf_means`` and the sums of all this forest's trees."""
        self.leaf_values_ = means

    def rule(self) -> ThresholdRule:
        """Return how thresholds are chosen, by checked parameters."""
        check_parameters(self)
        return ThresholdRule(self.step, self.smoothing, self.penalty)

    def average(self, X: Any) -> Floats:
        """Return the mean over the trees of the values of the leaves that each row reaches."""
        leaves = self.apply(X)
        total = self.leaf_values_[0][leaves[:, 0]]
        for values, reached in zip(self.leaf_values_[1:], leaves.T[1:], strict=True):
            total += values[reached]
        return np.asarray(total / leaves.shape[1])


def checked_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return one weight for each row."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    weights = np.broadcast_to(weights, (n_rows,)) if weights.ndim == 0 else weights
    if weights.shape != (n_rows,) or weights.min() < 0 or weights.sum() == 0:
        raise ValueError(
            f"sample_weight must hold a number >= 0 for each of the {n_rows} rows, and not all "
            f"weights may be zero; got an array of shape {weights.shape}."
        )
    return weights


def shrunken_leaves(sums: Floats, mass: Floats, prior: Floats | None, prior_count: float) -> Floats:
    """Return the means in the leaves, each node's shrunk towards its parent's.

    ``prior`` stands for the root's parent; without one the root has the mean of its rows.
    """
    values = parents = sums[:, :1] / mass[:, :1, None] if prior is None else prior
    for level in range(sums.shape[1].bit_length()):
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        total = mass[:, nodes, None] + prior_count
        shrunken = sums[:, nodes] + prior_count * parents
        # Without a prior an empty node takes its parent's place.
        values = np.where(total > 0, shrunken / np.where(total > 0, total, 1.0), parents)
        parents = np.repeat(values, 2, axis=1)
    return np.asarray(values)


def common_votes(values: Floats, sums: Floats, prior_count: float) -> Floats:
    """Return each leaf's most probable class with the confidence that all leaves have together.

    Parameters
    ----------
    values : ndarray of shape (n_trees, n_leaves, n_classes)
        Probabilities.
    sums : ndarray of shape (n_trees, n_leaves, n_classes)
        Weights of the rows of each class that reach each leaf.
    prior_count : float
        Rows of equal classes added to the count.
    """
    n_classes = values.shape[-1]
    votes = _votes(values)
    right = np.sum(votes * sums) / sums.shape[0]
    total = sums.sum() / sums.shape[0]
    confidence = (right + prior_count / n_classes) / (total + prior_count)
    return _with_confidence(votes, confidence)


def repaired_votes(values: Floats) -> Floats:
    """Return the noisy votes as votes again.

    Each leaf names one class, with the leaves' mean confidence.
    """
    confidence = np.clip(values.max(axis=-1).mean(), 1 / values.shape[-1], 1.0)
    return _with_confidence(_votes(values), float(confidence))


def _votes(values: Floats) -> Floats:
    return np.asarray(np.eye(values.shape[-1])[values.argmax(axis=-1)])


def _with_confidence(votes: Floats, confidence: float) -> Floats:
    rest = (1 - confidence) / max(votes.shape[-1] - 1, 1)
    return np.asarray(rest + (confidence - rest) * votes)


def on_simplex(rows: Floats) -> Floats:
    """Return the nearest probabilities to each row; their order stays."""
    descending = -np.sort(-rows, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    last = np.sum(descending > excess, axis=1, keepdims=True) - 1
    return np.asarray(np.maximum(rows - np.take_along_axis(excess, last, axis=1), 0.0))
