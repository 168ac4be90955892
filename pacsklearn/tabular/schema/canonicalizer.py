"""Encoders by a public codebook: there is nothing to noise."""

from __future__ import annotations

from typing import Any, final

from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.tabular.schema.schema import Schema


def schema_facts(schema: Schema) -> dict[str, Any]:
    """Return the schema, and the names of the columns whose facts were looked up and confirmed."""
    facts: dict[str, Any] = {"schema_": schema}
    confirmed = tuple(column.name for column in schema if column.confirmed and column.looked_up)
    if confirmed:
        heading = "looked up in the rows and confirmed as public for"
        facts[f"{heading} {', '.join(confirmed)}: facts of schema_"] = confirmed
    return facts


@final
class SchemaEncoderCanonicalizer(Canonicalizer):
    """An empty vector: the encoder knows the codebook, which is public, and nothing else.

    Facts of the codebook that somebody looked up in the rows and confirmed are named as such in
    the guarantee.
    """

    name = "schema_encoder"
    description = "encoders by a public codebook, which learn nothing from the rows"
    estimators = ("pacsklearn.tabular.SchemaColumns", "pacsklearn.tabular.SchemaEncoder")
    methods = ("transform",)
    noised = ()
    reads_rows = False
    is_public = True

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encoding_of(estimator, {}, **schema_facts(estimator.schema))

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        set_facts(template, layout)
        return template
