"""The search for a scale, on curves whose root is known."""

from __future__ import annotations

import math

import pytest

from pacsklearn.information.scale_search import least_log_factor


@pytest.mark.parametrize("root", [-30.0, -0.4, 0.0, 0.3, 5.0, 50.0])
@pytest.mark.parametrize("slope", [0.2, 1.0, 3.0])
def test_lines(root: float, slope: float) -> None:
    looks = []

    def line(at: float) -> float:
        looks.append(at)
        return slope * (root - at)

    found = least_log_factor(line, slope=1.0)
    assert -1e-3 <= line(found) <= 0 or 0 <= found - root < 1e-3
    assert len(looks) < 25


def test_a_plateau_is_crossed() -> None:
    """A candidate 1e9 deviations away stays in sight until the noise is as large as that."""

    def plateau(at: float) -> float:
        return 0.3 if 1 < at < 41 else -0.2 if at >= 41 else 2 - at

    assert least_log_factor(plateau, slope=1.0) == pytest.approx(41.0, abs=2e-3)


def test_what_is_never_small_enough() -> None:
    assert least_log_factor(lambda _: 1.0, slope=1.0) == 70.0
    assert least_log_factor(lambda _: 1.0, slope=1.0, farthest=2.5) == 2.5
    assert least_log_factor(lambda _: -math.inf, slope=1.0) <= -70.0
