"""Stepwise models of every subset at once."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from sklearn.base import clone

from pacsklearn._sklearn_compat import features_of
from pacsklearn.joint.moment_fitter import MomentFitter
from pacsklearn.joint.moments import Moments, MomentSums, is_doubtful
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.tabular.stepwise.classifier import StepwiseClassifier
from pacsklearn.tabular.stepwise.regressor import StepwiseRegressor


@final
class StepwiseRegressorFitter(MomentFitter):
    """Columns and weights from sums of products."""

    name = "stepwise_regressor"
    description = "columns and weights of all subsets from one matrix product"
    estimators = ("pacsklearn.tabular.StepwiseRegressor",)
    wants_scatter = True
    wants_targets = True

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self | None:
        return cls() if type(estimator) is StepwiseRegressor else None

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        p = moments.n_features
        if moments.scatter is None or moments.mean.size != p + 1 or is_doubtful(moments.loss):
            return False
        covariance = moments.scatter / moments.n_rows
        model.check()
        model.set_moments(
            covariance[:p, :p],
            covariance[:p, p:],
            moments.mean[:p],
            float(moments.mean[p]),
        )
        return True


@final
class StepwiseClassifierFitter(SubsetFitter):
    """Columns and directions from sums of products, scales from the subset's own rows."""

    name = "stepwise_classifier"
    description = "columns and directions of all subsets from one matrix product"
    estimators = ("pacsklearn.tabular.StepwiseClassifier",)
    wants_classes = True

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self | None:
        return cls() if type(estimator) is StepwiseClassifier else None

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        kind = getattr(getattr(X, "dtype", None), "str", "")
        if np.ndim(y) != 1 or not isinstance(X, np.ndarray) or kind != np.dtype(np.float64).str:
            return [None] * space.n_subsets
        estimator.check()
        features = features_of(X)
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        fitted: list[Any] = []
        sums = MomentSums.of_classes(X, codes, classes.size, space, scatter=True)
        for index, moments in enumerate(sums.exact(X, space)):
            own = space.rows(index)
            if moments is None or moments.scatter is None or _is_doubtful(moments, X, own):
                fitted.append(None)
                continue
            assert moments.class_count is not None
            assert moments.class_mean is not None
            model = clone(estimator)
            vars(model).update(features)
            model.classes_ = classes.copy()
            shares = moments.class_count / moments.n_rows
            cross = (shares[:, None] * (moments.class_mean - moments.mean)).T
            weights = model.weights_of(moments.scatter / moments.n_rows, cross)
            used = np.flatnonzero(np.any(weights != 0, axis=1))
            scores = (X[:, used] @ weights[used])[own]
            model.set_weights(weights, scores, codes[own])
            fitted.append(model)
        return fitted


def _is_doubtful(moments: Moments, X: Any, own: Any) -> bool:
    """Whether sums lost too much; a column that is constant on these rows is known to be."""
    flat = np.flatnonzero(moments.variance == 0)
    if flat.size and not np.all(X[np.ix_(own, flat)] == X[own[0], flat]):
        return True
    varies = moments.variance != 0
    with np.errstate(divide="ignore"):
        ratio = moments.square[varies] / moments.variance[varies]
    return bool(np.any(ratio < 0)) or is_doubtful(float(np.max(ratio, initial=1.0)))
