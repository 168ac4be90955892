"""Linear discriminant analysis of every subset, from its scatter within the classes."""

from __future__ import annotations

from numbers import Real
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import lda_degrees_of_freedom
from pacsklearn.joint.moment_fitter import MomentFitter
from pacsklearn.joint.moments import Moments, is_doubtful
from pacsklearn.kernel.bounds.arrays import Floats

# How far a singular value has to be from the tolerance at which it is dropped.
_CLEARLY = 100.0
_LARGEST_CONDITION = 1e7
# So many numbers of single precision add up exactly in double precision.
_EXACT_ROWS = 2**28


@final
class LDAFitter(MomentFitter):
    """Weights, and for the solver ``"svd"`` the discriminant axes, up to their sign."""

    name = "lda"
    description = "scatter within the classes of all subsets by one matrix product"
    estimators = ("sklearn.discriminant_analysis.LinearDiscriminantAnalysis",)
    wants_scatter = True
    wants_classes = True

    @staticmethod
    def suits(estimator: Any) -> bool:
        unset = ("priors", "covariance_estimator", "n_components")
        plain = all(getattr(estimator, name) is None for name in unset)
        svd = estimator.solver == "svd" and not estimator.store_covariance
        if estimator.shrinkage is not None:  # "auto" needs more than second moments
            svd, plain = False, plain and isinstance(estimator.shrinkage, Real)
        return plain and (svd or estimator.solver == "lsqr")

    def pays(self, estimator: Any, n: int, p: int, n_classes: int) -> bool:
        return p <= n - n_classes  # more features leave nothing to invert within the classes

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        counts, means, n = moments.class_count, moments.class_mean, moments.n_rows
        if n <= counts.size:
            return False
        apart = means - moments.mean
        within = moments.scatter - (counts[:, None] * apart).T @ apart
        if model.shrinkage is not None:
            # The classes' covariances are shrunk alike, so that their mean may be instead.
            level = float(np.trace(within)) / len(within)
            within = (1 - model.shrinkage) * within + model.shrinkage * level * np.eye(len(within))
        spread = np.sqrt(np.maximum(np.diag(within), 0.0) / n)
        kept = spread > 0
        if not np.all(kept | _dropped(model, moments)):
            return False
        within, spread = within[np.ix_(kept, kept)], spread[kept]
        # What is left of the total is what the classes do not explain.
        left = float(np.max(np.diag(moments.scatter)[kept] / np.diag(within), initial=1.0))
        values, axes = np.linalg.eigh(within / np.outer(spread, spread))
        if not values.size or values[0] <= 0:
            return False
        if is_doubtful(moments.loss, left, values[-1] / values[0]):
            return False
        model.priors_, model.means_ = counts / n, means.copy()
        model._max_components = model._n_features_out = min(counts.size - 1, means.shape[1])
        if model.solver == "lsqr":
            solved = _by_least_squares(model, within / n)
        else:
            degrees = lda_degrees_of_freedom(n, counts.size)
            whole = np.zeros((kept.size, spread.size))
            whole[kept] = axes / spread[:, None]
            solved = _by_svd(model, whole, np.sqrt(values / degrees), n)
        if not solved:
            return False
        if counts.size == 2:
            model.coef_ = np.diff(model.coef_, axis=0)
            model.intercept_ = np.diff(model.intercept_)
        return True


def _dropped(model: Any, moments: Moments) -> NDArray[np.bool_]:
    """Return the columns of one number, of which the ordinary fit makes no axis.

    It subtracts means that it sums up, which leaves nothing where no sum is rounded.
    """
    flat = (moments.variance == 0) & (moments.mean.astype(np.float32) == moments.mean)
    return flat & (model.solver == "svd" and moments.n_rows < _EXACT_ROWS)


def _by_svd(model: Any, axes: Floats, singular: Floats, n: int) -> bool:
    if singular[0] <= _CLEARLY * model.tol:
        return False
    k, whitening = len(model.priors_), axes / singular
    model.xbar_ = model.priors_ @ model.means_
    apart = model.means_ - model.xbar_
    weights = np.sqrt(n * model.priors_ / max(k - 1, 1))
    _, between, turn = np.linalg.svd((weights[:, None] * apart) @ whitening, full_matrices=False)
    kept = between > model.tol * between[0]
    clear = np.where(kept, between > _CLEARLY * model.tol * between[0], True)
    if not np.all(clear & (kept | (between * _CLEARLY < model.tol * between[0]))):
        return False
    ratio = between**2 / np.sum(between**2)
    model.explained_variance_ratio_ = ratio[: model._max_components]
    model.scalings_ = whitening @ turn[: np.sum(kept)].T
    scores = apart @ model.scalings_
    model.coef_ = scores @ model.scalings_.T
    model.intercept_ = -0.5 * np.sum(scores**2, axis=1) + np.log(model.priors_)
    model.intercept_ -= model.xbar_ @ model.coef_.T
    return True


def _by_least_squares(model: Any, covariance: Floats) -> bool:
    raw = np.linalg.eigvalsh(covariance)
    # scikit-learn solves in the features' own units, to this much less than double precision.
    if raw[-1] > _LARGEST_CONDITION * raw[0]:
        return False
    model.covariance_ = covariance
    model.coef_ = np.linalg.solve(covariance, model.means_.T).T
    model.intercept_ = -0.5 * np.sum(model.means_ * model.coef_, axis=1) + np.log(model.priors_)
    return True
