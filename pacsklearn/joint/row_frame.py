"""Where most rows of a table lie, however far the others are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.universe.some_rows import some_rows

_ROWS = 4096
# Rows that medians are taken of.
_SAMPLE = 1024
# Single precision holds no larger number's digits, and few larger numbers.
_FARTHEST = 1e30
# One row may count for so much of what all rows say about a feature, and rows this near for all.
_SHARE, _NEAR = 1 / 16, 5.0


@final
@dataclass(frozen=True, eq=False)
class RowFrame:
    """Origin and units of features by medians, and what rows count for in a preconditioner.

    Parameters
    ----------
    shift : ndarray of shape (p,)
        Medians; zeros where decisions have no intercept that could take them up.
    unit : ndarray of shape (p,)
        Median distances from the median, of numbers that differ from it.
    weights : ndarray of shape (n_rows,)
        One, and less for rows far away: no number of units moves a preconditioner without bound.
    """

    shift: Floats
    unit: Floats
    weights: Floats

    @classmethod
    def of(cls, rows: Floats, targets: Floats | None = None, *, fit_intercept: bool = True) -> Self:
        """Return the frame of rows; those of far ``targets`` count for less too."""
        table = rows if targets is None else np.column_stack([rows, targets])
        some = table[some_rows(len(table), max(1, len(table) // _SAMPLE))]
        middle = np.median(some, axis=0)
        unit = np.array([_typical(column) for column in np.abs(some - middle).T])
        near = max(_NEAR, float(np.sqrt(_SHARE * len(table))))
        weights = np.empty(len(table))
        for start in range(0, len(table), _ROWS):
            part = slice(start, start + _ROWS)
            far = np.max(np.abs(table[part] - middle) / unit, axis=1, initial=near)
            weights[part] = (near / far) ** 2
        p = rows.shape[1]
        return cls(middle[:p] if fit_intercept else np.zeros(p), unit[:p], weights)

    def moved(self, rows: Floats, out: Floats, *, single: bool) -> Floats:
        """Return the rows around the origin, in units too where they are for single precision."""
        np.subtract(rows, self.shift, out=out)
        if single:
            out /= self.unit
            np.clip(out, -_FARTHEST, _FARTHEST, out=out)
        return out


def _typical(distances: Floats) -> float:
    apart = distances[distances > 0]
    return float(np.median(apart)) if apart.size else 1.0
