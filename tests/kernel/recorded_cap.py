"""Caps with any figures: those of an event that is priced again."""

from __future__ import annotations

import math
from typing import Any

from pacsklearn.srpp import DiscrepancyCap
from pacsklearn.srpp.release.events import GradientSteps

_FIGURES = {
    "n_rows": 100, "batch_size": 10, "sampling": "without-replacement", "largest": 4,
    "second_moment": 6.0, "log_law": None, "tail": 0.0, "failure": 0.0, "mean_over_data": False,
}  # fmt: skip


def recorded_step(**figures: Any) -> GradientSteps:
    """Event of one step."""
    step = {"n_steps": 1, "noise_multiplier": 1.0, "order": 4.0, "accounting": "worst-case"}
    return GradientSteps(
        "sgd-step", 0.5, "nats", **_FIGURES | step | figures, norms=(1.0,), sizes=(1,)
    )


def recorded_cap(cap: DiscrepancyCap | None = None, **figures: Any) -> DiscrepancyCap:
    """Cap with these figures, and the others of ``cap``."""
    known = _FIGURES if cap is None else {name: getattr(cap, name) for name in _FIGURES}
    chosen = known | figures
    if chosen["log_law"] is not None:
        chosen["log_law"] = tuple(e if e > -math.inf else None for e in chosen["log_law"])
    return DiscrepancyCap.recorded(recorded_step(**chosen))
