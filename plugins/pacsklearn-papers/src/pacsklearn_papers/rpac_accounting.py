"""R-PAC accounting: what stays unknown, instead of what leaks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn_papers.information_estimate import (
    InformationEstimate,
    entropy_of,
    mixture_information,
)


def intrinsic_privacy(weights: ArrayLike, reference: ArrayLike | None = None) -> float:
    """Return how close the secret is to a blind guess before anything is released.

    Parameters
    ----------
    weights : array-like of shape (m,)
        Prior probabilities of the candidates.
    reference : array-like of shape (m,), optional
        Law that stands for a blind guess; uniform over the candidates when not given. It must
        give positive probability to whatever ``weights`` does.

    Returns
    -------
    float
        ``-KL(weights || reference)`` in nats: 0 when they agree, negative otherwise.

    Raises
    ------
    ValueError
        If an argument is no distribution, or the reference excludes a possible candidate.

    Notes
    -----
    Source: residual-pac, section 4, with the Kullback-Leibler divergence.

    Examples
    --------
    >>> from pacsklearn_papers import intrinsic_privacy
    >>> intrinsic_privacy([0.5, 0.5])
    0.0
    >>> round(intrinsic_privacy([1.0, 0.0]), 4)
    -0.6931
    """
    p, r = _pair(weights, reference)
    possible = p > 0
    # The sum is zero up to rounding where they agree.
    return min(-float(np.sum(p[possible] * (np.log(p[possible]) - np.log(r[possible])))), 0.0) + 0.0


def residual_privacy(
    information: float, weights: ArrayLike, reference: ArrayLike | None = None
) -> float:
    """Return the intrinsic privacy that is left after a release: ``intrinsic - information``.

    Parameters
    ----------
    information : float
        Bound on the mutual information between secret and release, in nats.
    weights, reference : array-likes of shape (m,)
        As for :func:`intrinsic_privacy`.

    Returns
    -------
    float
        Nats, a lower bound when ``information`` is an upper one. No release tells more than the
        secret holds: more than ``H(S)`` counts as ``H(S)``.

    Notes
    -----
    With the uniform reference it is ``H(S | Y) - ln(m)`` (residual-pac, Corollary 2). With any
    other it follows Definition 9 and equation 12, ``-KL(weights || reference) - information``,
    which is no conditional entropy less a constant.

    Examples
    --------
    >>> from pacsklearn_papers import residual_privacy
    >>> residual_privacy(0.25, [0.5, 0.5])
    -0.25
    >>> round(residual_privacy(3.0, [0.5, 0.5]), 4)
    -0.6931
    """
    if not 0 <= information < math.inf:
        raise ValueError(f"information must be finite and not negative, got {information!r} nats.")
    p, _ = _pair(weights, reference)
    entropy = -float(np.sum(p[p > 0] * np.log(p[p > 0])))
    return intrinsic_privacy(weights, reference) - min(float(information), entropy)


def composed_remaining_entropy(remaining: Sequence[float], entropy: float) -> float:
    """Bound ``H(S | Y_1, ..., Y_k)`` from below by the bounds of the releases by themselves.

    Parameters
    ----------
    remaining : sequence of float
        Lower bounds on ``H(S | Y_i)``, in nats.
    entropy : float
        ``H(S)``.

    Returns
    -------
    float
        ``sum(remaining) - (k - 1) entropy``, or 0 when that is negative.

    Notes
    -----
    Source: residual-pac, section 5.4. :func:`joint_remaining_entropy` is the value itself.

    Examples
    --------
    >>> from pacsklearn_papers import composed_remaining_entropy
    >>> composed_remaining_entropy([3.5, 3.25], 4.0)
    2.75
    """
    values = [float(value) for value in remaining]
    if not 0 <= entropy < math.inf:
        raise ValueError(f"entropy must be finite and not negative, got {entropy!r} nats.")
    if not values:
        return float(entropy)
    if not all(0 <= value <= entropy * (1 + 1e-12) for value in values):
        raise ValueError(
            f"remaining must lie between 0 and the entropy {entropy!r}, got {values!r}."
        )
    return max(math.fsum(values) - (len(values) - 1) * float(entropy), 0.0)


def joint_remaining_entropy(
    signals: Sequence[NDArray[np.float64]],
    weights: ArrayLike,
    n_draws: int,
    generator: np.random.Generator,
) -> InformationEstimate:
    """Return ``H(S | Y_1, ..., Y_k)`` of releases with independent noise, by simulation.

    Parameters
    ----------
    signals : sequence of ndarrays of shape (m, k_i)
        Outputs of each release in units of its noise.
    weights : array-like of shape (m,)
    n_draws : int
    generator : numpy Generator

    Returns
    -------
    InformationEstimate
        At least :func:`composed_remaining_entropy` of the releases, up to its standard error.
    """
    p = _distribution("weights", weights)
    shapes = [np.shape(each) for each in signals]
    if not shapes or not all(len(shape) == 2 and shape[0] == p.size for shape in shapes):
        raise ValueError(
            f"signals must hold arrays of {p.size} rows, one for each weight, got shapes {shapes}."
        )
    mixture = GaussianMixture(np.hstack(list(signals)), p)
    estimate = mixture_information(mixture, n_draws, generator)
    return InformationEstimate(entropy_of(mixture) - estimate.nats, estimate.standard_error)


def _pair(
    weights: ArrayLike, reference: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    p = _distribution("weights", weights)
    if reference is None:
        return p, np.full(p.size, 1 / p.size)
    r = _distribution("reference", reference)
    if r.shape != p.shape or np.any((r == 0) & (p > 0)):
        raise ValueError(
            "reference must give positive probability to every candidate that is possible, got "
            f"shape {r.shape} for {p.size} candidates."
        )
    return p, r


def _distribution(name: str, values: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or p.size == 0 or not np.all(p >= 0) or not abs(p.sum() - 1) <= 1e-9:
        raise ValueError(f"{name} must be non-negative numbers that sum to one.")
    return np.asarray(p / p.sum())
