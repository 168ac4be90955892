"""Worlds made of the rows that were given."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.srpp.scenarios.scenario import World


@final
class RowWorld(World):
    """Some of the rows given, perhaps repeated.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Indices into the rows given.
    """

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self.rows: NDArray[np.int64] = rows

    def data(self, X: Any, y: Any) -> tuple[Any, Any]:
        return safe_indexing(X, self.rows), None if y is None else safe_indexing(y, self.rows)
