"""Gaussian naive Bayes of every subset."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pacsklearn.joint.moment_fitter import MomentFitter
from pacsklearn.joint.moments import Moments, is_doubtful


@final
class GaussianNBFitter(MomentFitter):
    """Means and variances of each class, where no variance is lost in a difference."""

    name = "gaussian_nb"
    description = "means and variances of the classes by one matrix product each"
    estimators = ("sklearn.naive_bayes.GaussianNB",)
    wants_classes = True

    @staticmethod
    def suits(estimator: Any) -> bool:
        return estimator.priors is None

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        widest = int(np.argmax(moments.variance))
        smoothing = float(model.var_smoothing * moments.variance[widest])
        variance = moments.class_variance + smoothing
        if not np.all(variance > 0) or moments.variance[widest] <= 0:
            return False
        worst = float(np.max(moments.class_square / variance))
        if is_doubtful(worst) or is_doubtful(moments.loss):
            return False
        model.epsilon_ = np.float64(smoothing)
        model.theta_, model.var_ = moments.class_mean.copy(), variance
        model.class_count_ = moments.class_count.copy()
        model.class_prior_ = model.class_count_ / model.class_count_.sum()
        return True
