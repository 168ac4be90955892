"""Encoders by a public codebook."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.canonical.features import feature_facts, set_features
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.schema.schema import Schema


def schema_facts(schema: Schema) -> dict[str, Any]:
    """The schema, and the names of the columns whose facts were looked up and confirmed."""
    facts: dict[str, Any] = {"schema_": schema}
    confirmed = tuple(column.name for column in schema if column.looked_up)
    if confirmed:
        heading = "schema: looked up in the rows and confirmed as public for"
        facts[f"{heading} {', '.join(confirmed)}_"] = confirmed
    return facts


@final
class SchemaEncoderCanonicalizer(Canonicalizer):
    """An empty vector: the encoder knows the codebook, which is public, and nothing else.

    Facts of the codebook that somebody looked up in the rows and confirmed are named as such in
    the guarantee.
    """

    methods = ("transform",)
    noised = ()
    reads_rows = False
    is_public = True

    def encode(self, estimator: Any, X: Any) -> Encoding:
        facts = schema_facts(estimator.schema)
        layout = Layout.of({}, **facts, **feature_facts(estimator))
        return Encoding(layout.pack({}), layout)

    def decode(self, vector: NDArray[np.float64], layout: Layout, template: Any) -> Any:
        set_features(template, layout)
        return template

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.transform(X)
