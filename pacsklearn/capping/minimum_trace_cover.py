"""The noise of least power that hides a set of directions equally well."""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats

# Share of the trace that covers what no direction points to.
_EVERYWHERE = 1e-6
_TOLERANCE = 1e-3


def minimum_trace_cover(directions: Floats, *, max_iterations: int = 60) -> Floats:
    """Minimise ``tr S`` subject to ``d' S^-1 d <= 1`` for every row ``d``.

    Parameters
    ----------
    directions : ndarray of shape (t, k)
        Not all zero.
    max_iterations : int, default=60
        At least 1.

    Returns
    -------
    ndarray of shape (k, k)
        Positive definite, with the largest ``d' S^-1 d`` equal to one.

    Notes
    -----
    For weights ``u`` on the rows, ``S = (sum u d d')^(1/2)`` minimises ``tr S + sum u d' S^-1 d``;
    the dual objective ``tr S`` is concave in ``u`` with gradient ``d' S^-1 d / 2``. Rows are
    weighted up in proportion to how visible they are (Titterington's update for optimal designs).

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import minimum_trace_cover
    >>> minimum_trace_cover(np.array([[3.0, 0.0], [0.0, 1.0], [0.1, 0.1]])).round(1)
    array([[9., 0.],
           [0., 1.]])
    """
    t, k = directions.shape
    spread = directions.T @ directions
    if not np.trace(spread) > 0:
        raise ValueError("directions must not all be zero.")
    floor = _EVERYWHERE * np.trace(spread) / t / k
    weights = np.full(t, 1 / t)
    for _ in range(max_iterations):
        covariance = _root((directions.T * weights) @ directions, floor)
        visible = np.einsum("ij,ij->i", directions @ np.linalg.inv(covariance), directions)
        mean = float(weights @ visible)
        if visible.max() <= (1 + _TOLERANCE) * mean:
            break
        weights *= visible / mean
        weights /= weights.sum()
    return np.asarray(covariance * visible.max())


def _root(matrix: Floats, floor: float) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0) + floor)) @ vectors.T)
