"""The laws of several releases of one secret, all fixed before the first is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import Integers


@final
@dataclass(frozen=True, eq=False)
class JointLaw:
    """Laws that were calibrated to one belief and draw their noise independently.

    Given the secret the releases are independent, so ``I(S; Y_1, ..., Y_k)`` is at most the sum of
    ``I(S; Y_i)`` (chain rule), and together they are one release on the lattice: that of the
    concatenated integers.

    Parameters
    ----------
    laws : tuple of NoiseLaw
        Or of SampledLaw, which have no centres.
    """

    laws: tuple[Any, ...] = field(repr=False)

    channel = None

    @property
    def centres(self) -> Integers:
        """Each candidate's integers in all releases, side by side; (m, k)."""
        # One vector of independent noise: what several releases tell is what this one tells.
        return np.concatenate([law.centres for law in self.laws], axis=1)

    @property
    def scale(self) -> int:
        """Parameter of the noise; 0 where one release has none."""
        # A law without coordinates has scale 0 too, and releases nothing of the secret.
        return min((law.scale for law in self.laws if law.dimension), default=0)

    @property
    def dimension(self) -> int:
        """Number of noisy coordinates."""
        return sum(law.dimension for law in self.laws)

    @property
    def is_noiseless(self) -> bool:
        """Whether some release that depends on the secret has no noise."""
        return self.scale == 0

    @property
    def n_noisy(self) -> int:
        """Coordinates that have noise: none of those that are released as they are."""
        return sum(law.n_noisy for law in self.laws)

    @property
    def bound(self) -> float:
        """Upper bound on the mutual information of all releases together, in nats."""
        # Independent given the secret: I(S; Y_1, ..., Y_k) <= sum_i I(S; Y_i) (chain rule).
        return math.fsum(law.bound for law in self.laws)

    @property
    def information(self) -> float | None:
        """As for a single law: None where ``bound`` is on the mutual information itself."""
        return self.laws[0].information if len(self.laws) == 1 else None

    @property
    def confidence(self) -> float:
        """Probability that all bounds hold, by the sum of those that they do not."""
        # Union bound over the events in which one of the bounds fails.
        return max(1 - math.fsum(1 - law.confidence for law in self.laws), 0.0)

    @property
    def proof(self) -> str:
        """Why the bound holds."""
        if len(self.laws) == 1:
            return str(self.laws[0].proof)
        return "sum of the bounds of releases that are independent given the secret"

    @property
    def backend(self) -> str:
        """Names of the backends."""
        return ", ".join(sorted({law.backend for law in self.laws}))

    def log_likelihood(self, observed: tuple[Integers, ...]) -> Floats:
        """Return log-density of all released integers under each candidate, to a constant; (m,)."""
        # Independent noise given the secret: densities multiply.
        parts = (law.log_likelihood(one) for law, one in zip(self.laws, observed, strict=True))
        return np.asarray(sum(parts), dtype=np.float64)
