"""Convex losses of decisions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats

Chosen = slice | NDArray[np.int64]
"""Rows of the table whose targets a loss knows."""


class Loss(ABC):
    """Convex loss of each row's decision, with its target.

    Attributes
    ----------
    n_outputs : int
        Decisions a row; where there are several, a shift common to them changes nothing.
    argument_scale, slope_scale : float
        What decisions are multiplied by before :meth:`slopes` and slopes after it, where that
        saves a pass over them.
    """

    n_outputs: int = 1
    argument_scale: float = 1.0
    slope_scale: float = 1.0

    @abstractmethod
    def slopes(self, decision: NDArray[np.floating], rows: Chosen) -> None:
        """Replace decisions (rows, outputs, candidates) by the loss' derivatives, in place."""

    @abstractmethod
    def curvature(self, decision: Floats, rows: Chosen) -> Floats:
        """Return the second derivatives at decisions (rows, outputs).

        Shape (rows, outputs, outputs).
        """

    @abstractmethod
    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        """Return the sum of the losses of decisions (rows, outputs)."""
