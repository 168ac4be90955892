"""What makes two queries identical."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["row_keys"]


def row_keys(X: Any) -> list[bytes]:
    """Digest of each row: equal for rows of equal values, whatever container they came in.

    Parameters
    ----------
    X : ndarray, sparse matrix or DataFrame of shape (n, p)

    Returns
    -------
    list of n bytes
        128-bit digests.
    """
    if sparse.issparse(X):
        rows = X.tocsr(copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        parts = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [
            _digest(
                rows.indices[a:b].astype(np.int64).tobytes()
                + rows.data[a:b].astype(np.float64).tobytes()
            )
            for a, b in parts
        ]
    values = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    if values.dtype.kind in "biuf":
        # Adding zero turns -0.0 into 0.0, which every model reads alike.
        numbers = np.ascontiguousarray(values, dtype=np.float64) + 0.0
        width = numbers.dtype.itemsize * (numbers.size // max(len(numbers), 1))
        buffer = numbers.tobytes()
        return [_digest(buffer[i * width : (i + 1) * width]) for i in range(len(numbers))]
    return [_digest(repr(row).encode()) for row in values.tolist()]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
