"""Ridge classifiers of every subset, by the normal equations."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, final

import numpy as np
from sklearn.linear_model import RidgeClassifier

from pacsklearn._sklearn_compat import binary_ridge_dimensions
from pacsklearn.core.subset_fitter import SubsetFitter
from pacsklearn.fitting.class_weights import are_usable, class_weights
from pacsklearn.fitting.least_squares import solved_ridge
from pacsklearn.fitting.moment_fitter import MomentFitter
from pacsklearn.fitting.moments import Moments

_BINARY = 2


@final
class RidgeClassifierFitter(MomentFitter):
    """Regression on targets of one and minus one, which sums of each class are enough for.

    Parameters
    ----------
    wants_class_scatter : bool
        Whether classes weigh differently, so that products of features are wanted for each.
    """

    wants_scatter = True
    wants_classes = True

    def __init__(self, *, wants_class_scatter: bool) -> None:
        self.wants_class_scatter = wants_class_scatter

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> RidgeClassifierFitter | None:
        if type(estimator) is not RidgeClassifier or estimator.positive:
            return None
        plain = isinstance(estimator.alpha, Real) and estimator.solver in ("auto", "cholesky")
        if not plain or estimator.alpha < 0 or not are_usable(estimator.class_weight):
            return None
        return cls(wants_class_scatter=estimator.class_weight is not None)

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        counts, means = moments.class_count, moments.class_mean
        if counts is None or means is None or counts.size < _BINARY:
            return False
        weights = class_weights(model.class_weight, model.classes_, counts)
        mass = counts if weights is None else counts * weights
        middle = mass @ means / mass.sum()
        apart = means - middle
        if weights is None:
            assert moments.scatter is not None
            products = moments.scatter.copy()
        else:
            assert moments.class_scatter is not None
            products = np.tensordot(weights, moments.class_scatter, axes=1)
            products += (mass[:, None] * apart).T @ apart
        targets = 2.0 * np.eye(counts.size) - 1.0
        if counts.size == _BINARY:
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
        if counts.size == _BINARY:
            dimensions = binary_ridge_dimensions()
            coef = coef[0] if dimensions[0] == 1 else coef
            intercept = intercept[0] if dimensions[1] == 0 else intercept
        model.coef_ = coef.copy()
        model.intercept_ = intercept if model.fit_intercept else 0.0
        model.n_iter_, model.solver_ = None, "cholesky"
        return True
