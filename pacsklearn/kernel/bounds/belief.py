"""Beliefs about which candidate was drawn, as log-weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats


def uniform_belief(m: int) -> Floats:
    """Return the log-weights of ``m`` equally likely candidates.

    Parameters
    ----------
    m : int
        Number of candidates, at least 1.

    Returns
    -------
    ndarray of shape (m,)
        All entries ``-ln(m)``.

    Raises
    ------
    TypeError, ValueError
        If ``m`` is not an integer of at least 1.

    Examples
    --------
    >>> from pacsklearn.bounds import uniform_belief
    >>> uniform_belief(2)
    array([-0.69314718, -0.69314718])
    """
    m = check_integer(name="m", value=m, minimum=1)
    return np.full(m, -math.log(m))


def update_belief(log_weights: ArrayLike, log_likelihood: ArrayLike) -> Floats:
    """Return the posterior log-weights after one release, by Bayes' rule.

    Parameters
    ----------
    log_weights : array-like of shape (m,)
        Log-weights before the release; ``-inf`` marks an impossible candidate, which stays so.
    log_likelihood : array-like of shape (m,)
        Log-probability of what was released under each candidate, up to a common constant.

    Returns
    -------
    ndarray of shape (m,)
        New log-weights, normalised. Nothing is clipped or floored: a weight far below the smallest
        double is kept and can recover. The inputs are not changed.

    Raises
    ------
    ValueError
        If the shapes differ, an entry is NaN or ``+inf``, or every weight would vanish.

    Notes
    -----
    Source: pac-private-responses, Algorithm 1. The largest weight is taken out of the normalising
    sum, so that a belief close to certainty keeps the digits of its distance from 1.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import uniform_belief, update_belief
    >>> np.exp(update_belief(uniform_belief(2), np.log([0.75, 0.25])))
    array([0.75, 0.25])
    >>> update_belief(uniform_belief(2), [0.0, -5000.0])
    array([    0., -5000.])
    """
    # ln p(s | y) = ln p(s) + ln p(y | s) - ln p(y): Algorithm 1, and the same for any adversary.
    prior = np.asarray(log_weights, dtype=np.float64)
    likelihood = np.asarray(log_likelihood, dtype=np.float64)
    if prior.ndim != 1 or prior.size == 0 or likelihood.shape != prior.shape:
        raise ValueError(
            "log_weights and log_likelihood must be vectors with one entry for each candidate, "
            f"got shapes {prior.shape} and {likelihood.shape}."
        )
    for name, values in (("log_weights", prior), ("log_likelihood", likelihood)):
        # `not <` also catches NaN.
        if not np.all(values < np.inf):
            raise ValueError(f"{name} must not hold NaN or +inf.")
    return _normalise(prior + likelihood)


def belief_entropy(log_weights: ArrayLike) -> float:
    """Return the entropy of a belief.

    Parameters
    ----------
    log_weights : array-like of shape (m,)
        Log-weights; normalised first if they are not.

    Returns
    -------
    float
        Nats, between 0 and ``ln(m)``.

    Raises
    ------
    ValueError
        If the input is not a non-empty vector, holds NaN or ``+inf``, or every weight is zero.

    Examples
    --------
    >>> from pacsklearn.bounds import belief_entropy, uniform_belief
    >>> round(belief_entropy(uniform_belief(128)), 4)
    4.852
    """
    values = np.asarray(log_weights, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.all(values < np.inf):
        raise ValueError(
            f"log_weights must be a vector without NaN or +inf, got shape {values.shape}."
        )
    values = _normalise(values)
    values = values[values > -np.inf]
    return max(float(-np.sum(np.exp(values) * values)), 0.0)


def _normalise(log_weights: Floats) -> Floats:
    best = int(np.argmax(log_weights))
    if log_weights[best] == -np.inf:
        raise ValueError(
            "Every candidate would have weight zero: what was released is impossible under all "
            "of them. The log-likelihoods do not belong to this secret space."
        )
    shifted = log_weights - log_weights[best]
    others = np.exp(shifted)
    others[best] = 0.0
    return np.asarray(shifted - np.log1p(np.sum(others)))
