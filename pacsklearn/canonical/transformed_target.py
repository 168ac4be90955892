"""Regressors of a transformed target: the regressor, and what turns its predictions back."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, final

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from pacsklearn._sklearn_compat import has_log_link
from pacsklearn.canonical.linear import LinearRegressorCanonicalizer
from pacsklearn.canonical.parts import Part, encode_parts, metric_of_parts
from pacsklearn.canonical.pipeline import PipelineCanonicalizer
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Constant, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric

_SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)
_STEP = 1e-6


@final
class TransformedTargetCanonicalizer(Canonicalizer):
    """A regressor behind functions that are public, like every other parameter.

    Parameters
    ----------
    part : Canonicalizer
        Of the regressor.
    """

    name = "transformed_target"
    description = (
        "a regressor of a target transformed by public functions, or linear and of a scaled one"
    )
    estimators = ("sklearn.compose.TransformedTargetRegressor",)

    def __init__(self, part: Canonicalizer) -> None:
        self.part = part
        self.noised = tuple(f"regressor_: {what}" for what in part.noised)
        self.is_searched, self.reads_rows = part.is_searched, part.reads_rows

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> Canonicalizer:
        part = resolve(_blank(estimator))
        if estimator.transformer is None:
            return cls(part)
        if type(estimator.transformer) in _SCALERS and _is_linear(_blank(estimator), part):
            return ScaledTargetCanonicalizer(part)
        kind = type(estimator.transformer).__name__
        raise NoCanonicalizerError(
            f"{type(estimator).__name__}(transformer={kind}()) learns from the targets how to turn "
            "predictions back.",
            "Give func= and inverse_func=, which are public, or a linear regressor with a scaler "
            "of the targets, which is folded into its weights.",
        )

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encode_parts(self._parts(estimator, X), dimensions=int(estimator._training_dim))

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        child = layout.children[0][1]
        template.regressor_ = self.part.decode(vector, child, _blank(template))
        template._training_dim = layout.fact("dimensions")
        template.transformer_ = FunctionTransformer(
            func=template.func,
            inverse_func=template.inverse_func,
            validate=True,
            check_inverse=False,
        ).fit(np.ones((2, 1)))
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        return self.part.align(vectors, layout.children[0][1])

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the metric of the regressor: the change of the transformed prediction."""
        return metric_of_parts(self._parts(estimator, X), layout, vectors)

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        """Return the regressor's constant for the transformed value, with the slope back."""
        inner, slope = value, 1.0
        if template.func is not None:
            inner = _at(template.func, value)
        if template.inverse_func is not None:
            step = _STEP * max(abs(inner), 1.0)
            ends = [_at(template.inverse_func, inner + side * step) for side in (1.0, -1.0)]
            slope = (ends[0] - ends[1]) / (2 * step)
        if not (np.isfinite(inner) and np.isfinite(slope)):
            raise ValueError(
                f"The expected {value!r} is outside what func and inverse_func of "
                f"{type(template).__name__} are defined for; give one inside."
            )
        constant = self.part.constant(layout.children[0][1], inner, _blank(template))
        return None if constant is None else replace(constant, slope=constant.slope * slope)

    def _parts(self, estimator: Any, X: Any) -> list[Part]:
        return [Part("regressor", self.part, estimator.regressor_, X)]


@final
class ScaledTargetCanonicalizer(Canonicalizer):
    """A linear regressor of scaled targets: the scale is folded into its weights.

    The model that is released is the regressor alone, which predicts the targets themselves.

    Parameters
    ----------
    part : Canonicalizer
        Of the regressor.
    """

    def __init__(self, part: Canonicalizer) -> None:
        self.part, self.noised, self.methods = part, part.noised, part.methods
        self.is_searched, self.reads_rows = part.is_searched, part.reads_rows

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return self.part.encode(_unscaled(estimator), X)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        return self.part.decode(vector, layout, _blank(template))

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        return self.part.align(vectors, layout)

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        return self.part.metric(layout, _unscaled(estimator), X, vectors)

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        return self.part.constant(layout, value, _blank(template))


def _blank(estimator: Any) -> Any:
    return LinearRegression() if estimator.regressor is None else clone(estimator.regressor)


def _is_linear(regressor: Any, part: Canonicalizer) -> bool:
    """Return whether the regressor predicts a linear function of what reaches its last step."""
    if isinstance(part, PipelineCanonicalizer) and type(regressor) is Pipeline:
        regressor, part = regressor.steps[-1][1], part.steps[-1][1]
    return type(part) is LinearRegressorCanonicalizer and not has_log_link(regressor)


def _unscaled(estimator: Any) -> Any:
    """Return a fitted regressor that predicts the targets, not the scaled ones."""
    return _with_output(estimator.regressor_, estimator.transformer_)


def _with_output(regressor: Any, scaler: Any) -> Any:
    changed = copy.copy(regressor)
    if isinstance(regressor, Pipeline):
        *steps, (name, last) = regressor.steps
        changed.steps = [*steps, (name, _with_output(last, scaler))]
        return changed
    width = int(scaler.n_features_in_)
    # Two points give an affine map, whichever scaler it is.
    origin = scaler.inverse_transform(np.zeros((1, width)))[0]
    scale = scaler.inverse_transform(np.ones((1, width)))[0] - origin
    coef, intercept = np.asarray(regressor.coef_), np.asarray(regressor.intercept_)
    changed.coef_ = coef * (scale[:, None] if coef.ndim == 2 else scale[0])
    if coef.ndim == 2 or intercept.ndim:
        changed.intercept_ = intercept * scale + origin
    else:
        changed.intercept_ = intercept * scale[0] + origin[0]
    return changed


def _at(function: Callable[[Any], Any], value: float) -> float:
    return float(np.asarray(function(np.array([[value]]))).ravel()[0])
