"""Euclidean distances between vectors of any size, each at an exponent of its own."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from pacsklearn.kernel.bounds.arrays import Floats

# Squares of numbers in between are far inside a double.
_LEAST, _LARGEST = 2.0**-400, 2.0**400


def vector_distances(X: Floats, Y: Floats) -> Floats:
    """Return the Euclidean distance between each row of ``X`` and each of ``Y``.

    Zero for equal rows only.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    Y : ndarray of shape (m, d)

    Returns
    -------
    ndarray of shape (n, m)
        Infinite where a distance is above the largest double.

    Notes
    -----
    Squares of numbers below 1e-161 vanish, those above 1e154 overflow: where any difference is out
    of the ordinary, each pair is divided by the power of two of its own largest difference first.

    Examples
    --------
    >>> import numpy as np
    >>> vector_distances(np.array([[3e-200, 4e-200]]), np.zeros((1, 2)))
    array([[5.e-200]])
    """
    largest = cdist(X, Y, "chebyshev")
    if np.all((largest == 0) | ((largest >= _LEAST) & (largest <= _LARGEST))):
        return np.asarray(cdist(X, Y))
    # Rule 13: a pair is measured in its own unit, or a far one would make it vanish.
    exponents = np.frexp(largest)[1]
    squares = np.zeros_like(largest)
    with np.errstate(over="ignore", invalid="ignore"):
        for x, y in zip(X.T, Y.T, strict=True):
            squares += np.ldexp(x[:, None] - y, -exponents) ** 2
        return np.where(np.isinf(largest), np.inf, np.ldexp(np.sqrt(squares), exponents))
