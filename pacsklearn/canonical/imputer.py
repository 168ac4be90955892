"""Imputation by one number a feature."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np

from pacsklearn.canonical.features import encoding_of
from pacsklearn.canonical.stateless import zero_rows
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.core.metric import DiagonalMetric, Metric
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.information.arrays import Floats


@final
class ImputerCanonicalizer(Canonicalizer):
    """The number that stands for a missing one, for each feature."""

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
        template.fit(zero_rows(layout))
        if template.strategy != "constant":
            template.statistics_ = layout.unpack(vector)["statistics"]
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Squared change in units of each feature's spread, as the candidates show it."""
        spread = vectors.var(axis=0)
        return DiagonalMetric(1 / np.where(spread > 0, spread, 1.0))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """What stands for missing numbers; the rows at hand may have none."""
        return estimator.statistics_
