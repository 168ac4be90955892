"""Noise by a published rule that certifies nothing about finitely many trials."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["EstimatedNoise"]


@final
@dataclass(frozen=True, eq=False)
class EstimatedNoise:
    """Covariance that a published rule would use; for comparison, never for a release.

    Parameters
    ----------
    covariance : ndarray of shape (d, d)
        Of the noise; singular where the rule adds none.
    claimed : float
        Nats that the rule says are revealed at most.
    n_trials : int
        Outputs that were looked at.
    rule : str
    assumption : str
        What the claim rests on.
    source : str
    status : str
        Always ``"estimated"``.
    """

    covariance: NDArray[np.float64] = field(repr=False)
    claimed: float
    n_trials: int
    rule: str
    assumption: str
    source: str
    status: Literal["estimated"] = "estimated"

    @property
    def noise_power(self) -> float:
        """Sum of the noise variances."""
        return float(np.trace(self.covariance))
