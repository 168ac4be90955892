"""Canonicalizer of scikit-learn's DummyRegressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.plugins import Canonicalizer, Encoding, Layout

__all__ = ["DummyRegressorCanonicalizer"]


class DummyRegressorCanonicalizer(Canonicalizer):
    """Released as one number for each output: the mean, median or quantile of the targets."""

    name = "dummy_regressor"
    description = "the constant of a DummyRegressor"
    estimators = ("sklearn.dummy.DummyRegressor",)
    noised = ("constant_",)

    def encode(self, estimator: Any, X: Any) -> Encoding:
        """Put what depends on the rows into the vector, and what is public into the layout."""
        arrays = {"constant": estimator.constant_}
        layout = Layout.of(arrays, n_outputs=int(estimator.n_outputs_))
        return Encoding(layout.pack(arrays), layout)

    def decode(self, vector: NDArray[np.float64], layout: Layout, template: Any) -> Any:
        """Fill the fresh clone from the noisy vector."""
        template.constant_ = layout.unpack(vector)["constant"]
        template.n_outputs_ = layout.fact("n_outputs")
        return template
