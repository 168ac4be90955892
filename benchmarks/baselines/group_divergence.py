"""The baseline: DP-SGD's accountant, converted to groups of rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, logsumexp

from pacsklearn._validation import as_probability, check_integer

__all__ = ["group_divergence", "sampled_gaussian_divergence"]


def sampled_gaussian_divergence(order: int, rate: float, multiplier: float) -> float:
    """Renyi divergence of one step of DP-SGD when one row is added or removed.

    Parameters
    ----------
    order : int
        Renyi order, at least 2.
    rate : float
        Probability with which every row is in the (Poisson) batch, which stays secret.
    multiplier : float
        Standard deviation of the noise on the sum of the gradients, over the clipping norm.

    Returns
    -------
    float
        In nats.

    Notes
    -----
    ``ln E exp(k (k - 1) / (2 multiplier^2)) / (order - 1)`` with ``k`` binomial. Source: Mironov,
    Talwar and Zhang, Renyi differential privacy of the sampled Gaussian mechanism, 2019.

    Examples
    --------
    >>> sampled_gaussian_divergence(16, 1.0, 4.0)
    0.5
    """
    order = check_integer(name="order", value=order, minimum=2)
    rate = as_probability("rate", rate)
    if not multiplier > 0:
        raise ValueError(f"multiplier must be positive, got {multiplier!r}.")
    if rate == 0:
        return 0.0
    if rate == 1:
        return order / (2 * multiplier**2)
    k = np.arange(order + 1)
    binomial = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    terms = binomial + k * math.log(rate) + (order - k) * math.log1p(-rate)
    return max(float(logsumexp(terms + k * (k - 1) / (2 * multiplier**2))), 0.0) / (order - 1)


def group_divergence(divergence: Callable[[int], float], order: int, size: int) -> float:
    """Divergence for data sets that differ in up to ``size`` rows, of any mechanism.

    Parameters
    ----------
    divergence : callable
        Divergence for one row, of an order.
    order : int
        Order of the result.
    size : int
        Of the group, at least 1.

    Notes
    -----
    Groups of ``2^c`` rows cost ``3^c`` times the divergence of order ``2^c order``. Source:
    Mironov, Renyi differential privacy, 2017, Proposition 2.

    Examples
    --------
    >>> group_divergence(lambda order: order / 2, 16, 4)
    288.0
    """
    doublings = math.ceil(math.log2(check_integer(name="size", value=size, minimum=1)))
    return float(3**doublings * divergence(2**doublings * order))
