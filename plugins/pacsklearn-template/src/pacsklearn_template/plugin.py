"""What this distribution adds to pacsklearn. Imports nothing heavy: classes are named."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugins import hookimpl

pacsklearn_api = 1  # the number of the hooks that this was written for


@hookimpl
def pacsklearn_canonicalizers() -> Iterator[str]:
    """Yield the canonicalizers of this distribution."""
    yield "pacsklearn_template.dummy_regressor:DummyRegressorCanonicalizer"
