"""What a sliced law has to achieve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pacsklearn.core.slice_profile import SliceProfile

__all__ = ["SlicedTarget"]


@final
@dataclass(frozen=True)
class SlicedTarget:
    """What a sliced law has to achieve.

    Parameters
    ----------
    epsilon : float
        Allowed Renyi divergence, in nats.
    order : float
        Its order.
    aggregation : str
        ``"average"``, ``"joint"`` or ``"full"``.
    profile : SliceProfile
    anisotropic : bool
        Let the noise differ by direction.
    worst_case : bool
        Calibrate to the largest distance between any two outputs: a baseline.
    coupled : bool
        Keep draws together, so that releases on the same rows add up.
    delta : float
        Of the (epsilon, delta) conversions.
    confidence : float
        Below 1, the draws and directions count as samples of continuous laws, about which the
        bound then holds with this confidence (see
        :mod:`~pacsklearn.information.finite_sample_slices`).
    largest_distance : float, optional
        For a confidence below 1: bound on every distance, known beforehand.
    """

    epsilon: float
    order: float
    aggregation: str
    profile: SliceProfile
    anisotropic: bool = False
    worst_case: bool = False
    coupled: bool = False
    delta: float = 1e-5
    confidence: float = 1.0
    largest_distance: float | None = None
