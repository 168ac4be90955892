"""Numbers of each feature: origins and positive scales, and what stands for a missing value."""

from __future__ import annotations

from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.canonical.stateless import zero_rows
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric

# The square of its exponential, ``var_``, is still a finite double.
_LARGEST_LOG_SCALE = 300.0


@final
class ScalerCanonicalizer(Canonicalizer):
    """Origin and logarithm of the scale, so that every noisy scale is a valid one."""

    name = "scaler"
    description = "shift and scale of each feature"
    estimators = (
        "sklearn.preprocessing.MaxAbsScaler",
        "sklearn.preprocessing.MinMaxScaler",
        "sklearn.preprocessing.RobustScaler",
        "sklearn.preprocessing.StandardScaler",
    )
    methods = ("transform", "inverse_transform")
    noised = ("mean_", "center_", "min_", "scale_")
    noised_if: ClassVar = {
        "mean_": lambda model: getattr(model, "with_mean", False),
        "center_": lambda model: getattr(model, "with_centering", False),
        "min_": lambda model: isinstance(model, MinMaxScaler),
        "scale_": lambda model: getattr(model, "with_std", getattr(model, "with_scaling", True)),
    }
    reads_rows = False

    def encode(self, estimator: Any, X: Any) -> Encoding:
        arrays: dict[str, Any] = {}
        if isinstance(estimator, MinMaxScaler):
            low, high = estimator.feature_range
            arrays["origin"] = estimator.data_min_
            arrays["log_scale"] = np.log((high - low) / estimator.scale_)
        else:
            origin = _origin(estimator)
            if origin is not None:
                arrays["origin"] = origin
            if estimator.scale_ is not None:
                arrays["log_scale"] = np.log(estimator.scale_)
        return encoding_of(estimator, arrays)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        origin: Any = arrays.get("origin")
        scale: Any = None
        if "log_scale" in arrays:
            scale = np.exp(np.clip(arrays["log_scale"], -_LARGEST_LOG_SCALE, _LARGEST_LOG_SCALE))
        set_facts(template, layout)
        if isinstance(template, MinMaxScaler):
            low, high = template.feature_range
            template.scale_ = (high - low) / scale
            template.min_ = low - origin * template.scale_
            template.data_min_, template.data_range_ = origin, scale
            template.data_max_ = origin + scale
            return template
        template.scale_ = scale
        if isinstance(template, StandardScaler):
            template.mean_ = origin
            template.var_ = None if scale is None else scale**2
        elif isinstance(template, RobustScaler):
            template.center_ = origin
        else:
            template.max_abs_ = scale
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the squared change of a scaled value of size one."""
        weights = {name: np.ones(shape) for name, shape in layout.blocks}
        if len(weights) > 1:
            typical = layout.unpack(vectors.mean(axis=0))
            weights["origin"] = np.exp(-2 * typical["log_scale"])
        return DiagonalMetric(layout.pack(weights))


def _origin(estimator: Any) -> Floats | None:
    if isinstance(estimator, RobustScaler):
        return estimator.center_
    return estimator.mean_ if getattr(estimator, "with_mean", False) else None


@final
class ImputerCanonicalizer(Canonicalizer):
    """The number that stands for a missing one, for each feature."""

    name = "imputer"
    description = "the number that stands for a missing one, for each feature"
    estimators = ("sklearn.impute.SimpleImputer",)
    methods = ("transform",)
    noised = ("statistics_",)

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self:
        name = type(estimator).__name__
        # The constant is public, like every other parameter.
        if estimator.strategy not in ("mean", "median", "constant"):
            raise NoCanonicalizerError(
                f"{name}(strategy={estimator.strategy!r}) releases values as they stand in the "
                "rows, or of any type; use strategy='mean' or 'median', or 'constant'."
            )
        if isinstance(estimator.fill_value, str):
            raise NoCanonicalizerError(
                f"{name} that fills in a text has no numbers for the step after it; use a Schema, "
                "in which a missing category has a feature of its own."
            )
        if estimator.add_indicator:
            raise NoCanonicalizerError(
                f"{name}(add_indicator=True) learns from the rows which features have missing "
                "values, which cannot be noised; use add_indicator=False."
            )
        return cls()

    def encode(self, estimator: Any, X: Any) -> Encoding:
        if estimator.strategy == "constant":
            return encoding_of(estimator, {}, statistics_=estimator.statistics_)
        return encoding_of(estimator, {"statistics": estimator.statistics_})

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        # Zeros may be what is missing: nothing that is fitted on them is kept.
        constant = template.strategy == "constant"
        template.fit(zero_rows(layout))
        template.statistics_ = (
            layout.fact("statistics_") if constant else layout.unpack(vector)["statistics"]
        )
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return squared change in units of each feature's spread, as the candidates show it."""
        spread = vectors.var(axis=0)
        return DiagonalMetric(1 / np.where(spread > 0, spread, 1.0))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """Return what stands for missing numbers; the rows at hand may have none."""
        return estimator.statistics_
