"""Mutual information of a noise law, measured by drawing from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacsklearn.core.noise_law import NoiseLaw


class MeasuredInformation(NamedTuple):
    """Estimate in nats and its standard error."""

    nats: float
    standard_error: float


def measured_information(
    law: NoiseLaw,
    weights: NDArray[np.float64],
    generator: np.random.Generator,
    *,
    n_draws: int = 20_000,
) -> MeasuredInformation:
    """Mutual information between the candidate and the release, by simulation.

    The noise is a rounded Gaussian of the law's scale, and every candidate of positive weight
    gets the same number of draws. Draws come in pairs of opposite sign, which cancels the term
    linear in the noise: the relative error is small at small budgets too.

    Parameters
    ----------
    law : NoiseLaw
        With noise.
    weights : ndarray of shape (m,)
        The adversary's belief.
    generator : numpy.random.Generator
    n_draws : int, default=20000
        Draws in total.

    Returns
    -------
    MeasuredInformation
    """
    likely = np.flatnonzero(weights > 0)
    belief = weights[likely]
    centres = law.centres[likely]
    pairs = max(n_draws // (2 * likely.size), 2)
    nats = variance = 0.0
    for position, own in enumerate(centres):
        noise = np.rint(generator.normal(0.0, law.scale, (pairs, law.dimension)))
        offsets = (centres - own).astype(np.float64)
        gains = np.zeros(pairs)
        for sign in (1.0, -1.0):
            difference = (offsets[None, :, :] - sign * noise[:, None, :]) / law.scale
            log_likelihood = -np.sum(difference**2, axis=2) / 2
            mixture = logsumexp(log_likelihood, axis=1, b=belief)
            gains += (log_likelihood[:, position] - mixture) / 2
        nats += belief[position] * gains.mean()
        variance += belief[position] ** 2 * gains.var(ddof=1) / pairs
    return MeasuredInformation(float(nats), float(np.sqrt(variance)))
