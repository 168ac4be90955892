"""Forests of complete trees: public structure, thresholds on a grid."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters
from pacsklearn.forests.feature_scale import feature_scale
from pacsklearn.forests.growth import (
    Impurity,
    Statistics,
    ThresholdRule,
    grow_thresholds,
    node_sums,
)
from pacsklearn.forests.structure import descend, forest_structure
from pacsklearn.information.arrays import Floats

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
    temperature: float = 0.0
    prior_count: float = 5.0
    feature_order: Any = None
    random_state: int = 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "thresholds": [StrOptions({"learned", "random"})],
        "step": [Interval(Real, 1e-4, 1, closed="both")],
        "smoothing": [Interval(Real, 0, 1, closed="both")],
        "penalty": [_NOT_NEGATIVE],
        "temperature": [_NOT_NEGATIVE],
        "prior_count": [_NOT_NEGATIVE],
    }

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Leaf that each row reaches in each tree, from 0 on; shape (n_rows, n_estimators)."""
        check_is_fitted(self, "leaf_values_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return descend(X, self.features_, self.thresholds_)

    @property
    @abstractmethod
    def impurity(self) -> Impurity:
        """What thresholds leave as little of as they can."""

    @abstractmethod
    def leaf_means(self, sums: Floats, origins: Floats) -> Floats:
        """What the leaves say, by the sums of the statistics in every node of some trees."""

    def set_leaves(self, means: Floats, sums: Floats) -> None:
        """Set ``leaf_values_`` by ``leaf_means`` and the sums of all this forest's trees."""
        self.leaf_values_ = means

    def grow(self, X: Floats, statistics: Statistics) -> None:
        """Set structure, thresholds and leaves."""
        rule = self.rule()
        structure = forest_structure(self, X.shape[1])
        scale = feature_scale(self.feature_range, X, statistics.weights)
        if self.thresholds == "random":
            self.thresholds_ = scale.raw(structure.units, structure.features)
            leaves = descend(X, structure.features, self.thresholds_)
        else:
            self.thresholds_, leaves = grow_thresholds(
                X, statistics.values, self.impurity, structure, scale, rule
            )
        self.features_ = structure.features
        self.centre_, self.half_width_ = scale
        sums = node_sums(leaves, statistics.values, 2**structure.depth)
        self.set_leaves(self.leaf_means(sums, np.full(len(sums), statistics.origin)), sums)

    def rule(self) -> ThresholdRule:
        """How thresholds are chosen, by checked parameters."""
        check_parameters(self)
        return ThresholdRule(self.step, self.smoothing, self.penalty, self.temperature)

    def average(self, X: Any) -> Floats:
        """Mean over the trees of the values of the leaves that each row reaches."""
        leaves = self.apply(X)
        total = self.leaf_values_[0][leaves[:, 0]]
        for values, reached in zip(self.leaf_values_[1:], leaves.T[1:], strict=True):
            total += values[reached]
        return np.asarray(total / leaves.shape[1])


def checked_weights(sample_weight: Any, n_rows: int) -> Floats:
    """One weight for each row."""
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
