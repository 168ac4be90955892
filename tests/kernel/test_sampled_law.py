"""A guarded span: what every output, near, far or broken, is turned into."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from pacsklearn.sampled.confident import SampledLaw
from pacsklearn.trials.guarded_span import GuardedSpan
from pacsklearn.universe.metrics import DiagonalMetric

CENTRE = np.array([1.0, -2.0, 0.5])
REFERENCE = np.array([0.5, 3.0])
# Two of three directions in root space, turned.
DIRECTIONS = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]])
SPAN = GuardedSpan(
    CENTRE, DiagonalMetric(np.array([4.0, 1.0, 9.0])), DIRECTIONS, np.eye(2, 3), REFERENCE, 2.0
)


def free(output: np.ndarray) -> np.ndarray:
    return DIRECTIONS @ (np.array([2.0, 1.0, 3.0]) * (output - CENTRE))


def quadratic(coordinates: np.ndarray) -> float:
    return sum(y * y / r for y, r in zip(coordinates, REFERENCE, strict=True)) / 2


@pytest.mark.parametrize("size", [1e-3, 0.5, 0.999, 1.001, 3.0, 1e150, 1e300])
@pytest.mark.parametrize("turn", [0.3, 1.9, 4.0])
def test_what_is_inside_stays_and_what_is_outside_comes_to_the_edge(size, turn) -> None:
    along = np.array([math.cos(turn), math.sin(turn), 0.7])
    along[:2] *= math.sqrt(2.0 / quadratic(free(CENTRE + along)))  # its edge is at size one
    output = CENTRE + size * along
    found = SPAN.coordinates(output)
    edge = free(CENTRE + along)
    np.testing.assert_allclose(found, min(size, 1.0) * edge, rtol=1e-9)
    expected = 2.0 * min(size, 1.0) ** 2
    assert quadratic(found) == pytest.approx(expected, rel=1e-9)
    assert SPAN.distance(found) == pytest.approx(expected, rel=1e-9)
    assert SPAN.distance(found) <= 2.0


def test_distance_never_passes_the_edge_by_rounding() -> None:
    assert SPAN.distance(np.array([10.0, 0.0])) == 2.0


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_is_the_centre(value) -> None:
    for output in (CENTRE, CENTRE + np.array([value, 0.0, 0.0])):
        with np.errstate(invalid="ignore"):
            assert SPAN.coordinates(output).tolist() == [0.0, 0.0]


def test_what_lies_outside_the_span_is_dropped() -> None:
    assert SPAN.coordinates(CENTRE + np.array([0.0, 0.0, 1e9])).tolist() == [0.0, 0.0]


def test_points_are_the_nearest_of_the_lattice() -> None:
    output, step = CENTRE + np.array([0.1, 0.2, 0.0]), np.array([0.01, 0.003])
    expected = [round(y / s) for y, s in zip(free(output), step, strict=True)]
    assert SPAN.point(output, step).tolist() == expected


def test_a_law_decodes_linearly_and_states_the_noise_of_each_number() -> None:
    axes, step = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 0.5]]), np.array([0.25, 4.0])
    span = replace(SPAN, axes=axes)
    law = SampledLaw.of(
        span,
        step,
        bound=0.1,
        confidence=0.99,
        proof="",
        noise_power=7.0,
        mean_distance=0.2,
        enlargement=1.0,
        n_calibration=60,
        n_certificate=60,
    )
    assert law.decode(np.array([3, -2])) == pytest.approx([1.75, 7.5, -3.5])
    deviations = step * LATTICE_SCALE
    expected = [sum((deviations[k] * axes[k, j]) ** 2 for k in range(2)) for j in range(3)]
    assert law.noise_variances == pytest.approx(np.array(expected))
    assert (law.dimension, law.released_power) == (2, 7.0)
