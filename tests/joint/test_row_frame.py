"""No single row moves the frame of a table without bound."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.joint.row_frame import RowFrame


@pytest.mark.parametrize("value", [1e6, -1e99])
def test_one_far_row(value: float) -> None:
    rows = np.random.default_rng(0).normal(size=(500, 3)) * [1.0, 1e-5, 1e5] + [0.0, 1.0, -1e5]
    rows[:, 2] = np.where(rows[:, 0] > 2, rows[:, 2], 0.0)  # mostly one number
    before = RowFrame.of(rows)
    moved = rows.copy()
    moved[7] = value
    after = RowFrame.of(moved)
    np.testing.assert_allclose(after.shift, before.shift, atol=0.02 * before.unit.max())
    np.testing.assert_allclose(after.unit, before.unit, rtol=0.5)
    # What the row adds to the squares is bounded by what all others do.
    squares = after.weights[:, None] * ((moved - after.shift) / after.unit) ** 2
    assert np.all(squares[7] <= len(rows) / 16 * 1.01)
    others = np.delete(np.arange(500), 7)
    np.testing.assert_allclose(after.weights[others], before.weights[others], rtol=0.2)


def test_targets_count_and_an_intercept_moves_the_origin() -> None:
    rows, targets = np.ones((100, 2)) * 3.0, np.arange(100.0)
    targets[5] = 1e12
    frame = RowFrame.of(rows, targets)
    assert frame.weights[5] < 1e-15
    assert np.all(np.delete(frame.weights, 5) == 1.0)
    assert frame.shift.tolist() == [3.0, 3.0]
    assert RowFrame.of(rows, fit_intercept=False).shift.tolist() == [0.0, 0.0]
