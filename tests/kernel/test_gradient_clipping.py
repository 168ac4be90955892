"""How far a row moves a clipped sum that is computed in doubles."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from pacsklearn.srpp.descent.gradient_clipping import GradientClipping

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
        ((), (), "block"),
        ((1.0,), (2, 3), "block"),
        *(
            ((1.0, bad), (2, 3), "clipping must be")
            for bad in (0.0, -1.0, 5e-324, math.inf, math.nan)
        ),
        ((True,), (2,), "clipping"),
        *(((1.0, 2.0), (2, bad), "sizes must be") for bad in (0, -1, 1.5)),
    ],
)
def test_a_block_has_a_norm_and_parameters(norms: Any, sizes: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        GradientClipping(norms, sizes)
    GradientClipping((2.0**-900, 2.0**900), (1, 1))


BLOCKS = GradientClipping((1.0, 0.25, 3.0), (2, 1, 4))


def test_one_row_moves_all_blocks_by_their_root() -> None:
    """Noise in each block is in proportion to its norm."""
    radii = np.repeat(BLOCKS.norms, BLOCKS.sizes)
    assert np.array_equal(BLOCKS.radii, radii)
    exact = np.linalg.norm(2 * np.array(BLOCKS.norms) / (0.5 * np.array(BLOCKS.norms)))
    assert exact <= BLOCKS.reach(0.5, 8) < exact * (1 + 1e-12)


def test_the_grid_is_a_part_of_the_noise_and_no_finer_than_doubles() -> None:
    """A batch of clipped rows stays below 2**50 steps of the grid; a smaller noise is refused."""
    grid = BLOCKS.grid(2.0, 512)
    assert grid * 2**20 == pytest.approx(2.0 * BLOCKS.radii, rel=1e-15)
    least = BLOCKS.least_multiplier(512)
    assert 512 * BLOCKS.radii / BLOCKS.grid(least, 512) == pytest.approx(np.full(7, 2.0**50))
    for wrong in (math.nextafter(least, 0), 0.0, math.nan):
        with pytest.raises(ValueError, match="noise_multiplier"):
            BLOCKS.grid(wrong, 512)


def test_rounding_moves_a_sum_by_half_a_step_in_each_coordinate_at_most() -> None:
    """Two sums are rounded, each coordinate of each by half a step."""
    exact = np.linalg.norm(np.full(7, 2 * 0.5)) / 2**20
    assert exact < BLOCKS.slack < exact * (1 + 1e-5)


def test_a_copy_is_an_equal_one() -> None:
    assert pickle.loads(pickle.dumps(BLOCKS)) == BLOCKS
    assert BLOCKS.dimension == 7
