"""What this distribution adds to pacsklearn. Imports nothing heavy: classes are named."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugins import hookimpl

pacsklearn_api = 1  # the number of the hooks that this was written for


@hookimpl
def pacsklearn_secret_spaces() -> Iterator[str]:
    """Yield the secret space of tables that are read in passes."""
    yield "pacsklearn_bigdata:HashedSpace"
