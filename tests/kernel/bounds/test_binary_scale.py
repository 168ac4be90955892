from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.kernel.bounds.binary_scale import (
    binary_exponent,
    middle_exponent,
    power_by,
    scaled_by,
)


@pytest.mark.parametrize("power", [-1074, -1000, -201, 201, 1000, 1023])
def test_the_largest_becomes_a_number_below_one(power: int) -> None:
    values = np.ldexp([0.0, -1.5, 1.0], power if power > -1074 else -1073)
    scaled = scaled_by(values, -binary_exponent(values))
    assert 0.5 <= np.abs(scaled).max() < 1
    np.testing.assert_array_equal(
        scaled_by(scaled, binary_exponent(values)), values.clip(-(2.0**1020), 2.0**1020)
    )


def test_ordinary_numbers_and_zero_are_left_alone() -> None:
    assert binary_exponent([2.0**-199, 2.0**199]) == binary_exponent([0.0]) == 0
    assert middle_exponent(np.array([2.0**-199, 0.0, 2.0**199])) == 0
    assert middle_exponent(np.array([2.0**-900, 2.0**900])) == 1
    values = np.array([3.0])
    np.testing.assert_array_equal(scaled_by(values, 0), values)


def test_powers_that_no_double_holds() -> None:
    assert power_by(2.0, 10) == 2.0**21
    assert power_by(2.0, 1000) == np.inf
    assert power_by(2.0, -1000) == 0.0
