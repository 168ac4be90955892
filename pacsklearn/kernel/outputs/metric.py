"""What a unit of noise costs in each direction of the output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

from pacsklearn.kernel.bounds.arrays import Floats


class Metric(ABC):
    """Quadratic cost ``|L b|^2`` of a noise vector ``b``; the backends minimise its expectation.

    Directions of no cost are not released: their value is predicted from the others.
    """

    @abstractmethod
    def root(self, rows: Floats) -> Floats:
        """Return ``rows @ L.T`` for rows of shape (m, d)."""


@final
class IdentityMetric(Metric):
    """Every coordinate counts the same."""

    def root(self, rows: Floats) -> Floats:
        return rows
