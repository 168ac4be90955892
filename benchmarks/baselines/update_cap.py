"""The caps of srpp on how far a step of clipped gradient descent moves, which tests hold it to."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from pacsklearn.kernel.bounds.arrays import Floats


def update_cap(
    square_count: float, clip: float, batch_size: float, lipschitz: float = 1.0
) -> float:
    """Bound on the squared displacement of an update along any direction.

    Parameters
    ----------
    square_count : float
        Square of the number of differing rows in a batch: of the largest for a history-uniform
        cap, its mean for a subsampling-aware one.
    clip : float
        Norm to which every row's gradient is clipped.
    batch_size : float
        What the sum of the gradients is divided by.
    lipschitz : float, default=1.0
        Lipschitz constant of the update map in the averaged gradient; 1 for the gradient itself.

    Notes
    -----
    Source: srpp, Propositions 5.1 and 5.2.

    Examples
    --------
    >>> update_cap(20**2, 4.0, 512)
    0.09765625
    """
    return square_count * (2 * lipschitz * clip / batch_size) ** 2


def published_noise_scale(
    caps: ArrayLike,
    order: float,
    epsilon: float,
    *,
    weights: ArrayLike | None = None,
    aggregation: str = "joint",
) -> float:
    """Standard deviation of noise, the same at every step, for caps on what the noise is added to.

    Parameters
    ----------
    caps : array-like of shape (n_steps,) or (n_steps, n_slices)
        Squared displacement of every step, along every slice.
    order, epsilon : float
        Renyi order, and what is allowed in nats.
    weights : array-like of shape (n_slices,), optional
        Of the slices; needed for ``aggregation="average"``.
    aggregation : {"average", "joint"}, default="joint"

    Notes
    -----
    Source: srpp, Theorems 5.6 and 5.7. Caps with the step size as Lipschitz constant are for noise
    on the update; noise on the gradient, before the step size, needs the caps of the gradient.

    Examples
    --------
    >>> caps = [update_cap(20**2, 4.0, 512)] * 1000
    >>> round(published_noise_scale(caps, order=16, epsilon=8), 4)
    9.8821
    """
    squared = np.asarray(caps, dtype=np.float64)
    if squared.ndim == 2 and aggregation == "average":
        steps = squared @ np.asarray(weights, dtype=np.float64)
    else:
        steps = squared if squared.ndim == 1 else squared.max(axis=1)
    return math.sqrt(order / (2 * epsilon) * float(np.sum(steps)))


def matrix_update_cap(
    square_count: float, clip: float, batch_size: float, preconditioner: ArrayLike
) -> Floats:
    """Cap on an update's displacement in every direction at once, as a positive matrix.

    Parameters
    ----------
    square_count, clip, batch_size : float
        As in :func:`update_cap`.
    preconditioner : array-like of shape (d, d)
        ``A`` of the update ``parameters - A gradient``.

    Returns
    -------
    ndarray of shape (d, d)
        ``H``: the squared displacement along ``u`` is ``u' H u`` at most, for every ``u``.

    Notes
    -----
    The averaged gradient moves by a vector of length ``2 k C / B`` at most, and the update by ``A``
    times that. Source: srpp, section 5.1, the matrix form of Definition 5.1.

    Examples
    --------
    >>> matrix_update_cap(4, 1.0, 2.0, [[1.0, 0.0], [0.0, 0.5]]).tolist()
    [[4.0, 0.0], [0.0, 1.0]]
    """
    matrix = np.asarray(preconditioner, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"preconditioner must be a square matrix, got shape {matrix.shape}.")
    return np.asarray(update_cap(square_count, clip, batch_size) * (matrix @ matrix.T))


def box_matrix_cap(bounds: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Diagonal of the matrix cap of least power for displacements in a box.

    Parameters
    ----------
    bounds : array-like of shape (d,)
        Of each coordinate's absolute displacement; positive.
    weights : array-like of shape (d,), default=1.0
        What noise on each coordinate costs: the power is ``sum(weights * h)``.

    Returns
    -------
    ndarray of shape (d,)
        ``h``: the squared displacement along ``u`` is ``sum(h * u**2)`` at most, for every ``u``.

    Notes
    -----
    ``H`` bounds a displacement ``v`` if and only if ``v' H^-1 v <= 1``, and all of the box if it
    bounds the corners. Averaged over their signs the off-diagonal part of ``H^-1`` drops out, and
    ``1 / (H^-1)_jj <= H_jj``, so the best one is diagonal with ``sum(bounds**2 / h) <= 1``; by
    Cauchy and Schwarz ``h_j = bounds_j / r_j * sum(bounds * r)`` with ``r`` the roots of the
    weights. Its power is ``sum(bounds * r)**2``, where the scalar cap of the ball around the box
    has ``sum(weights) * sum(bounds**2)``: never less, and the same only where ``bounds / r`` is
    constant. A displacement that is known to lie in a ball, and nothing more, may point anywhere:
    then no matrix is below the scalar cap times the identity.

    Examples
    --------
    >>> box_matrix_cap([3.0, 1.0]).tolist()
    [12.0, 4.0]
    """
    sides = np.asarray(bounds, dtype=np.float64)
    if sides.ndim != 1 or not np.all((sides > 0) & np.isfinite(sides)):
        raise ValueError(f"bounds must be positive finite numbers of shape (d,), got {bounds!r}.")
    roots = np.sqrt(np.broadcast_to(np.asarray(weights, dtype=np.float64), sides.shape))
    if not np.all((roots > 0) & np.isfinite(roots)):
        raise ValueError(f"weights must be positive and finite, got {weights!r}.")
    return np.asarray(sides / roots * np.sum(sides * roots))


