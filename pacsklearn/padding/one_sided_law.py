"""Calibrated padding for integers that can only grow: its law, and the backend that chooses it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.release.terms import ONE_SIDED
from pacsklearn.padding.least_padding import RESOLUTION, Padding, bucket_padding, least_padding


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


_LARGEST = 2.0**53


@final
class OneSidedBackend:
    """The least mean padding whose exact mutual information meets the budget.

    Outputs are one integer a candidate, in public units (microseconds, bytes); the released
    integer is never below the candidate's own. Not a ``NoiseBackend``: its law is no Gaussian.

    Guarantee
    ---------
    ``I(S; Y) = bound <= budget``, summed exactly over candidates and levels: no tail is cut off
    and nothing is estimated. A single outcome can rule out candidates altogether, namely those
    whose value is larger; that is inherent in noise that only adds. Sources: the problem,
    black-box-privatization; the padding, :func:`~pacsklearn.bounds.least_padding`.
    """

    def calibrate(self, support: Support, target: Target) -> OneSidedLaw:
        """Return the law whose bound is at most ``target.budget`` under the support's belief.

        Parameters
        ----------
        support : Support
            Outputs of shape (m, 1), whole numbers below 2**53.
        target : Target
        """
        outputs = support.outputs
        if outputs.shape[1] != 1:
            raise ValueError(
                f"one-sided noise is for one number a candidate, got {outputs.shape[1]}; release "
                "the numbers one by one."
            )
        if np.any(outputs != np.rint(outputs)):
            raise ValueError(
                "one-sided noise is for whole numbers in a public unit such as microseconds or "
                "bytes; some candidate's output is not whole. Round up to a unit."
            )
        if np.any(np.abs(outputs) >= _LARGEST):
            raise ValueError("one-sided noise needs outputs below 2**53; use a coarser unit.")
        values, row = np.unique(outputs[:, 0].astype(np.int64), return_inverse=True)
        weights = np.bincount(row, weights=support.weights, minlength=values.size)
        weights = weights / weights.sum()
        padding = least_padding(values, weights, target.budget)
        return OneSidedLaw(
            padding=padding,
            row=row.reshape(-1).astype(np.int64),
            bound=padding.information,
            constant_padding=float(weights @ (values[-1] - values)),
            bucket_padding=bucket_padding(values, weights, target.budget).expected,
        )
