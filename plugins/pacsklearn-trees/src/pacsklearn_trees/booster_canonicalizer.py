"""Canonicalizer of boosters with public splits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.outputs.metric import MatrixMetric, Metric
from pacsklearn.plugins import Canonicalizer, Encoding, Layout

__all__ = ["FixedStructureCanonicalizer"]

Floats = NDArray[np.float64]

# Beyond this many leaves the full second moment costs more than it gains.
_MOST_LEAVES = 1024
_ROWS_AT_ONCE = 4096


class FixedStructureCanonicalizer(Canonicalizer):
    """Released as the intercept and the value of every leaf; the splits are public."""

    name = "fixed_structure_booster"
    description = "leaf values of trees whose splits are public"
    estimators = (
        "pacsklearn_trees.FixedStructureBoosterClassifier",
        "pacsklearn_trees.FixedStructureBoosterRegressor",
    )
    noised = ("leaf_values_", "intercept_")

    def encode(self, estimator: Any, X: Any) -> Encoding:
        """Leaf values into the vector; classes and features are public."""
        arrays = {"intercept": estimator.intercept_, "leaf_values": estimator.leaf_values_}
        public = ("n_features_in_", "feature_names_in_", "classes_")
        facts = {name: getattr(estimator, name) for name in public if hasattr(estimator, name)}
        layout = Layout.of(arrays, **facts)
        return Encoding(layout.pack(arrays), layout)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        """Fill the fresh clone; its splits follow from its parameters."""
        arrays = layout.unpack(vector)
        template.intercept_ = float(arrays["intercept"])
        template.leaf_values_ = arrays["leaf_values"]
        for name, value in layout.facts:
            setattr(template, name, np.array(value) if isinstance(value, np.ndarray) else value)
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Expected squared change of the score on the universe's rows."""
        if layout.size > _MOST_LEAVES:
            return super().metric(layout, estimator, X, vectors)
        rows = np.asarray(X, dtype=np.float64)
        structure = estimator.structure(rows.shape[1])
        moment = np.zeros((layout.size, layout.size))
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            leaves = structure.leaves(rows[start : start + _ROWS_AT_ONCE])
            reached = leaves.T[:, :, None] == np.arange(structure.n_leaves)
            used = np.column_stack([np.ones(len(reached)), reached.reshape(len(reached), -1)])
            moment += used.T @ used
        return MatrixMetric(moment / len(rows))
