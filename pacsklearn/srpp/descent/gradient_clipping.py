"""How gradients are clipped and noised, and how far one row moves their noised sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE

_EPS = float(np.finfo(np.float64).eps)
# Largest whole number a gradient may round to: doubles hold all integers up to 2^53.
_LARGEST_CENTRE = 2.0**50
# Norms so much above 0, and below infinity: sums of as many rows as there may be, and their grid,
# are doubles of full precision.
_LARGEST_NORM = 2.0**900


@final
@dataclass(frozen=True)
class GradientClipping:
    """Norms to which each row's gradient is clipped, block by block.

    Noise on the sum of the gradients has standard deviation ``multiplier * norm`` in each block; it
    is added on an integer lattice whose step is that deviation over ``2**20``.

    Parameters
    ----------
    norms : tuple of float
        One for each block of parameters (layer); one in all when the whole gradient is clipped.
    sizes : tuple of int
        Numbers of parameters of the blocks.

    Examples
    --------
    >>> GradientClipping((1.0,), (10,)).dimension
    10
    """

    norms: tuple[float, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.norms or len(self.norms) != len(self.sizes):
            raise ValueError(
                f"norms and sizes must have one entry for each block, got {len(self.norms)} and "
                f"{len(self.sizes)}."
            )
        for norm in self.norms:
            if isinstance(norm, bool) or not 1 / _LARGEST_NORM <= norm <= _LARGEST_NORM:
                raise ValueError(
                    f"clipping must be between {1 / _LARGEST_NORM:.1e} and {_LARGEST_NORM:.1e}, "
                    f"got {norm!r}."
                )
        for size in self.sizes:
            check_integer(name="sizes", value=size, minimum=1)

    @property
    def dimension(self) -> int:
        """Number of parameters."""
        return sum(self.sizes)

    @property
    def radii(self) -> Floats:
        """Clipping norm that each parameter falls under; shape (d,)."""
        return np.repeat(np.asarray(self.norms, dtype=np.float64), self.sizes)

    def grid(self, multiplier: float, batch_size: int) -> Floats:
        """Return the grid steps of the sum of the gradients; shape (d,).

        Raises
        ------
        ValueError
            When the noise is too small for sums to be whole multiples of a double's precision.
        """
        if not multiplier >= self.least_multiplier(batch_size):
            raise ValueError(
                f"noise_multiplier must be at least {self.least_multiplier(batch_size):.2g} for "
                f"batches of {batch_size:,} rows, got {multiplier!r}; 0 is no noise at all."
            )
        return self.radii * (multiplier / LATTICE_SCALE)

    def least_multiplier(self, batch_size: int) -> float:
        """Return the least noise with which the lattice is fine enough for doubles."""
        return batch_size * LATTICE_SCALE / _LARGEST_CENTRE

    def reach(self, multiplier: float, batch_size: int) -> float:
        """Return standard deviations of the noise by which one differing row moves the whole sum.

        Every block moves by two clipping norms, and so do doubles by what their sums are off.
        """
        return math.sqrt(len(self.norms)) * 2 / multiplier * self._inexact(batch_size)

    @property
    def slack(self) -> float:
        """Standard deviations by which rounding to the lattice moves the sum, if anything does."""
        return math.sqrt(self.dimension) / LATTICE_SCALE * (1 + 1e-6)

    def _inexact(self, batch_size: int) -> float:
        """Bound what clipping and sums in doubles lose.

        A norm is off by ``d`` roundings, a sum by one a row.
        """
        return 1 + 4 * _EPS * (self.dimension + 16 + (batch_size + 16.0) ** 2)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.norms, self.sizes)