def matrix_cap_divergence(
    order: float, cap: ArrayLike, covariance: ArrayLike, directions: ArrayLike | None = None
) -> float | Floats:
    """Renyi divergence of a step under a matrix cap, in nats: of the whole, or along slices.

    Parameters
    ----------
    order : float
    cap : array-like of shape (d, d)
    covariance : array-like of shape (d, d)
        Of the Gaussian noise on the update; positive definite.
    directions : array-like of shape (n_slices, d), optional
        Slices; the whole update when not given.

    Returns
    -------
    float, or ndarray of shape (n_slices,)

    Notes
    -----
    ``order / 2 * u' H u / u' S u`` along ``u`` (srpp, Lemma 5.1); its largest value over all ``u``
    bounds the divergence of the whole, because the cap holds along the direction in which, in units
    of the noise, the displacement points.
    """
    height, noise = (np.asarray(each, dtype=np.float64) for each in (cap, covariance))
    if directions is None:
        return order / 2 * max(float(eigh(height, noise, eigvals_only=True)[-1]), 0.0)
    along = np.asarray(directions, dtype=np.float64)
    moved = np.einsum("ij,jk,ik->i", along, height, along)
    return np.asarray(order / 2 * moved / np.einsum("ij,jk,ik->i", along, noise, along))


def matrix_cap_noise(caps: ArrayLike, order: float, epsilon: float) -> Floats:
    """Covariance of noise, the same at every step, for matrix caps and the whole updates.

    Parameters
    ----------
    caps : array-like of shape (n_steps, d, d)
        Positive definite in their mean.
    order, epsilon : float
        Renyi order, and what all steps together may cost in nats.

    Returns
    -------
    ndarray of shape (d, d)
        A multiple of the caps' mean: where all caps are equal no other covariance of so small a
        trace suffices.

    Examples
    --------
    >>> matrix_cap_noise([[[4.0, 0.0], [0.0, 1.0]]] * 10, order=4.0, epsilon=2.0).tolist()
    [[40.0, 0.0], [0.0, 10.0]]
    """
    heights = np.asarray(caps, dtype=np.float64)
    shape = heights.mean(axis=0)
    each = [float(matrix_cap_divergence(order, height, shape)) for height in heights]
    return np.asarray(shape * (sum(each) / epsilon))
