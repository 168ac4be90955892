"""Least squares, ridge regression and ridge classifiers of every subset: normal equations."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self, final

import numpy as np
from scipy.linalg.lapack import dpotrs
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier

from pacsklearn._sklearn_compat import binary_ridge_dimensions
from pacsklearn.joint.joint_problem import are_usable, class_weights
from pacsklearn.joint.moment_fitter import MomentFitter, well_conditioned
from pacsklearn.joint.moments import Moments
from pacsklearn.kernel.bounds.arrays import Floats

# Singular values this much above the tolerance at which LinearRegression drops them.
_CLEARLY = 100.0
# Penalised products of so few features cost less than calls; of more where rows are so many times
# as many that candidates share sums.
_CHEAP_FEATURES, _ROWS_A_FEATURE = 192, 8


@final
class LeastSquaresFitter(MomentFitter):
    """Coefficients from sums of products, where these are well conditioned."""

    name = "least_squares"
    description = "normal equations of all subsets by one matrix product"
    estimators = (
        "sklearn.linear_model.LinearRegression",
        "sklearn.linear_model.Ridge",
    )
    wants_scatter = True
    wants_targets = True

    @staticmethod
    def suits(estimator: Any) -> bool:
        if estimator.positive or isinstance(estimator, LinearRegression):
            return not estimator.positive
        plain = isinstance(estimator.alpha, Real) and estimator.solver in ("auto", "cholesky")
        return plain and estimator.alpha >= 0

    def pays(self, estimator: Any, n: int, p: int, n_classes: int) -> bool:
        return _ridge_pays(n, p) if isinstance(estimator, Ridge) else p < n

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        p, n = moments.n_features, moments.n_rows
        products, mean = moments.scatter, moments.mean
        if not model.fit_intercept:
            products, mean = products + n * np.outer(mean, mean), np.zeros_like(mean)
        if isinstance(model, LinearRegression) and not _keep_rank(model, products[:p, :p]):
            return False
        alpha = model.alpha if isinstance(model, Ridge) else 0.0
        coef = solved_ridge(products[:p, :p], products[:p, p:], alpha, moments.loss)
        if coef is None:
            return False
        intercept = mean[p:] - coef @ mean[:p]
        single = coef.shape[0] == 1
        model.coef_ = coef[0].copy() if single else coef.copy()
        if not model.fit_intercept:
            model.intercept_ = 0.0
        else:
            model.intercept_ = intercept[0] if single else intercept
        if isinstance(model, Ridge):
            model.n_iter_, model.solver_ = None, "cholesky"
        return True


def _ridge_pays(n: int, p: int) -> bool:
    return p <= max(_CHEAP_FEATURES, n // _ROWS_A_FEATURE)


def solved_ridge(products: Floats, towards: Floats, alpha: float, loss: float) -> Floats | None:
    """Return coefficients (outputs, p) of a penalised regression; None where rounding could show.

    Parameters
    ----------
    products : ndarray of shape (p, p)
        Sums of products of features.
    towards : ndarray of shape (p, outputs)
        Sums of products of features and targets.
    alpha : float
    loss : float
        How many times rounding errors grew already.
    """
    matrix = products.copy()
    matrix.flat[:: len(matrix) + 1] += alpha
    factored = well_conditioned(matrix, loss)
    if factored is None:
        return None
    factor, units = factored
    return np.asarray(dpotrs(factor, towards / units[:, None], lower=1)[0].T / units)


def _keep_rank(model: Any, matrix: Floats) -> bool:
    """Set what the singular values say; False where one may fall below the tolerance."""
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0.0))
    model.rank_, model.singular_ = values.size, values
    return bool(values[-1] > _CLEARLY * getattr(model, "tol", 1e-6) * values[0])


@final
class RidgeClassifierFitter(MomentFitter):
    """Regression on targets of one and minus one, which sums of each class are enough for.

    Parameters
    ----------
    wants_class_scatter : bool
        Whether classes weigh differently, so that products of features are wanted for each.
    """

    name = "ridge_classifier"
    description = "normal equations of all subsets by one matrix product"
    estimators = ("sklearn.linear_model.RidgeClassifier",)
    wants_scatter = True
    wants_classes = True

    def __init__(self, *, wants_class_scatter: bool) -> None:
        self.wants_class_scatter = wants_class_scatter

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self | None:
        if type(estimator) is not RidgeClassifier or estimator.positive:
            return None
        plain = isinstance(estimator.alpha, Real) and estimator.solver in ("auto", "cholesky")
        if not plain or estimator.alpha < 0 or not are_usable(estimator.class_weight):
            return None
        return cls(wants_class_scatter=estimator.class_weight is not None)

    def pays(self, estimator: Any, n: int, p: int, n_classes: int) -> bool:
        return _ridge_pays(n, p)

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        counts, means = moments.class_count, moments.class_mean
        if counts.size < 2:
            return False
        weights = class_weights(model.class_weight, model.classes_, counts)
        mass = counts if weights is None else counts * weights
        middle = mass @ means / mass.sum()
        apart = means - middle
        if weights is None:
            products = moments.scatter.copy()
        else:
            products = np.tensordot(weights, moments.class_scatter, axes=1)
            products += (mass[:, None] * apart).T @ apart
        targets = 2.0 * np.eye(counts.size) - 1.0
        if counts.size == 2:
            targets = targets[:, 1:]
        level = mass @ targets / mass.sum()
        if not model.fit_intercept:
            products += mass.sum() * np.outer(middle, middle)
            apart, level, middle = means, np.zeros_like(level), np.zeros_like(middle)
        coef = solved_ridge(
            products, (mass[:, None] * apart).T @ (targets - level), model.alpha, moments.loss
        )
        if coef is None:
            return False
        intercept = level - coef @ middle
        if counts.size == 2:
            dimensions = binary_ridge_dimensions()
            coef = coef[0] if dimensions[0] == 1 else coef
            intercept = intercept[0] if dimensions[1] == 0 else intercept
        model.coef_ = coef.copy()
        model.intercept_ = intercept if model.fit_intercept else 0.0
        model.n_iter_, model.solver_ = None, "cholesky"
        return True
