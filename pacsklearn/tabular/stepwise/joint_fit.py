"""Stepwise models of every subset at once."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pacsklearn.joint.moment_fitter import MomentFitter
from pacsklearn.joint.moments import Moments, is_doubtful
from pacsklearn.kernel.bounds.arrays import MOST_CELLS, Floats
from pacsklearn.kernel.secret.secret_space import SecretSpace


@final
class StepwiseRegressorFitter(MomentFitter):
    """Columns and weights from sums of products."""

    name = "stepwise_regressor"
    description = "columns and weights of all subsets from one matrix product"
    estimators = ("pacsklearn.tabular.StepwiseRegressor",)
    wants_scatter = True
    wants_targets = True

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        p = moments.n_features
        if moments.mean.size != p + 1 or is_doubtful(moments.loss):
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
class StepwiseClassifierFitter(MomentFitter):
    """Columns and directions from sums of products, scales from the subset's own rows."""

    name = "stepwise_classifier"
    description = "columns and directions of all subsets from one matrix product"
    estimators = ("pacsklearn.tabular.StepwiseClassifier",)
    wants_scatter = True
    wants_classes = True
    needs_rows = True
    most_classes = 64

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        if is_doubtful(moments.loss):
            return False
        model.check()
        shares = moments.class_count / moments.n_rows
        cross = (shares[:, None] * (moments.class_mean - moments.mean)).T
        model.coef_ = model.weights_of(moments.scatter / moments.n_rows, cross).T
        return True

    def finish(self, models: dict[int, Any], rows: Floats, codes: Any, space: SecretSpace) -> None:
        indices = list(models)
        step = max(1, MOST_CELLS // (len(rows) * (codes.max() + 1)))
        for start in range(0, len(indices), step):
            some = indices[start : start + step]
            # Scores of all rows by several models at once; each is scaled by its own rows.
            scores = rows @ np.hstack([models[index].coef_.T for index in some])
            for index, apart in zip(some, np.split(scores, len(some), axis=1), strict=True):
                own, model = space.rows(index), models[index]
                model.set_weights(model.coef_.T, apart[own], codes[own])
