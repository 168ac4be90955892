"""Positive numbers, probabilities and covariances as logarithms: every noisy one is a valid one.

A covariance's has no sign and no order of axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric, MatrixMetric

# Its exponential, squares and sums of it are finite doubles.
_LARGEST_LOG = 200.0


def positive(logarithms: Floats) -> Floats:
    """Return positive finite numbers from their logarithms."""
    return np.asarray(np.exp(np.clip(logarithms, -_LARGEST_LOG, _LARGEST_LOG)))


def log_simplex(logarithms: Floats) -> Floats:
    """Return the logarithms of positive probabilities that sum to one along the last axis."""
    below = logarithms - logarithms.max(axis=-1, keepdims=True)
    below = np.maximum(below, -_LARGEST_LOG)
    return np.asarray(below - np.log(np.exp(below).sum(axis=-1, keepdims=True)))


def simplex(logarithms: Any) -> Floats:
    """Return positive probabilities that sum to one along the last axis."""
    probabilities = np.exp(log_simplex(logarithms))
    return np.asarray(probabilities / probabilities.sum(axis=-1, keepdims=True))


def prior_of(arrays: dict[str, Floats], given: Any) -> Floats:
    """Return the noised class priors; those that are a parameter where none were learned."""
    learned = "log_prior" in arrays
    return simplex(arrays["log_prior"]) if learned else np.asarray(given, dtype=np.float64)


# Logarithm of the largest ratio of two variances that double precision can tell from infinity.
_LARGEST_CONDITION = 36.0


def to_log(axes: Floats, variances: Floats) -> Floats:
    """Return the upper triangle of the logarithm of ``axes @ diag(variances) @ axes.T``.

    A variance of zero gives infinity, which the session reports.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = (axes * np.log(variances)) @ axes.T
    return np.asarray(logarithm[np.triu_indices(axes.shape[0])])


def symmetric(upper: Floats, size: int) -> Floats:
    """Return the symmetric matrix with this upper triangle."""
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = upper
    return matrix + np.triu(matrix, 1).T


def spectrum_of_log(upper: Floats, size: int) -> tuple[Floats, Floats]:
    """Return the orthonormal axes (in columns) and positive variances, falling."""
    values, axes = np.linalg.eigh(symmetric(upper, size))
    values = np.maximum(values, values[-1] - _LARGEST_CONDITION)
    return axes[:, ::-1], positive(values[::-1])


def from_log(upper: Floats, size: int) -> Floats:
    """Return the symmetric positive definite matrix of which this is the logarithm."""
    axes, variances = spectrum_of_log(upper, size)
    return np.asarray((axes * variances) @ axes.T)


def mean_metric(upper: Floats, size: int) -> Metric:
    """Return squared change of the mean in units of the covariance: the change of a log-density."""
    axes, variances = spectrum_of_log(upper, size)
    units = np.sqrt(np.einsum("ij,j,ij->i", axes, variances, axes))
    scaled = (axes.T * units) / np.sqrt(variances)[:, None]
    return MatrixMetric(scaled.T @ scaled, 1 / units)


def log_metric(size: int) -> Metric:
    """Return expected squared change of a Gaussian log-density, to first order, on its own rows."""
    rows, columns = np.triu_indices(size)
    return DiagonalMetric(np.where(rows == columns, 0.5, 1.0))
