"""Transformers that learn nothing from the data but its width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.canonical.features import feature_facts
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.exceptions import NoCanonicalizerError

_LEARNED = (
    ("n_components", "auto", "the number of its outputs"),
    ("gamma", "scale", "their variance"),
)


@final
class StatelessCanonicalizer(Canonicalizer):
    """An empty vector: the step is public and is fitted again on zeros of the right width.

    What it draws at random comes from a public seed.
    """

    methods = ("transform",)
    noised = ()

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> StatelessCanonicalizer:
        for parameter, learned, what in _LEARNED:
            if getattr(estimator, parameter, None) == learned:
                raise NoCanonicalizerError(
                    f"{type(estimator).__name__}({parameter}={learned!r}) takes {what} from the "
                    f"rows, which cannot be noised; give {parameter} a number."
                )
        return cls()

    def encode(self, estimator: Any, X: Any) -> Encoding:
        facts = feature_facts(estimator) if hasattr(estimator, "n_features_in_") else {}
        facts.setdefault("n_features_in_", int(X.shape[1]))
        layout = Layout.of({}, **facts)
        return Encoding(layout.pack({}), layout)

    def decode(self, vector: NDArray[np.float64], layout: Layout, template: Any) -> Any:
        return template.fit(zero_rows(layout))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.transform(X)


def zero_rows(layout: Layout) -> Any:
    """Two rows of zeros with the features of a layout's facts."""
    zeros: Any = np.zeros((2, layout.fact("n_features_in_")))
    names = dict(layout.facts).get("feature_names_in_")
    if names is None:
        return zeros
    import pandas as pd  # names come from a DataFrame, so pandas is here

    return pd.DataFrame(zeros, columns=names)
