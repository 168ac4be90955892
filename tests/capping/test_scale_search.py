"""The search for a scale, on curves whose root is known."""

from __future__ import annotations

import math

import pytest

from pacsklearn.capping.scale_search import least_log_factor


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


@pytest.mark.parametrize(
    ("ratio", "slope", "places"),
    [
        (1.0, 1.0, [0, 1, 3, 7, 15, 31, 63, 70]),
        (1.0, 0.5, [0, 2, 6, 14, 30, 62, 70]),
        (50.0, 1.0, [0, 3, 9, 21, 45, 70]),
        (1e-9, 1.0, [0, 0.02, 0.06, 0.14, 0.3, 0.62, 1.26, 2.54]),
        (-50.0, 1.0, [0, -3, -9, -21, -45, -70]),
        (-1.0, 0.5, [0, -2, -6, -14, -30, -62, -70]),
    ],
)
def test_steps_of_the_guessed_slope_double(ratio: float, slope: float, places: list[float]) -> None:
    """At most three nats of noise at first, at least a fiftieth, and never past 70."""
    looks: list[float] = []

    def level(at: float) -> float:
        looks.append(at)
        return ratio

    found = least_log_factor(level, slope=slope)
    assert looks[: len(places)] == pytest.approx(places)
    assert looks[-1] == found == math.copysign(70.0, ratio)


@pytest.mark.parametrize(("over", "under"), [(1.0, -1.0), (1.0, -3.0), (1.0, -1e3), (1e3, -1.0)])
def test_between_two_places_false_position_decides(over: float, under: float) -> None:
    """Not nearer to either than a twentieth; a side that stays counts half (Illinois)."""
    looks: list[float] = []

    def jump(at: float) -> float:
        looks.append(at)
        return over if at < 2.9 else under

    found = least_log_factor(jump, slope=over, tolerance=1e-2)
    assert looks[:3] == [0.0, 1.0, 3.0]
    low, high, above, below, last = 1.0, 3.0, over, under, -1
    for at in looks[3:]:
        share = min(max(above / (above - below), 0.05), 0.95)
        assert at == pytest.approx(low + (high - low) * share, rel=1e-12)
        side = 1 if at < 2.9 else -1
        halved = side == last
        if side > 0:
            low, above, below = at, over, below / 2 if halved else below
        else:
            high, below, above = at, under, above / 2 if halved else above
        last = side
    assert found == high
    assert 2.9 <= found < 2.9 + 1e-2
    assert high - low < 1e-2


def test_a_plateau_is_crossed() -> None:
    """A candidate 1e9 deviations away stays in sight until the noise is as large as that."""

    def plateau(at: float) -> float:
        return 0.3 if 1 < at < 41 else -0.2 if at >= 41 else 2 - at

    assert least_log_factor(plateau, slope=1.0) == pytest.approx(41.0, abs=2e-3)


def test_what_is_never_small_enough() -> None:
    assert least_log_factor(lambda _: 1.0, slope=1.0) == 70.0
    assert least_log_factor(lambda _: 1.0, slope=1.0, farthest=2.5) == 2.5
    assert least_log_factor(lambda _: -math.inf, slope=1.0) <= -70.0
