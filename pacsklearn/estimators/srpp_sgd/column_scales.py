"""Columns divided by public bounds: the noise on the coefficients gets the shape of the bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from scipy import sparse

from pacsklearn.information.arrays import Floats

# Bounds from here to its inverse: no coefficient overflows when it is put back in its own unit.
_SMALLEST: Final = 1e-50
_LARGEST_ENTRY: Final = float(np.finfo(np.float64).max)


@final
@dataclass(frozen=True, eq=False)
class ColumnScales:
    """Public scales in which a linear model is trained, and the norm to clip to there.

    A row within the bounds has a gradient ``slope * (row / bounds, 1)`` in a box of equal sides: no
    matrix cap around that box has less power than the ball. Put back in the columns' own units,
    steps are preconditioned by ``1 / bounds**2`` and the noise has the shape of the matrix cap of
    such updates, of least effect on the decisions of rows at their bounds.

    Parameters
    ----------
    bounds : ndarray of shape (n_features,)
    clip_norm : float
        With which no row within the bounds is clipped whose slope is within the estimator's.
    """

    bounds: Floats
    clip_norm: float

    @classmethod
    def of(
        cls, bounds: Any, n_features: int, clip_norm: float, *, intercept: bool
    ) -> ColumnScales | None:
        """Scales for ``feature_bounds``; None where there are none.

        Raises
        ------
        ValueError
            When they are not one positive number for each column.
        """
        if bounds is None:
            return None
        try:
            sides = np.asarray(bounds, dtype=np.float64)
        except (TypeError, ValueError):
            sides = np.empty(0)
        if sides.shape != (n_features,) or not np.all(
            (sides >= _SMALLEST) & (sides <= 1 / _SMALLEST)
        ):
            given = repr(bounds) if np.size(bounds) <= 20 else f"{np.size(bounds)} entries"
            raise ValueError(
                f"feature_bounds must be {n_features} numbers in [{_SMALLEST:g}, "
                f"{1 / _SMALLEST:g}], one for each column of X, from a codebook; got {given}."
            )
        return cls(sides, clip_norm * math.sqrt(n_features + intercept))

    def scaled(self, X: Any) -> Any:
        """Rows over the bounds; an array or a sparse matrix of shape (n, n_features)."""
        # An entry that overflows is far beyond its bound: such a row moves nothing.
        with np.errstate(over="ignore", under="ignore"):
            if sparse.issparse(X):
                rows = (X @ sparse.diags(1 / self.bounds, format="csr")).tocsr()
                rows.data = np.clip(rows.data, -_LARGEST_ENTRY, _LARGEST_ENTRY)
                return rows
            return np.clip(X / self.bounds, -_LARGEST_ENTRY, _LARGEST_ENTRY)

    def restored(self, parameters: Floats) -> Floats:
        """Parameters for rows as they were; shape (k, n_features + 1)."""
        return parameters / np.append(self.bounds, 1.0)
