"""Cost of noise through a linear operator."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import aslinearoperator

from pacsklearn.core.metric import Metric

__all__ = ["OperatorMetric"]

Floats = NDArray[np.float64]


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
    >>> from pacsklearn.core.operator_metric import OperatorMetric
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
        length = self._operator.shape[1]
        if rows.shape[1] != length:
            raise ValueError(
                f"The operator is for vectors of length {length}, the released vector has "
                f"{rows.shape[1]} numbers."
            )
        found = np.asarray(self._operator.matmat(np.ascontiguousarray(rows.T))).T
        if not np.all(np.isfinite(found)):
            raise ValueError("The operator of the metric gives values that are not finite.")
        return np.ascontiguousarray(found, dtype=np.float64)
