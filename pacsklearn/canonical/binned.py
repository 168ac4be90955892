"""Bins, and quantiles: rising edges of each feature."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pacsklearn._sklearn_compat import set_bins
from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric


@final
class BinnedCanonicalizer(Canonicalizer):
    """Edges of the bins, sorted again after noise; how many bins there are is public."""

    name = "binned"
    description = "rising edges of the bins of each feature"
    estimators = ("sklearn.preprocessing.KBinsDiscretizer",)
    methods = ("transform", "inverse_transform")
    noised = ("bin_edges_",)

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encoding_of(
            estimator,
            {f"feature {i}": edges for i, edges in enumerate(estimator.bin_edges_)},
            n_bins_=np.array(estimator.n_bins_),
            dtype=str(estimator.bin_edges_[0].dtype),
        )

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        edges = [np.sort(cuts) for cuts in layout.unpack(vector).values()]
        set_facts(template, layout)
        set_bins(template, edges, layout.fact("n_bins_"))
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the squared moves of the edges in units of the feature's range."""
        edges = layout.unpack(vectors.mean(axis=0)).values()
        weights = [np.full(cuts.size, (float(np.ptp(cuts)) or 1.0) ** -2) for cuts in edges]
        return DiagonalMetric(np.concatenate(weights))


@final
class QuantileTransformerCanonicalizer(Canonicalizer):
    """Quantiles at public levels, sorted again after noise.

    ``n_quantiles`` should not exceed the rows of a subset: their number then depends on the subset.
    """

    name = "quantile_transformer"
    description = "rising quantiles of each feature"
    estimators = ("sklearn.preprocessing.QuantileTransformer",)
    methods = ("transform", "inverse_transform")
    noised = ("quantiles_",)

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encoding_of(estimator, {"quantiles": estimator.quantiles_})

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        set_facts(template, layout)
        template.quantiles_ = np.sort(layout.unpack(vector)["quantiles"], axis=0)
        template.n_quantiles_ = len(template.quantiles_)
        template.references_ = np.linspace(0, 1, template.n_quantiles_, endpoint=True)
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the squared moves of the quantiles in units of their spread."""
        ((_, shape),) = layout.blocks
        spread = vectors.mean(axis=0).reshape(shape).var(axis=0)
        weights = 1 / np.where(spread > 0, spread, 1.0)
        return DiagonalMetric(np.broadcast_to(weights / shape[0], shape).ravel())
