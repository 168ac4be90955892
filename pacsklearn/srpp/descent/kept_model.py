"""A model trained by private steps, when training is refused before its first step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def kept_if_refused(model: Any, *, forgetting: Sequence[str] | None = None) -> Iterator[None]:
    """Give a model back what it knew, when what is done within ends before a step is taken.

    What was paid for before stays usable, and a first call that is refused leaves nothing behind.

    Parameters
    ----------
    model : estimator
        Counts the steps of its run in ``n_steps_``.
    forgetting : sequence of str, optional
        Private attributes to forget at the beginning, with all fitted ones: for a new run. A run
        that goes on forgets nothing.
    """
    known = dict(vars(model))
    if forgetting is not None:
        for name in known:
            if name.endswith("_") or name in forgetting:
                delattr(model, name)
    n_steps = vars(model).get("n_steps_", 0)
    try:
        yield
    except BaseException:
        if vars(model).get("n_steps_", 0) == n_steps:
            vars(model).clear()
            vars(model).update(known)
        raise
