"""Which rows are in which candidate subsets, for whatever sums over them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Memberships(Protocol):
    """Bits of some rows: a whole :class:`~pacsklearn.secrets.SecretSpace`, or those of one batch.

    Attributes
    ----------
    packed : ndarray of uint8, shape (n_units, ceil(m / 8))
    n_subsets : int
    unit_of_row : ndarray of shape (n_rows,) or None
    """

    @property
    def packed(self) -> NDArray[np.uint8]: ...

    @property
    def n_subsets(self) -> int: ...

    @property
    def unit_of_row(self) -> NDArray[np.int64] | None: ...

    def rows(self, index: int) -> NDArray[np.int64]:
        """Return the row indices of candidate ``index``, increasing."""
        ...

    def membership(self, units: Any = ...) -> NDArray[np.bool_]:
        """Return which candidates hold each of the units; shape (n_chosen_units, m)."""
        ...
