"""What this distribution adds to pacsklearn. Imports nothing heavy: classes are named."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugins import hookimpl

pacsklearn_api = 1  # the number of the hooks that this was written for


@hookimpl
def pacsklearn_batch_predictors() -> Iterator[str]:
    """Yield the batch predictors of this distribution."""
    yield from ("pacsklearn_trees:Boosters", "pacsklearn_trees:StackedForest")
