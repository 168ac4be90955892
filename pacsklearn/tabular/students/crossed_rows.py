"""More queries than there are public rows: rows crossed from pairs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

FEW_ROWS = 2000
"""So many queries are asked at least, where there are public rows to make them from."""


def with_crossed(rows: Any) -> Any:
    """Return the public rows, and where they are few, made-up ones after them.

    A function of public rows.

    A made-up row has each of its values from the one or the other of two public rows.

    Parameters
    ----------
    rows : ndarray or DataFrame of shape (n, n_columns)

    Returns
    -------
    ndarray or DataFrame of shape (max(n, 2000), n_columns)
        As given where nothing can be crossed: one row, one column, a sparse matrix, images.

    Notes
    -----
    Source: uniform crossover (Syswerda, 1989). Unlike rows halfway between two others, these are
    as far apart as the public ones, in every column.
    """
    n_rows = int(rows.shape[0])
    if not 2 <= n_rows < FEW_ROWS or issparse(rows) or len(rows.shape) != 2 or rows.shape[1] < 2:
        return rows
    generator = np.random.default_rng(0)  # public, as the rows are
    size = (FEW_ROWS - n_rows, rows.shape[1])
    first, second = generator.integers(n_rows, size=(2, size[0], 1))
    chosen = np.where(generator.random(size) < 0.5, first, second)
    if not hasattr(rows, "columns"):
        return np.concatenate([rows, np.take_along_axis(rows, chosen, axis=0)])
    import pandas as pd

    made = [
        rows.iloc[taken, position].reset_index(drop=True) for position, taken in enumerate(chosen.T)
    ]
    return pd.concat([rows, pd.concat(made, axis=1)], ignore_index=True)
