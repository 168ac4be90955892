"""Queries by the digests of their rows."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def row_keys(X: Any) -> list[bytes]:
    """Digest of each row: equal for rows of equal values, types and column names.

    Parameters
    ----------
    X : ndarray, sparse matrix or DataFrame of shape (n, p)

    Returns
    -------
    list of n bytes
        128-bit digests.
    """
    if sparse.issparse(X):
        return _sparse_keys(X)
    if hasattr(X, "columns"):
        parts = [X.iloc[:, i] if hasattr(X, "iloc") else X[:, i] for i in range(X.shape[1])]
        names = [(name, str(part.dtype)) for name, part in zip(X.columns, parts, strict=True)]
        columns = [_with_one_zero(np.asarray(part.to_numpy())) for part in parts]
    else:
        values = np.asarray(X)
        names, columns = [("", values.dtype.str)], [_with_one_zero(values)]
    header = repr(names).encode()
    if all(column.dtype.kind in "biuf" for column in columns):
        return _numeric_keys(header, columns)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    # repr keeps 1, 1.0, True and "1" apart, which a model may read differently.
    return [_digest(header, repr(row).encode()) for row in rows]


def _numeric_keys(header: bytes, columns: list[NDArray[Any]]) -> list[bytes]:
    """Each column in its own type: an integer beyond 2^53 is no double."""
    parts = []
    for column in columns:
        width = column.dtype.itemsize * (column.size // max(len(column), 1))
        flat = np.ascontiguousarray(column).reshape(-1)
        parts.append(flat.view(np.uint8).reshape(len(column), width))
    table = np.ascontiguousarray(np.concatenate(parts, axis=1))
    return [_digest(header, row.tobytes()) for row in table]


def _with_one_zero(column: NDArray[Any]) -> NDArray[Any]:
    """Adding zero turns -0.0 into 0.0, which every model reads alike."""
    return column + column.dtype.type(0) if column.dtype.kind == "f" else column


def _sparse_keys(X: Any) -> list[bytes]:
    rows = X.tocsr(copy=True)
    # Stored zeros and entries in several parts are read as the same row by every model.
    rows.sum_duplicates()
    rows.eliminate_zeros()
    header = f"sparse {rows.dtype.str} {rows.shape[1]}".encode()
    parts = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return [
        _digest(header, rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes())
        for a, b in parts
    ]


def _digest(header: bytes, content: bytes) -> bytes:
    # The length first: no end of a header can be taken for the beginning of a row.
    return hashlib.blake2b(
        len(header).to_bytes(8, "little") + header + content, digest_size=16
    ).digest()
