"""Calibrated padding for integers that can only grow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.release.terms import ONE_SIDED
from pacsklearn.padding.least_padding import RESOLUTION, Padding


@final
@dataclass(frozen=True, eq=False)
class OneSidedLaw:
    """Padding for one release: never less than the candidate's own value.

    The counterpart of :class:`~pacsklearn.kernel.noise.noise_law.NoiseLaw` for times and sizes. The
    release is one of finitely many public levels, drawn with probabilities that are multiples of
    ``1 / RESOLUTION``, so its mutual information with the secret is a finite sum. A law never sees
    which candidate was drawn; which value a candidate has is secret material.

    Parameters
    ----------
    padding : Padding
        Random map from the distinct values to the levels.
    row : ndarray of int64, shape (m,)
        Which of the distinct values each candidate has.
    bound : float
        Mutual information under the belief it was calibrated for, in nats, rounded outward.
    constant_padding : float
        Mean padding up to the largest value, for comparison.
    bucket_padding : float
        Mean padding of the best deterministic buckets within the budget, for comparison.
    """

    padding: Padding = field(repr=False)
    row: NDArray[np.int64] = field(repr=False)
    bound: float
    constant_padding: float
    bucket_padding: float
    backend: str = ONE_SIDED
    confidence: float = 1.0

    information = noise_variances = None

    @property
    def laws(self) -> tuple[OneSidedLaw]:
        """Itself: it was planned alone."""
        return (self,)

    @property
    def n_noisy(self) -> int:
        """1, or 0 where values are released as they are."""
        return 0 if self.is_noiseless else 1

    @property
    def channel(self) -> NDArray[np.float64]:
        """Exact probability of each level for each candidate; shape (m, n_levels)."""
        return np.asarray(self.padding.counts[self.row] / RESOLUTION)

    @property
    def proof(self) -> str:
        """Why the bound holds."""
        if self.is_noiseless:
            return "the release cannot tell more than the entropy of the values"
        return "mutual information of a finite channel, summed over all candidates and levels"

    @property
    def is_noiseless(self) -> bool:
        """Whether the release is the value itself (the budget covers all that values tell)."""
        return self.padding.method == "none"

    @property
    def expected_padding(self) -> float:
        """Mean of what is added, over the belief."""
        return self.padding.expected

    @property
    def noise_power(self) -> float:
        """Mean square of what is added, over the belief."""
        return self.padding.mean_square

    released_power = noise_power

    def draw(self, index: int, sampler: Sampler) -> int:
        """Return the number of the level released for candidate ``index``."""
        return sampler.index(self.channel[index])

    def decode(self, level: int) -> int:
        """Return the released value for the number of a level; a public function."""
        return int(self.padding.levels[level])

    def log_likelihood(self, level: int) -> NDArray[np.float64]:
        """Return the log-probability of a level under each candidate, -inf if impossible; (m,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.channel[:, level]))
