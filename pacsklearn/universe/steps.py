"""The steps of an estimator, and its name for people."""

from __future__ import annotations

from typing import Any


def steps_of(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline, or the estimator alone."""
    return [step for _, step in getattr(estimator, "steps", [("", estimator)])]


def title_of(estimator: Any) -> str:
    """Return the classes of the steps that do something."""
    named = [step for step in steps_of(estimator) if step not in (None, "passthrough")]
    return " + ".join(type(step).__name__ for step in named)
