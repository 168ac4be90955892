"""What noise is calibrated to where a secret cannot be listed: outputs of trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.sampled.trial_outputs import warn_of_trials, within

# The secret's work may take so many times a trial's, and at least so many seconds.
_SLOWER, _LEAST_SECONDS = 20.0, 10.0


@final
@dataclass(frozen=True, eq=False, repr=False)
class TrialSupport:
    """What trials gave, and how a secret's own vector is computed.

    Parameters
    ----------
    calibration : ndarray of shape (n_calibration, d)
        For the noise's shape.
    certificate : ndarray of shape (n_certificate, d)
        For its size; the centre stands for what could not be released, as for the secret.
    vector : callable
        Vector of a secret; None where it cannot be released, or takes too long.
    """

    calibration: Floats
    certificate: Floats
    vector: Callable[[Any], Floats | None]

    @classmethod
    def of(
        cls,
        name: str,
        calibration: Floats,
        further: Sequence[Floats | None],
        vector: Callable[[Any], Floats | None],
        limit: float,
    ) -> Self:
        """Return the support of a sampled secret, with a time limit for its own vector.

        Parameters
        ----------
        name : str
            Whose outputs, to warn of those that cannot be released.
        calibration : ndarray of shape (n_calibration, d)
        further : sequence of ndarray of shape (d,) or None
        vector : callable
        limit : float
        """
        warn_of_trials(name, sum(one is None for one in further), len(further))
        centre = calibration.mean(axis=0)
        certificate = np.stack([centre if one is None else one for one in further])
        return cls(calibration, certificate, lambda secret: within(limit, partial(vector, secret)))

    def under(self, vectors: Floats, belief: Floats) -> Self:
        """Return the same support under any belief.

        There is none about secrets that cannot be listed.
        """
        return self


def time_limit(stated: float | None, trial: float) -> float:
    """Return the seconds that the secret's own work may take, where a trial took ``trial``.

    Measured on a trial: a limit that follows the secret's own work depends on it.
    """
    return stated or max(_LEAST_SECONDS, _SLOWER * trial)
