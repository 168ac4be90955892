"""Calibrated padding for integers that can only grow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.padding import RESOLUTION, Padding

ONE_SIDED: Final = "one_sided"
"""Name of the noise that only adds."""


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

    @property
    def information(self) -> None:
        """None: the bound is on the mutual information itself."""

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
    def padding_power(self) -> float:
        """Mean square of what is added, over the belief."""
        return self.padding.mean_square

    def shares(self, index: int) -> NDArray[np.float64]:
        """Exact probability of each level for candidate ``index``."""
        return np.asarray(self.padding.counts[self.row[index]] / RESOLUTION)

    def decode(self, level: int) -> int:
        """Released value for the number of a level; a public function."""
        return int(self.padding.levels[level])

    def log_likelihood(self, level: int) -> NDArray[np.float64]:
        """Log-probability of a level under each candidate; -inf where it is impossible; (m,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.padding.counts[self.row, level] / RESOLUTION))
