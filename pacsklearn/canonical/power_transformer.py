"""Power transformations: an exponent, an origin and a scale for each feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np
from scipy.special import boxcox, boxcox1p, inv_boxcox, inv_boxcox1p
from sklearn.preprocessing import StandardScaler

from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric

# Wide enough for what is fitted, narrow enough that noise overflows nowhere near the origin.
_LARGEST_EXPONENT = 300.0
_LARGEST_RAW_EXPONENT = 50.0
_LARGEST_LOG_SLOPE = 300.0
_LARGEST_ORIGIN = 1e10
_LARGEST_LOG_SCALE = 50.0
_REACH = 10
_STEP = 1e-4


@final
class PowerTransformerCanonicalizer(Canonicalizer):
    """Curvature, origin and scale of the standardised transformation, told on the input's side.

    The mean and spread of transformed values move with the exponent; the point that is mapped to
    zero and the slope there hardly do. These are released (the scale as a logarithm), and the
    exponent in their units: 279 says little of a feature that lives between 0.001 and 0.002.
    """

    name = "power_transformer"
    description = "exponent, origin and scale of each feature"
    estimators = ("sklearn.preprocessing.PowerTransformer",)
    methods = ("transform", "inverse_transform")
    noised = ("lambdas_", "_scaler: mean_", "_scaler: scale_")

    def encode(self, estimator: Any, X: Any) -> Encoding:
        exponents = estimator.lambdas_
        arrays = {"curvature": exponents}
        if estimator.standardize:
            power, scaler = _POWERS[estimator.method], estimator._scaler
            origin = power.inverse(scaler.mean_, exponents)
            log_scale = np.log(scaler.scale_) - power.log_slope(origin, exponents)
            arrays = {
                "curvature": (exponents - 1) * np.exp(log_scale) / power.unit(origin),
                "origin": np.log(origin) if estimator.method == "box-cox" else origin,
                "log_scale": log_scale,
            }
        return encoding_of(estimator, arrays)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        set_facts(template, layout)
        if not template.standardize:
            limit = _LARGEST_RAW_EXPONENT
            template.lambdas_ = np.clip(arrays["curvature"], -limit, limit)
            return template
        power = _POWERS[template.method]
        template.lambdas_, origin, log_scale = _settings(power, arrays)
        scaler = StandardScaler(copy=False).set_output(transform="default")
        scaler.mean_ = power.forward(origin, template.lambdas_)
        scaler.scale_ = np.exp(log_scale)
        scaler.n_features_in_ = layout.fact("n_features_in_")
        template._scaler = scaler
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of a transformed value on the universe's rows."""
        p = layout.fact("n_features_in_")
        if "origin" not in layout.slices():
            return DiagonalMetric(np.ones(p))
        power, typical = _POWERS[estimator.method], layout.unpack(vectors.mean(axis=0))
        rows = np.asarray(X, dtype=np.float64)
        weights = []
        for name, scale in (("curvature", 1.0), ("origin", _unit_of_origin(power, typical))):
            moved = {**typical, name: typical[name] + _STEP * scale}
            change = _standardised(power, rows, moved) - _standardised(power, rows, typical)
            weights.append(np.mean(np.square(change / (_STEP * scale)), axis=0))
        weights = np.nan_to_num(np.concatenate([*weights, np.ones(p)]), nan=1.0, posinf=1.0)
        return DiagonalMetric(weights)


class _Power(NamedTuple):
    """A transformation with its inverse and slope, the unit of an origin, and how that is told."""

    forward: Callable[[Floats, Floats], Floats]
    inverse: Callable[[Floats, Floats], Floats]
    log_slope: Callable[[Floats, Floats], Floats]
    unit: Callable[[Floats], Floats]
    origin: Callable[[Floats], Floats]


def _on_both_sides(power: Any) -> Callable[[Floats, Floats], Floats]:
    """Return a function of positive x, and its mirror image with ``2 - a`` for negative x."""

    def mirrored(x: Floats, exponent: Floats) -> Floats:
        above = power(np.maximum(x, 0), exponent)
        return np.where(x >= 0, above, -power(np.maximum(-x, 0), 2 - exponent))

    return mirrored


_LARGEST_LOG_ORIGIN = np.log(_LARGEST_ORIGIN)
# ``(x**a - 1) / a`` for positive x, whose origin is told as a logarithm.
_BOX_COX = _Power(
    forward=boxcox,
    inverse=inv_boxcox,
    log_slope=lambda x, exponent: (exponent - 1) * np.log(x),
    unit=np.asarray,
    origin=lambda value: np.exp(np.clip(value, -_LARGEST_LOG_ORIGIN, _LARGEST_LOG_ORIGIN)),
)
# Box-Cox of ``x + 1``, on both sides of zero.
_YEO_JOHNSON = _Power(
    forward=_on_both_sides(boxcox1p),
    inverse=_on_both_sides(inv_boxcox1p),
    log_slope=lambda x, exponent: np.sign(x) * (exponent - 1) * np.log1p(np.abs(x)),
    unit=lambda x: 1 + np.abs(x),
    origin=lambda value: np.clip(value, -_LARGEST_ORIGIN, _LARGEST_ORIGIN),
)
_POWERS = {"box-cox": _BOX_COX, "yeo-johnson": _YEO_JOHNSON}


def _settings(power: _Power, arrays: dict[str, Floats]) -> tuple[Floats, Floats, Floats]:
    """Return the exponents, origin, and logarithm of the scale on the transformed side."""
    origin = power.origin(arrays["origin"])
    log_scale = np.clip(arrays["log_scale"], -_LARGEST_LOG_SCALE, _LARGEST_LOG_SCALE)
    scale = np.exp(log_scale)
    farthest = np.abs(np.log(power.unit(origin))) + np.log1p(_REACH * scale / power.unit(origin))
    steepest = np.minimum(_LARGEST_LOG_SLOPE / np.maximum(farthest, 1e-9), _LARGEST_EXPONENT)
    bend = np.clip(arrays["curvature"] * power.unit(origin) / scale, -steepest, steepest)
    return 1 + bend, origin, log_scale + power.log_slope(origin, 1 + bend)


def _standardised(power: _Power, rows: Floats, arrays: dict[str, Floats]) -> Floats:
    exponents, origin, log_scale = _settings(power, arrays)
    with np.errstate(over="ignore", invalid="ignore"):
        moved = power.forward(rows, exponents) - power.forward(origin, exponents)
        return np.asarray(moved / np.exp(log_scale))


def _unit_of_origin(power: _Power, arrays: dict[str, Floats]) -> Floats:
    scale = np.exp(np.clip(arrays["log_scale"], -_LARGEST_LOG_SCALE, _LARGEST_LOG_SCALE))
    return scale / power.origin(arrays["origin"]) if power is _BOX_COX else scale
