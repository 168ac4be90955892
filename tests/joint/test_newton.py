"""Newton's method finds minimisers to rounding, or says that it did not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pacsklearn.joint.newton import newton

Floats = NDArray[np.float64]


class Powers:
    """``sum(exp(u) - a u)`` of coordinates in unlike units, whose minimiser is ``log(a)``."""

    def __init__(self, targets: Floats, units: Floats) -> None:
        self.targets, self.units = targets, units

    def terms(self, point: Floats) -> tuple[Floats, Floats]:
        rising = np.exp(point[:, 0] * self.units)
        gradient = self.units * (rising - self.targets)
        return gradient[:, None], np.diag(self.units**2 * rising)


@pytest.mark.parametrize("start", [0.0, 50.0, -5.0])
def test_a_minimiser_in_any_units_from_far_away(start: float) -> None:
    targets, units = np.array([1e-3, 2.0, 5e4]), np.array([1e-8, 1.0, 1e6])
    solved = newton(Powers(targets, units), (start / units)[:, None])
    assert solved is not None
    np.testing.assert_allclose(solved[0][:, 0] * units, np.log(targets), rtol=1e-10)
    assert solved[1] < 100


def test_a_minimum_that_does_not_exist() -> None:
    flat = Powers(np.array([0.0, 1.0]), np.ones(2))  # falls for ever
    assert newton(flat, np.zeros((2, 1))) is None
    endless = Powers(np.array([np.nan, 1.0]), np.ones(2))
    assert newton(endless, np.zeros((2, 1))) is None
