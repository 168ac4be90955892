"""Renyi divergence of one noised step in which a random number of rows differ.

Every row that differs moves what is released by ``reach`` standard deviations of the noise at
most, and rounding by ``slack`` more as soon as one differs at all: ``k`` rows move it by
``k reach + slack``, none by nothing. All in nats at a Renyi order.
"""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.divergence.log_moment import log_moment


def shift_divergence(order: float, count: float, reach: float, slack: float = 0.0) -> float:
    """Return the divergence when ``count`` rows differ.

    Notes
    -----
    ``order / 2`` times the squared shift: an equality for Gaussians, and a bound for discrete
    Gaussians shifted by whole numbers. Source: srpp, Lemma 5.1.
    """
    return order / 2 * (count * reach + slack) ** 2 if count > 0 else 0.0


def mean_divergence(order: float, law: Floats, reach: float, slack: float = 0.0) -> float:
    """Return mean divergence over batches that the adversary knows, with ``law[k]`` for ``k`` rows.

    Notes
    -----
    Source: srpp, Theorem 5.7. For the divergence of order 1 (divide by the order) it also bounds
    what is released together with, or without, the batches, by convexity.
    """
    return order / 2 * float(law @ _shifts(law, reach, slack) ** 2)


def moment_divergence(order: float, square: float, reach: float, slack: float = 0.0) -> float:
    """Return bound on :func:`mean_divergence` by the mean square of the number of rows alone."""
    return order / 2 * square * (reach + slack) ** 2


def secret_batch_divergence(
    order: float, log_law: Floats, reach: float, slack: float = 0.0
) -> float:
    """Return the divergence of the release together with the batches, and so of the release alone.

    Notes
    -----
    The log-moment of the divergences given the batch, by joint convexity; at order 1 their mean.
    Steps with independent batches add up. Source: srpp, Lemma J.1.
    """
    if order == 1:
        return mean_divergence(order, np.exp(log_law), reach, slack)
    exponents = (order - 1) * order / 2 * _shifts(log_law, reach, slack) ** 2
    return float(log_moment(exponents, log_law)) / (order - 1)


def _shifts(law: Floats, reach: float, slack: float) -> Floats:
    counts = np.arange(law.shape[0])
    return np.asarray(np.where(counts > 0, counts * reach + slack, 0.0))
