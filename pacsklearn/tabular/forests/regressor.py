"""Forests of complete trees with a number in each leaf."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.forests.fixed_structure_forest import FixedStructureForest, shrunken_leaves
from pacsklearn.tabular.forests.growth import Statistics, squared_error


@dataclass(eq=False, repr=False)
class FixedStructureForestRegressor(RegressorMixin, FixedStructureForest):
    """Forest of complete trees of a given depth with a number in each leaf, made to be released.

    As :class:`FixedStructureForestClassifier`, with squared error in place of entropy.

    Parameters
    ----------
    n_estimators, depth, thresholds, feature_range, step, smoothing, random_state
        As there.
    penalty : float, default=0.01
        Share of the target's variance added for each unit of a threshold's distance from the
        middle of the range.
    prior_count : float, default=5.0
        Each node's mean is shrunk towards its parent's as if this many rows of it had been seen,
        and the root's towards the middle of ``target_range`` where one is stated.
    target_range : (low, high), default=None
        Public range of the target; targets and predictions are clipped to it. It must not be
        looked up in the data.

    Attributes
    ----------
    features_, thresholds_, centre_, half_width_, n_features_in_, feature_names_in_
        As there.
    leaf_values_ : ndarray of shape (n_estimators, 2**depth, 1)
        Means.

    Raises
    ------
    ValueError
        From ``fit``, when a parameter is out of range; the message names it.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pacsklearn.tabular import FixedStructureForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> FixedStructureForestRegressor(10).fit(X, y).score(X, y) > 0.4
    True
    """

    _: KW_ONLY
    penalty: float = 0.01
    target_range: Any = None

    impurity = staticmethod(squared_error)

    def read_targets(self, y: Any) -> Floats:
        """Return the targets inside ``target_range``."""
        return self.clipped(y.astype(np.float64))

    def statistics(self, targets: Floats, weights: Floats) -> Statistics:
        """Return each row's weight, that times its target, and times the target's square."""
        mean = float(np.average(targets, weights=weights))
        apart = targets - mean
        values = weights[:, None] * np.column_stack([np.ones_like(apart), apart, apart**2])
        codes = np.zeros(len(apart), dtype=np.uint32)
        return Statistics(codes, values.T, values.sum(axis=0), weights, mean)

    def leaf_means(self, sums: Floats, origins: Floats) -> Floats:
        """Compute means from the statistics' sums in every node of some trees, of these origins."""
        origins, prior = origins[:, None, None], None
        if self.target_range is not None:
            prior = np.mean(_checked_range(self.target_range)) - origins
        return shrunken_leaves(sums[..., 1:2], sums[..., 0], prior, self.prior_count) + origins

    def predict(self, X: Any) -> Floats:
        """Predict the mean of the trees' numbers, inside ``target_range``."""
        return self.clipped(self.average(X)[:, 0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Features that are asked about are not chosen, and a mean of few trees varies less.
        tags.regressor_tags.poor_score = True
        return tags

    def clipped(self, y: Floats) -> Floats:
        """Clip targets or predictions to ``target_range``."""
        return y if self.target_range is None else np.clip(y, *_checked_range(self.target_range))


def _checked_range(target_range: Any) -> tuple[float, float]:
    try:
        low, high = map(float, target_range)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(
            "target_range must be None or a pair of finite numbers (low, high) with low < high, "
            f"got {target_range!r}."
        )
    return low, high
