"""Where the grid of thresholds lies on each feature."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pacsklearn.information.arrays import Floats

# Standard deviations to either side of the mean.
_WIDTH = 2.5


class FeatureScale(NamedTuple):
    """Middle and half the width of each feature's range; units run from -1 to 1."""

    centre: Floats
    half_width: Floats

    def raw(self, units: Any, features: Any) -> Floats:
        """Thresholds of the given ``features`` in the features' own units."""
        return np.asarray(self.centre[features] + self.half_width[features] * units)


def public_scale(feature_range: Any, n_features: int) -> FeatureScale:
    """Scale by a range that the user states.

    Parameters
    ----------
    feature_range : (low, high)
        Numbers, or arrays with one number for each feature.
    n_features : int
    """
    problem = (
        "feature_range must be None or a pair (low, high) with low < high, each a number or one "
        f"number for each of the {n_features} features"
    )
    try:
        low, high = (np.asarray(end, dtype=np.float64) for end in feature_range)
        low, high = np.broadcast_to(low, (n_features,)), np.broadcast_to(high, (n_features,))
    except (TypeError, ValueError):
        raise ValueError(f"{problem}, got {type(feature_range).__name__}.") from None
    if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high)) and np.all(low < high)):
        raise ValueError(f"{problem}; for some feature they are not finite or low >= high.")
    return FeatureScale((low + high) / 2, (high - low) / 2)


def feature_scale(feature_range: Any, X: Floats, weights: Floats) -> FeatureScale:
    """The stated scale, or mean and standard deviation of the rows at hand."""
    if feature_range is not None:
        return public_scale(feature_range, X.shape[1])
    shares = weights / weights.sum()
    mean = shares @ X
    spread = np.sqrt(shares @ (X - mean) ** 2)
    return spanned_scale(mean, spread)


def spanned_scale(mean: Floats, spread: Floats) -> FeatureScale:
    """Scale of columns with this mean and standard deviation."""
    flat = spread <= 1e-12 * np.maximum(np.abs(mean), np.finfo(np.float64).tiny)
    return FeatureScale(mean, np.where(flat, 1.0, _WIDTH * spread))
