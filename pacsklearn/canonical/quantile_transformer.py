"""Quantile transformation: rising quantiles of each feature."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pacsklearn.canonical.features import encoding_of, set_features
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.core.metric import DiagonalMetric, Metric
from pacsklearn.information.arrays import Floats


@final
class QuantileTransformerCanonicalizer(Canonicalizer):
    """Quantiles at public levels, sorted again after noise.

    ``n_quantiles`` should not exceed the rows of a subset: their number then depends on the subset.
    """

    methods = ("transform", "inverse_transform")
    noised = ("quantiles_",)

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encoding_of(estimator, {"quantiles": estimator.quantiles_})

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        set_features(template, layout)
        template.quantiles_ = np.sort(layout.unpack(vector)["quantiles"], axis=0)
        template.n_quantiles_ = len(template.quantiles_)
        template.references_ = np.linspace(0, 1, template.n_quantiles_, endpoint=True)
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Squared moves of the quantiles in units of their spread."""
        ((_, shape),) = layout.blocks
        spread = vectors.mean(axis=0).reshape(shape).var(axis=0)
        weights = 1 / np.where(spread > 0, spread, 1.0)
        return DiagonalMetric(np.broadcast_to(weights / shape[0], shape).ravel())

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.transform(X)
