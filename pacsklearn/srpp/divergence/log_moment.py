"""The logarithm of a mean of exponentials, to the last digits where it is small."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from pacsklearn.kernel.bounds.arrays import Floats


def log_moment(exponents: Floats, log_weights: Any) -> Any:
    """Return ``ln sum weights exp(exponents)`` over the last axis.

    Parameters
    ----------
    exponents : ndarray
        At least 0.
    log_weights : float or ndarray
        Logarithms of weights that sum to 1.

    Notes
    -----
    ``ln(1 + sum weights (exp(exponents) - 1))``: near order 1 the moment is 1 but for digits that a
    sum of exponentials loses, and what it loses is divided by ``order - 1``.
    """
    with np.errstate(divide="ignore"):
        gains = exponents + np.log(-np.expm1(-exponents)) + log_weights
    return np.logaddexp(0.0, logsumexp(gains, axis=-1))
