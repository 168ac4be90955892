"""Transformers that learn nothing from the data but its width."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.canonical.features import feature_facts
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout

__all__ = ["StatelessCanonicalizer"]


@final
class StatelessCanonicalizer(Canonicalizer):
    """An empty vector: the step is public and is fitted again on zeros of the right width."""

    methods = ("transform",)
    noised = ()

    def encode(self, estimator: Any, X: Any) -> Encoding:
        facts = feature_facts(estimator) if hasattr(estimator, "n_features_in_") else {}
        facts.setdefault("n_features_in_", int(X.shape[1]))
        layout = Layout.of({}, **facts)
        return Encoding(layout.pack({}), layout)

    def decode(self, vector: NDArray[np.float64], layout: Layout, template: Any) -> Any:
        zeros: Any = np.zeros((2, layout.fact("n_features_in_")))
        names = dict(layout.facts).get("feature_names_in_")
        if names is not None:
            import pandas as pd  # names come from a DataFrame, so pandas is here

            zeros = pd.DataFrame(zeros, columns=names)
        return template.fit(zeros)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.transform(X)
