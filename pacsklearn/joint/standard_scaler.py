"""Standardisation of every subset."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import Any, final

import numpy as np
from sklearn.preprocessing import StandardScaler

from pacsklearn.joint.moment_fitter import MomentFitter
from pacsklearn.joint.moments import Moments, is_doubtful
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter


@final
class ColumnScaler(StandardScaler):
    """Standardise some columns, each set as its own scaler does, and leave the others as they are.

    Parameters
    ----------
    parts : dict of str to (StandardScaler, slice)
        Scalers, and the columns that each sees.
    """

    def __init__(self, parts: Mapping[str, tuple[Any, slice]] = MappingProxyType({})) -> None:
        super().__init__()
        self.parts = parts


class StandardScalerFitter(MomentFitter):
    """Mean and variance of each feature."""

    name = "standard_scaler"
    description = "means and variances of all subsets by one matrix product"
    estimators = ("sklearn.preprocessing.StandardScaler",)

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> SubsetFitter | None:
        if type(estimator) is ColumnScaler:
            return ColumnScalerFitter()
        return super().for_estimator(estimator, resolve)

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


@final
class ColumnScalerFitter(StandardScalerFitter):
    """Mean and variance of the features that are scaled; 0 and 1 in place of the others'."""

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        model.mean_, model.scale_ = np.zeros(moments.n_features), np.ones(moments.n_features)
        model.fitted_ = {}
        for name, (part, at) in model.parts.items():
            own = model.fitted_[name] = copy(part)
            mean, variance = moments.mean[at], moments.variance[at]
            seen = replace(moments, n_features=mean.size, mean=mean, variance=variance)
            if not super().fit_moments(own, seen):
                return False
            model.mean_[at] = own.mean_ if own.with_mean else 0.0
            model.scale_[at] = 1.0 if own.scale_ is None else own.scale_
        return True
