"""What this distribution adds to pacsklearn. Imports nothing heavy: targets are strings."""

from __future__ import annotations

from pacsklearn.plugins import CanonicalizerRecord, hookimpl


@hookimpl
def pacsklearn_canonicalizers() -> list[CanonicalizerRecord]:
    """Canonicalizers of this distribution."""
    return [
        CanonicalizerRecord(
            name="dummy_regressor",
            target="pacsklearn_template.dummy_regressor:DummyRegressorCanonicalizer",
            estimators=("sklearn.dummy.DummyRegressor",),
            description="the constant of a DummyRegressor",
        )
    ]
