"""Standardisation of every subset."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

import numpy as np

from pacsklearn.joint.moment_fitter import MomentFitter
from pacsklearn.joint.moments import Moments, is_doubtful


@final
class StandardScalerFitter(MomentFitter):
    """Mean and variance of each feature."""

    name = "standard_scaler"
    description = "means and variances of all subsets by one matrix product"
    estimators = ("sklearn.preprocessing.StandardScaler",)

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        p = moments.n_features
        if is_doubtful(moments.loss):
            return False
        counted = np.float64 if model.with_mean or model.with_std else np.int64
        model.n_samples_seen_ = counted(moments.n_rows)
        model.mean_, model.var_, model.scale_ = moments.mean[:p].copy(), None, None
        if model.with_std:
            model.var_ = moments.variance[:p].copy()
            model.scale_ = np.sqrt(np.where(model.var_ > 0, model.var_, 1.0))
        elif not model.with_mean:
            model.mean_ = None
        return True

    def transform_moments(self, model: Any, moments: Moments) -> Moments:
        p, q = moments.n_features, moments.mean.size
        shift, scale = np.zeros(q), np.ones(q)
        if model.with_mean:
            shift[:p] = model.mean_
        if model.scale_ is not None:
            scale[:p] = model.scale_
        mean, variance = (moments.mean - shift) / scale, moments.variance / scale**2
        moved = replace(moments, mean=mean, variance=variance, square=variance + mean**2)
        if moments.scatter.size:
            moved = replace(moved, scatter=moments.scatter / np.outer(scale, scale))
        if moments.class_mean.size:
            moved = replace(
                moved,
                class_mean=(moments.class_mean - shift[:p]) / scale[:p],
                class_variance=moments.class_variance / scale[:p] ** 2,
                # Still the amplification of what was subtracted before.
                class_square=moments.class_square / scale[:p] ** 2,
            )
        if moments.class_scatter.size:
            units = np.outer(scale[:p], scale[:p])
            moved = replace(moved, class_scatter=moments.class_scatter / units)
        return moved
