"""Certified noise for sampled secrets: the pieces against direct computation."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.kernel.bounds.lattice_bound import logdet_allocation
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.sampled.confident import confident_law
from pacsklearn.sampled.mean_distance import mean_distance_bound
from pacsklearn.trials.mean_bound import upper_mean_bound
from pacsklearn.universe.metrics import DiagonalMetric


@pytest.fixture
def trials():
    rng = np.random.default_rng(0)
    return rng.normal(size=(2500, 4)) @ np.diag([3.0, 1.0, 0.3, 0.01]) + 7


def law_of(trials, budget=0.25, **options):
    return confident_law(trials[:500], trials[500:], Target(budget), **options)


@pytest.mark.parametrize("budget", [1e-6, 1 / 64, 0.25, 4.0])
def test_the_bound_is_what_the_formulas_give(trials, budget):
    law = law_of(trials, budget, gamma=1e-3)
    first, second = trials[:500], trials[500:]
    variances, axes = np.linalg.eigh(np.cov(first.T, bias=True))
    noise = logdet_allocation(variances, budget)
    reference = noise + variances

    def q(rows):
        return 0.5 * np.sum(((rows - first.mean(0)) @ axes) ** 2 / reference, axis=1)

    q_max = 2 * q(first).max()
    mean = upper_mean_bound(np.minimum(q(second), q_max), 0.0, q_max, 1e-3)
    assert law.mean_distance == pytest.approx(mean, rel=1e-6)
    left = budget - mean_distance_bound(noise, reference, 0.0)
    half_steps = np.sqrt(np.sum(0.5 * (0.5 / LATTICE_SCALE) ** 2 * noise / reference))
    scale = mean / (np.sqrt(left) - half_steps) ** 2
    assert law.enlargement == pytest.approx(scale, rel=1e-8)
    assert law.noise_power == pytest.approx(law.enlargement * noise.sum(), rel=1e-6)
    assert budget * (1 - 1e-9) <= law.bound <= budget
    assert law.confidence == 1 - 1e-3
    # The grid carries exactly this noise: its steps times the discrete Gaussian's parameter.
    assert np.sort((law.step * LATTICE_SCALE) ** 2) == pytest.approx(
        np.sort(law.enlargement * noise), rel=1e-6
    )


def test_rounding_to_the_lattice_is_paid_for(trials):
    # E q of the integers that are released, not of the coordinates behind them.
    law = law_of(trials, 1e-9)
    points = np.stack([law.point(row) for row in trials[500:]]) * law.step
    reference = law.enlargement * law.span.reference
    noise = (law.step * LATTICE_SCALE) ** 2
    mean = float(np.mean(0.5 * np.sum(points**2 / reference, axis=1)))
    assert mean_distance_bound(noise, reference, mean) < 1e-9


def test_far_values_are_pulled_back_on_a_straight_line(trials):
    law = law_of(trials)
    centre = law.span.centre
    for size in (1e3, 1e150, 1e300):
        direction = np.array([1.0, -2.0, 0.5, 0.1])
        coordinates = law.span.coordinates(centre + size * direction)
        distance = np.sum(coordinates**2 / (2 * law.span.reference))
        assert distance == pytest.approx(law.span.q_max)
        assert law.span.distance(coordinates) <= law.span.q_max
        straight = law.span.directions @ direction
        assert coordinates / np.linalg.norm(coordinates) == pytest.approx(
            straight / np.linalg.norm(straight), abs=1e-9
        )
    inside = trials[0]
    assert law.span.coordinates(inside) == pytest.approx(law.span.directions @ (inside - centre))


def test_no_calibration_trial_is_pulled_back(trials):
    law = law_of(trials)
    for row in trials[:500]:
        assert law.span.distance(law.span.coordinates(row)) <= law.span.q_max / 2 * (1 + 1e-9)


def test_decode_reads_what_point_wrote(trials):
    law = law_of(trials)
    for row in trials[:20]:
        assert law.decode(law.point(row)) == pytest.approx(row, abs=1e-4)


def test_the_metric_moves_the_noise(trials):
    cheap = law_of(trials, metric=DiagonalMetric(np.array([100.0, 1.0, 1.0, 1.0])))
    plain = law_of(trials, metric=IdentityMetric())

    def power(law):
        return np.sum((law.step[:, None] * LATTICE_SCALE * law.span.axes) ** 2, axis=0)

    assert power(cheap)[0] < power(plain)[0]
    assert power(cheap)[1] > power(plain)[1]


def test_more_trials_cost_less_and_never_less_than_the_plain_calibration(trials):
    few = confident_law(trials[:500], trials[500:700], Target(0.25))
    many = law_of(trials)
    assert many.enlargement < few.enlargement
    assert many.enlargement > 0.9


def test_constant_outputs():
    ones = np.ones((10, 3))
    law = confident_law(ones, ones, Target(0.1))
    assert (law.dimension, law.bound, law.confidence) == (0, 0.0, 1.0)
    # Even a secret that differs is released as the constant.
    assert law.decode(law.point(np.array([1.0, 5.0, 1.0]))).tolist() == [1.0, 1.0, 1.0]


def test_what_no_calibration_trial_showed_is_not_released():
    rng = np.random.default_rng(1)
    first = np.column_stack([rng.normal(size=200), np.zeros(200)])
    second = np.column_stack([rng.normal(size=500), (rng.random(500) < 0.02) * 5.0])
    law = confident_law(first, second, Target(0.1))
    assert law.decode(law.point(np.array([0.5, 5.0])))[1] == 0.0


def test_arguments(trials):
    with pytest.raises(ValueError, match="guard"):
        law_of(trials, guard=0.5)
    with pytest.raises(ValueError, match="lattice"):
        law_of(trials, 1e-13)
    with pytest.raises(ValueError, match="finer"):
        law_of(trials, 500.0)
    assert law_of(trials, 20.0).bound <= 20.0
