"""Search for training rows inside a pickle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_RUN = 8


def holds_training_rows(pickled: bytes, X: Any, y: Any = None, *, public: bytes = b"") -> bool:
    """Whether the bytes of a row, or of a run of a column, of the data occur in ``pickled``.

    Parameters
    ----------
    pickled : bytes
    X : array-like or sparse matrix
    y : array-like, optional
    public : bytes
        Pickle in which a match means nothing (the unfitted estimator).

    Notes
    -----
    Looks for float64 and float32. Runs of fewer than two telling numbers are left out, since
    small integers and powers of two occur everywhere.
    """
    for run in _runs(X, y):
        for dtype in (np.float64, np.float32):
            pattern = np.ascontiguousarray(run, dtype=dtype).tobytes()
            if pattern in pickled and pattern not in public:
                return True
    return False


def _runs(X: Any, y: Any) -> Iterator[NDArray[np.float64]]:
    if hasattr(X, "tocsr"):
        sparse = X.tocsr()
        candidates = [
            sparse.data[sparse.indptr[i] : sparse.indptr[i + 1]] for i in range(sparse.shape[0])
        ]
    else:
        table = _numeric(X)
        candidates = [*table, *table[:_RUN].T]
    if y is not None:
        candidates += list(_numeric(y)[:_RUN].T)
    for run in candidates:
        if np.unique(run[_is_telling(run)]).size >= 2:
            yield run


def _is_telling(run: NDArray[np.float64]) -> NDArray[np.bool_]:
    scaled = run * 2.0**20
    return np.asarray(np.isfinite(scaled) & (scaled != np.rint(scaled)))


def _numeric(data: Any) -> NDArray[np.float64]:
    table = data.select_dtypes("number") if hasattr(data, "select_dtypes") else data
    array = np.asarray(table)
    if not np.issubdtype(array.dtype, np.number):
        return np.empty((array.shape[0], 0))
    return np.asarray(array, dtype=np.float64).reshape(array.shape[0], -1)
