"""Coordinates of weighted points in the affine subspace they span, by one thin SVD."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacsklearn.information.arrays import Floats


class SpanCoordinates(NamedTuple):
    """Uncorrelated coordinates of m points, most variable first.

    Attributes
    ----------
    coordinates : ndarray of shape (m, k)
        The points' coordinates along the principal axes of their weighted covariance.
    variances : ndarray of shape (k,)
        Eigenvalues of the weighted covariance, decreasing, all positive.
    mixing : ndarray of shape (k, m)
        ``mixing @ rows`` are the principal axes. Applied to any other centred linear description
        of the same points it gives the axes there, by weighted least squares.
    """

    coordinates: Floats
    variances: Floats
    mixing: Floats


def span_coordinates(
    rows: Floats, weights: Floats, *, relative_tolerance: float | None = None
) -> SpanCoordinates:
    """Principal coordinates of centred ``rows`` without a d x d matrix.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
        Points with weighted mean zero.
    weights : ndarray of shape (m,)
        Non-negative, summing to one.
    relative_tolerance : float, optional
        Axes whose standard deviation is at most this fraction of the largest are dropped;
        ``max(m, d)`` machine epsilons when not given.

    Returns
    -------
    SpanCoordinates
        With ``k <= min(m - 1, d)`` axes; ``k = 0`` when all points coincide.

    Notes
    -----
    Costs O(m^2 d) time and a few copies of ``rows``.

    Examples
    --------
    >>> import numpy as np
    >>> span = span_coordinates(np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([0.5, 0.5]))
    >>> span.variances
    array([2.])
    """
    m, d = rows.shape
    if relative_tolerance is None:
        relative_tolerance = max(m, d) * float(np.finfo(np.float64).eps)
    root_weights = np.sqrt(weights)
    scaled = root_weights[:, None] * rows
    # A triangle has the left singular vectors of the whole: the right ones are never formed.
    square = np.asarray(np.linalg.qr(scaled.T, mode="r")).T if d > m else scaled
    left, singular, _ = np.linalg.svd(square, full_matrices=False)
    largest = singular[0] if singular.size else 0.0
    keep = singular > relative_tolerance * largest
    keep[min(m - 1, d) :] = False
    left, singular = left[:, keep], singular[keep]
    mixing = (left / singular).T * root_weights
    coordinates = np.empty((m, singular.size))
    likely = weights > 1e-150
    coordinates[likely] = (left * singular)[likely] / root_weights[likely, None]
    if not likely.all():
        coordinates[~likely] = rows[~likely] @ (rows.T @ mixing.T)
    return SpanCoordinates(coordinates, singular**2, mixing)
