"""More queries than there are public rows: rows between pairs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pacsklearn._sklearn_compat import safe_indexing

FEW_ROWS = 2000
"""So many queries are asked at least, where there are public rows to make them from."""


def with_blended(rows: Any, seed: int = 0) -> Any:
    """Public rows, and where they are few, made-up ones after them: a function of public rows.

    A made-up row lies between two public ones: its numbers a random part of the way from one to
    the other, the same part for all of them, everything else the one's or the other's.

    Parameters
    ----------
    rows : ndarray or DataFrame of shape (n, n_columns)
    seed : int, default=0
        Public.

    Returns
    -------
    ndarray or DataFrame of shape (max(n, 2000), n_columns)
        As given where nothing can be blended: one row, a sparse matrix, images.

    Notes
    -----
    Source: mixup (Zhang, Cisse, Dauphin and Lopez-Paz, 2018), of rows alone; the teacher is asked
    for their labels.
    """
    n_rows = int(rows.shape[0])
    if not 2 <= n_rows < FEW_ROWS or issparse(rows) or len(rows.shape) != 2:
        return rows
    generator = np.random.default_rng(seed)
    size = FEW_ROWS - n_rows
    first, second = (generator.integers(n_rows, size=size) for _ in range(2))
    part = generator.uniform(size=size)
    named = hasattr(rows, "columns")
    made = safe_indexing(rows, first)
    made = made.reset_index(drop=True) if named else made
    for position in range(rows.shape[1]):
        column = rows.iloc[:, position] if named else rows[:, position]
        if getattr(column.dtype, "kind", "O") in "fiu":
            values = _between(column, first, second, part)
        else:
            values = safe_indexing(column, np.where(generator.random(size) < part, second, first))
            values = values.reset_index(drop=True) if named else values
        if named:
            made.isetitem(position, values)
        else:
            made[:, position] = values
    if not named:
        return np.concatenate([rows, made])
    import pandas as pd

    return pd.concat([rows, made], ignore_index=True)


def _between(
    column: Any, first: NDArray[np.intp], second: NDArray[np.intp], part: NDArray[np.float64]
) -> Any:
    """Numbers between those of two rows, whole where the column's are, and of its type."""
    named = hasattr(column, "to_numpy")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan) if named else column.astype(float)
    start, end = values[first], values[second]
    made = start + part * (end - start)
    made = np.where(np.isnan(made), start, made)
    known = values[~np.isnan(values)]
    if np.array_equal(known, np.rint(known)):
        made = np.rint(made)
    if not named:
        return made.astype(column.dtype)
    import pandas as pd

    return pd.Series(made).astype(column.dtype)
