"""Steps of a pipeline that were fitted on all rows before a private estimator."""

from __future__ import annotations

import sys
from typing import Any

from sklearn.pipeline import Pipeline

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import NoCanonicalizerError, PrivacyLeakWarning
from pacsklearn.kernel.plugins.registry import registry


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
                warn_user(
                    f"Pipeline steps before {type(estimator).__name__} were fitted on all rows and "
                    f"are covered by no guarantee: {', '.join(learned)}. Do not release them; put "
                    f"the whole pipeline inside: {inside}.",
                    PrivacyLeakWarning,
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
