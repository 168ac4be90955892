"""How far a row moves a clipped sum that is computed in doubles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pacsklearn.core.gradient_clipping import GradientClipping

EPS = float(np.finfo(np.float64).eps)


@pytest.mark.parametrize("sizes", [(2**26,), (2**25, 2**25)])
def test_a_norm_of_many_numbers_is_off_by_a_rounding_each(sizes):
    # The bound claims d roundings of eps / 2 for a norm of d numbers.
    clipping = GradientClipping((1.0,) * len(sizes), sizes)
    moved = clipping.reach(2.0, 1) / np.sqrt(len(sizes))
    assert sum(sizes) * EPS / 2 < moved - 1 < 8 * sum(sizes) * EPS


def test_a_sum_of_many_rows_is_off_by_a_rounding_each():
    moved = GradientClipping((1.0,), (3,)).reach(2.0, 100_000)
    # Each of n partial sums, of up to n norms, is rounded by eps / 2 of it.
    assert 100_000**2 * EPS / 4 < moved - 1 < 8 * 100_000**2 * EPS


@pytest.mark.parametrize(
    ("norms", "sizes", "message"),
    [
        ((), (), "one entry for each block, got 0 and 0"),
        ((1.0,), (2, 3), "one entry for each block, got 1 and 2"),
        *(((1.0, bad), (2, 3), "clip_norm must be") for bad in (0.0, -1.0, math.inf, math.nan)),
        ((True,), (2,), "clip_norm must be"),
        *(((1.0, 2.0), (2, bad), "sizes must be") for bad in (0, -1, 1.5)),
    ],
)
def test_a_block_has_a_norm_and_parameters(norms: Any, sizes: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        GradientClipping(norms, sizes)
    GradientClipping((5e-324,), (1,))
