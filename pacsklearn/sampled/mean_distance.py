"""What Gaussian noise reveals when only the mean distance of the outputs is known."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.rounding import OUTWARD


def mean_distance_bound(noise: ArrayLike, reference: ArrayLike, mean_distance: float) -> float:
    """Bound the mutual information by a mean squared distance from a fixed centre.

    For ``Y = Z + N(0, diag(noise))`` and ``E 1/2 sum_i (Z_i - c_i)^2 / reference_i <=
    mean_distance``, whatever else the law of ``Z`` may be.

    Parameters
    ----------
    noise : array-like of shape (k,)
        Noise variances, positive.
    reference : array-like of shape (k,)
        Variances of the Gaussian that the releases are compared with, positive.
    mean_distance : float
        At least 0.

    Returns
    -------
    float
        Nats, rounded outward.

    Notes
    -----
    ``I(Z; Y) <= E KL(N(Z, noise) || Q)`` for every fixed ``Q``; with ``Q = N(c, reference)`` that
    is ``1/2 sum_i (r_i - 1 - ln r_i) + E 1/2 sum_i (Z_i - c_i)^2 / reference_i``, where ``r_i =
    noise_i / reference_i``. With the variances of ``Z`` added to the noise as reference it is the
    log-determinant bound; with ``reference = noise`` it is the linear bound. Discrete Gaussians
    on the integers obey the same formula, up to less than 1e-300 at the scale of the lattice
    (see :func:`~pacsklearn.bounds.logdet_bound`, notes 3 and 4).

    Noise and reference times ``a``, with the mean distance over ``a``, change the last term alone,
    so one measurement serves every scale of the noise.

    Examples
    --------
    >>> from pacsklearn.bounds import mean_distance_bound
    >>> round(mean_distance_bound([1.0], [2.0], 0.25), 6)  # 1/2 ln 2, as for variances 1 and 1
    0.346574
    """
    e, t = np.asarray(noise, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if e.ndim != 1 or e.shape != t.shape or not (np.all(e > 0) and np.all(t > 0)):
        raise ValueError(
            "noise and reference must be vectors of one length with positive entries, got shapes "
            f"{e.shape} and {t.shape}."
        )
    if not 0.0 <= mean_distance < math.inf:
        raise ValueError(f"mean_distance must be finite and >= 0, got {mean_distance!r}.")
    return (0.5 * float(np.sum(_divergence(e / t))) + mean_distance) * OUTWARD


def _divergence(ratios: Floats) -> Floats:
    """Return ``r - 1 - ln r`` without cancellation where ``r`` is near one."""
    x = ratios - 1.0
    series = x * x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x / 5)))
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(np.abs(x) < 1e-3, series, x - np.log(ratios)))
