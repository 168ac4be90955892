"""Metrics by weights, a matrix or an operator, and what users give for one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from pacsklearn._validation import brief, is_word
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric


@final
@dataclass(frozen=True, eq=False)
class DiagonalMetric(Metric):
    """Coordinate ``i`` costs ``weights[i] * b_i**2``."""

    weights: Floats

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise ValueError(
                "weights of a diagonal metric must be a vector of finite numbers >= 0, got an "
                f"array of shape {weights.shape}."
            )
        object.__setattr__(self, "weights", weights)

    def root(self, rows: Floats) -> Floats:
        check_length(rows, self.weights.shape[0])
        return np.asarray(rows * np.sqrt(self.weights))


@final
@dataclass(frozen=True, eq=False)
class MatrixMetric(Metric):
    """``(units * b)' G (units * b)`` for a symmetric positive semi-definite matrix ``G``.

    Directions of no cost are told from cheap ones by rounding errors of ``G``: state coordinates of
    very different size in ``units`` that make them comparable.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
    units : ndarray of shape (d,), optional
        Positive factors, or zero where noise costs nothing; one when not given.
    """

    matrix: Floats
    units: Floats | None = None
    _root: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        matrix = np.asarray(self.matrix, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
            raise ValueError(f"A metric must be a square matrix, got shape {matrix.shape}.")
        if not np.all(np.isfinite(matrix)) or not np.allclose(matrix, matrix.T):
            raise ValueError("A metric must be a symmetric matrix of finite numbers.")
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        # Below it an eigenvalue may be rounding: kept, its direction would get endless noise.
        floor = values[-1] * matrix.shape[0] * np.finfo(float).eps
        if values[-1] < 0 or values[0] < -max(floor * 1e3, 0.0):
            raise ValueError(
                "A metric must be positive semi-definite; it has a negative eigenvalue."
            )
        keep = values > floor
        if self.units is not None:
            units = DiagonalMetric(self.units).weights
            check_length(matrix, units.shape[0])
            object.__setattr__(self, "units", units)
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "_root", vectors[:, keep] * np.sqrt(values[keep]))

    def root(self, rows: Floats) -> Floats:
        check_length(rows, self.matrix.shape[0])
        return np.asarray((rows if self.units is None else rows * self.units) @ self._root)


def as_metric(value: Any) -> Metric:
    """Return the metric from a user's argument.

    Parameters
    ----------
    value : None, Metric, array-like of shape (d,) or (d, d), LinearOperator or sparse matrix
        None means the identity; a vector a diagonal metric; a matrix a full one; an operator
        ``L`` the cost ``|L b|^2``.
    """
    if value is None:
        return IdentityMetric()
    if isinstance(value, Metric):
        return copy(value)  # what it keeps of outputs is not kept by the caller's
    if isinstance(value, LinearOperator) or issparse(value):
        return OperatorMetric(value)
    array = None
    if isinstance(value, (np.ndarray, Sequence)) and not isinstance(value, (str, bytes)):
        with suppress(TypeError, ValueError):  # words: refused below, without being quoted
            array = np.asarray(value, dtype=np.float64)
    if array is None:
        raise ValueError(
            "metric must be 'auto', None, a vector, a symmetric matrix, a linear operator or a "
            f"pacsklearn Metric, got {brief(value)}."
        )
    return DiagonalMetric(array) if array.ndim == 1 else MatrixMetric(array)


def metric_or_auto(value: Any) -> Metric | None:
    """Return the metric from a user's argument; None for ``"auto"``."""
    return None if is_word(value, "auto") else as_metric(value)


def check_length(rows: Floats, length: int) -> None:
    """Refuse vectors of another length than a metric is for."""
    if rows.shape[1] != length:
        raise ValueError(
            f"The metric is for vectors of length {length}, the released vector has "
            f"{rows.shape[1]} numbers."
        )


@final
class OperatorMetric(Metric):
    """A noise vector ``b`` costs ``|L b|^2``, for an operator that need not be a matrix.

    Parameters
    ----------
    operator : LinearOperator, sparse matrix or array of shape (r, d)
        What maps the released vector to what counts: the prediction for some public rows, say.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import diags
    >>> from pacsklearn.universe.metrics import OperatorMetric
    >>> OperatorMetric(diags([2.0, 3.0])).root(np.array([[1.0, 1.0]]))
    array([[2., 3.]])
    """

    def __init__(self, operator: Any) -> None:
        try:
            self._operator = aslinearoperator(operator)
        except TypeError:
            raise TypeError(
                "operator must be a scipy LinearOperator, a sparse matrix or an array, got "
                f"{type(operator).__name__}."
            ) from None
        if np.issubdtype(self._operator.dtype, np.complexfloating):
            raise ValueError("operator must be real; stack real and imaginary parts instead.")

    def root(self, rows: Floats) -> Floats:
        check_length(rows, self._operator.shape[1])
        image = np.asarray(self._operator.matmat(np.ascontiguousarray(rows.T))).T
        if not np.all(np.isfinite(image)):
            raise ValueError("The operator of the metric gives values that are not finite.")
        return np.ascontiguousarray(image, dtype=np.float64)
