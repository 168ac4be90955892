"""Least squares and ridge regression of every subset, by the normal equations."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, final

import numpy as np
from scipy.linalg.lapack import dpotrs
from sklearn.linear_model import LinearRegression, Ridge

from pacsklearn.core.subset_fitter import SubsetFitter
from pacsklearn.fitting.moment_fitter import MomentFitter, well_conditioned
from pacsklearn.fitting.moments import Moments
from pacsklearn.information.arrays import Floats

# Singular values this much above the tolerance at which LinearRegression drops them.
_CLEARLY = 100.0


@final
class LeastSquaresFitter(MomentFitter):
    """Coefficients from sums of products, where these are well conditioned."""

    wants_scatter = True
    wants_targets = True

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> LeastSquaresFitter | None:
        if type(estimator) is LinearRegression:
            return None if estimator.positive else cls()
        if type(estimator) is Ridge and not estimator.positive:
            plain = isinstance(estimator.alpha, Real) and estimator.solver in ("auto", "cholesky")
            return cls() if plain and estimator.alpha >= 0 else None
        return None

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        p, n = moments.n_features, moments.n_rows
        assert moments.scatter is not None
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


def solved_ridge(products: Floats, towards: Floats, alpha: float, loss: float) -> Floats | None:
    """Coefficients (outputs, p) of a penalised regression; None where rounding could show.

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
