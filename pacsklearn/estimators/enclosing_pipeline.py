"""Steps of a pipeline around a private estimator, which saw all rows before it did."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from sklearn.pipeline import Pipeline

from pacsklearn.exceptions import NoCanonicalizerError, PrivacyLeakWarning
from pacsklearn.plugin import registry

__all__ = ["warn_of_steps_before"]


def warn_of_steps_before(estimator: Any, inside: str = "PACPrivate(make_pipeline(...))") -> None:
    """Warn when a pipeline that is being fitted ends with ``estimator`` and learned before it.

    ``inside`` shows how the steps are put inside. A step is told nothing of the pipeline it stands
    in: who calls is looked up.
    """
    frame = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Pipeline) and caller.steps[-1][1] is estimator:
            learned = [name for name, step in caller.steps[:-1] if _learns(step)]
            if learned:
                warnings.warn(
                    f"Pipeline steps before {type(estimator).__name__} were fitted on all rows and "
                    f"are covered by no guarantee: {', '.join(learned)}. Do not release them; put "
                    f"the whole pipeline inside: {inside}.",
                    PrivacyLeakWarning,
                    stacklevel=3,
                )
            return
        if frame.f_back is None:
            return
        frame = frame.f_back


def _learns(step: Any) -> bool:
    """Whether a step takes anything from rows that is not noised."""
    if step is None or isinstance(step, str) or hasattr(step, "guarantee_"):
        return False
    try:
        return bool(registry().canonicalizer_for(step).noised)
    except NoCanonicalizerError:
        return True
