"""What a sliced law has to achieve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pacsklearn.core.slice_profile import SliceProfile


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
    delta : float
        Of the (epsilon, delta) conversions.
    """

    epsilon: float
    order: float
    aggregation: str
    profile: SliceProfile
    anisotropic: bool = False
    worst_case: bool = False
    delta: float = 1e-5
