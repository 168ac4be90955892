"""Nearest centroids of every subset."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pacsklearn.joint.moment_fitter import MomentFitter
from pacsklearn.joint.moments import Moments, is_doubtful


@final
class NearestCentroidFitter(MomentFitter):
    """Class means, and the spread within the classes."""

    name = "nearest_centroid"
    description = "means of the classes by one matrix product each"
    estimators = ("sklearn.neighbors.NearestCentroid",)
    wants_classes = True

    @staticmethod
    def suits(estimator: Any) -> bool:
        plain = not estimator.shrink_threshold and estimator.priors in ("uniform", "empirical")
        return plain and estimator.metric == "euclidean"

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        counts, means = moments.class_count, moments.class_mean
        n, k = moments.n_rows, counts.size
        if n <= k or k < 2:
            return False
        within = counts @ moments.class_variance
        if not np.all(within > 0):
            return False
        if is_doubtful(float(np.max(counts @ moments.class_square / within))):
            return False
        spread = np.sqrt(within / (n - k))
        share = counts / n if model.priors == "empirical" else np.full(k, 1 / k)
        scale = np.sqrt(1 / counts - 1 / n)[:, None] * (spread + np.median(spread))
        model.class_prior_ = share
        model.centroids_ = means.copy()
        model.within_class_std_dev_ = spread
        model.deviations_ = (means - moments.mean) / scale
        return True
