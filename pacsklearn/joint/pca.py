"""Principal components of every subset, from its covariance matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.extmath import svd_flip

from pacsklearn.joint.moment_fitter import MomentFitter
from pacsklearn.joint.moments import Moments, is_doubtful

_MOST_FEATURES = 1000
_TALL = 10
_TIE = 1e-8


@final
class PCAFitter(MomentFitter):
    """Eigenvectors of the covariance matrix, where scikit-learn takes them too."""

    name = "pca"
    description = "covariance matrices of all subsets by one matrix product"
    estimators = ("sklearn.decomposition.PCA",)
    wants_scatter = True

    @staticmethod
    def suits(estimator: Any) -> bool:
        count = estimator.n_components
        plain = estimator.svd_solver in ("auto", "covariance_eigh")
        return plain and (count is None or (type(count) is int and count > 0))

    def pays(self, estimator: Any, n: int, p: int, n_classes: int) -> bool:
        tall = n >= _TALL * p and p <= _MOST_FEATURES
        return p < n and (tall or estimator.svd_solver == "covariance_eigh")

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        p, n = moments.n_features, moments.n_rows
        count = p if model.n_components is None else int(model.n_components)
        if count > p or not self.pays(model, n, p, 0):
            return False
        covariance = moments.scatter[:p, :p] / (n - 1)
        # One more than is kept: an axis is as sure as its variance is apart from the next one.
        first = max(p - count - 1, 0)
        values, axes = eigh(covariance, subset_by_index=(first, p - 1), check_finite=False)
        values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
        apart = float(np.min(values[:-1] - values[1:], initial=np.inf))
        nearest = min(apart, float(values[count - 1]))
        if nearest <= 0 or is_doubtful(moments.loss, float(values[0]) / nearest):
            return False
        # An axis is signed by its largest number: rounding would choose between two such, as those
        # of the two categories of a column are.
        highest, lowest = axes[:, :count].max(axis=0), axes[:, :count].min(axis=0)
        if np.any(np.abs(highest + lowest) <= _TIE * highest):
            return False
        components = svd_flip(None, axes.T.copy(), u_based_decision=False)[1]
        model._fit_svd_solver = "covariance_eigh"
        model.mean_, model.n_samples_, model.n_components_ = moments.mean[:p].copy(), n, count
        model.components_ = components[:count].copy()
        model.explained_variance_ = values[:count].copy()
        total = np.trace(covariance)
        model.explained_variance_ratio_ = values[:count] / total
        model.singular_values_ = np.sqrt(values[:count] * (n - 1))
        left = max(total - values[:count].sum(), 0.0)
        model.noise_variance_ = left / (p - count) if count < p else 0.0
        return True

    def transform_moments(self, model: Any, moments: Moments) -> Moments:
        p, count = moments.n_features, model.n_components_
        others = moments.mean.size - p
        turn = np.zeros((count + others, p + others))
        turn[:count, :p] = model.components_
        if model.whiten:
            turn[:count] /= np.sqrt(model.explained_variance_)[:, None]
        turn[count:, p:] = np.eye(others)
        shift = np.append(model.mean_, np.zeros(others))
        scatter, mean = turn @ moments.scatter @ turn.T, turn @ (moments.mean - shift)
        variance = np.diag(scatter) / moments.n_rows
        return replace(
            moments,
            n_features=count,
            mean=mean,
            variance=variance,
            square=variance + mean**2,
            scatter=scatter,
        )
