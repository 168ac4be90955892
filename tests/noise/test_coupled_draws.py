"""Noise certified by the Renyi moment of coupled draws: it bounds the true divergence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pacsklearn.core.metric import DiagonalMetric, IdentityMetric
from pacsklearn.core.noise_law import LATTICE_SCALE
from pacsklearn.core.scenario import Law, Worlds
from pacsklearn.core.slice_profile import SliceProfile
from pacsklearn.exceptions import ScenarioError
from pacsklearn.information.lattice_smoothing import smoothing_excess
from pacsklearn.information.renyi_conversion import epsilon_at_order, gaussian_epsilon
from pacsklearn.noise import coupled_draws
from pacsklearn.noise.coupled_draws import coupled_law
from pacsklearn.noise.sliced_target import SlicedTarget
from pacsklearn.scenarios.data_world import DataWorld

ORDER = 4.0
PLAIN = IdentityMetric()


def worlds(n: int, n_secrets: int = 2) -> Worlds:
    laws = tuple(Law(i, 0, tuple(range(i * n, (i + 1) * n))) for i in range(n_secrets))
    pairs = tuple((i, j) for i in range(n_secrets) for j in range(i))
    world = DataWorld(np.ones((1, 1)))
    return Worlds(tuple("abc"[:n_secrets]), ("p",), (world,) * (n * n_secrets), laws, pairs)


def target(d: int, epsilon: float = 1.0, aggregation: str = "full") -> SlicedTarget:
    return SlicedTarget(epsilon, ORDER, aggregation, SliceProfile.uniform(d, n_slices=20))


def law_of(left: Any, right: Any, wanted: SlicedTarget, confidence: float = 1 - 1e-6, **more: Any):
    vectors = np.concatenate([left, right])
    failed = more.pop("failed", np.zeros(len(vectors), dtype=bool))
    metric = more.pop("metric", PLAIN)
    return coupled_law(vectors, failed, worlds(len(left)), wanted, metric, confidence)


def shifted(n: int = 1000, d: int = 3, shift: float = 0.3, spread: float = 0.1) -> Any:
    left = spread * np.random.default_rng(0).normal(size=(n, d))
    return left, left + shift / np.sqrt(d)


def test_a_shift_that_is_always_the_same_costs_hardly_more_than_it_must():
    for epsilon, most in ((0.01, 1.2), (0.1, 1.5), (1.0, 3.0)):
        law = law_of(*shifted(), target(3, epsilon))
        variance = float((law.step[0] * LATTICE_SCALE) ** 2)
        needed = ORDER * 0.3**2 / (2 * epsilon)
        assert 1 < variance / needed < most
        assert law.cost <= epsilon
        assert law.confidence == 1 - 1e-6


@pytest.mark.parametrize("aggregation", ["full", "joint", "average"])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 20.0])
def test_within_the_budget(aggregation, epsilon):
    law = law_of(*shifted(), target(3, epsilon, aggregation))
    assert 0.5 * epsilon < law.cost <= epsilon
    assert law.costs.average <= law.costs.joint * (1 + 1e-12)
    assert law.costs.joint <= law.costs.worst_slice * (1 + 1e-9)
    assert np.isfinite(law.costs.full_epsilon)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 3.0])
def test_the_dp_figure_is_rounded_outward(epsilon):
    generator = np.random.default_rng(0)
    left, right = generator.uniform(-1, 1, (2, 200, 1))
    law = law_of(left, right, target(1, epsilon))
    costs, variance = law.costs, float((law.step[0] * LATTICE_SCALE) ** 2)
    # Two points of the ball, each rounded to the lattice.
    rounding = 1 + coupled_draws._ROUNDING
    farthest = 8 * law.span.q_max * (1 + 1e-9) * rounding / variance
    farthest += (1 + 1 / coupled_draws._ROUNDING) / LATTICE_SCALE**2
    exact = min(
        epsilon_at_order(costs.full, ORDER, costs.delta),
        gaussian_epsilon(farthest / 2, costs.delta) + smoothing_excess(1, ORDER),
    )
    assert exact * (1 + 5e-10) <= costs.full_epsilon <= exact * (1 + 2e-9)


def renyi(p: Any, q: Any, step: float, order: float) -> float:
    """From log-densities on a grid."""
    return float(np.log(np.sum(np.exp(order * p + (1 - order) * q)) * step) / (order - 1))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_the_true_divergence_by_quadrature_is_within_the_bound(epsilon):
    """Outputs with two bumps under one secret; the mixture with the noise, on a fine grid."""
    generator = np.random.default_rng(1)
    n = 2000
    base = generator.choice([-1.0, 1.0], n) + 0.2 * generator.normal(size=n)
    other = base + np.where(generator.random(n) < 0.3, 0.8, 0.1)
    law = law_of(base[:, None], other[:, None], target(1, epsilon))
    # Fresh draws stand for the population.
    fresh = generator.choice([-1.0, 1.0], 4000) + 0.2 * generator.normal(size=4000)
    moved = fresh + np.where(generator.random(4000) < 0.3, 0.8, 0.1)
    grid = np.linspace(-14, 14, 1401)
    densities = []
    for draws in (fresh, moved):
        points = np.array([law.point(np.array([x]))[0] for x in draws]) / LATTICE_SCALE
        counts, edges = np.histogram(points, bins=400)
        centres = (edges[1:] + edges[:-1]) / 2
        kernel = np.exp(-((grid[:, None] - centres) ** 2) / 2) @ (counts / counts.sum())
        densities.append(np.log(kernel / np.sqrt(2 * np.pi)))
    p, q = densities
    step = float(grid[1] - grid[0])
    found = max(renyi(p, q, step, ORDER), renyi(q, p, step, ORDER))
    assert 0 < found <= law.cost


@pytest.mark.statistical
def test_rare_large_distances_that_no_draw_shows_are_covered():
    """Coverage at confidence 0.9 over 60 repetitions; below 0.75 with probability 2e-4."""
    generator = np.random.default_rng(2)
    n, rare, right = 300, 0.004, 0
    for _ in range(60):
        left = np.where(generator.random(n) < 0.5, -1.0, 1.0)
        far = generator.random(n) < rare
        other = np.where(far, -left, left * 0.95)
        law = law_of(left[:, None], other[:, None], target(1, 0.5), 0.9)
        variance = float((law.step[0] * LATTICE_SCALE) ** 2)
        rate = ORDER * (ORDER - 1) / (2 * variance)
        radius = float(np.sqrt(2 * law.span.q_max))
        scale = min(1.0, radius / (1 - float(law.origin[0])), radius / (1 + float(law.origin[0])))
        moment = (1 - rare) * np.exp(rate * (0.05 * scale) ** 2) + rare * np.exp(
            rate * 4 * scale**2
        )
        right += np.log(moment) / (ORDER - 1) <= law.cost * (1 + 1e-6)
    assert right >= 0.75 * 60


def test_whatever_the_table_is_its_output_is_in_the_ball():
    law = law_of(*shifted(), target(3))
    radius = np.sqrt(2 * law.span.q_max)
    for output in (np.full(3, 1e300), np.array([-1e9, 3.0, 0.0]), np.array([0.1, 0.1, 0.1])):
        reached = np.linalg.norm(law.point(output) * law.step)
        assert reached <= radius * (1 + 1e-6)
    np.testing.assert_array_equal(law.point(None), np.zeros(3, dtype=np.int64))
    np.testing.assert_array_equal(law.decode(law.point(None)), law.origin)


def test_the_released_numbers_are_those_of_the_draws():
    left, right = shifted()
    law = law_of(left, right, target(3))
    inside = np.linalg.norm(left - law.origin, axis=1) < np.sqrt(2 * law.span.q_max) * 0.99
    found = np.stack([law.decode(law.point(row)) for row in left[inside][:50]])
    np.testing.assert_allclose(found, left[inside][:50], atol=1e-5)
    np.testing.assert_array_equal(law.point(left[3]), law.centres[3])


def test_draws_without_a_result_stand_for_the_centre():
    left, right = shifted()
    failed = np.zeros(2000, dtype=bool)
    failed[[5, 1700]] = True
    law = law_of(left, right, target(3), failed=failed)
    np.testing.assert_array_equal(law.centres[5], np.zeros(3))
    clean = law_of(left, right, target(3))
    assert law.noise_power > 0.5 * clean.noise_power


def test_confidence_and_few_draws_cost_noise():
    powers = [law_of(*shifted(), target(3), c).noise_power for c in (0.9, 1 - 1e-6, 1 - 1e-12)]
    assert powers == sorted(powers)
    few = law_of(*shifted(150), target(3)).noise_power
    assert few > powers[1]
    # Never more than the ball's diameter asks for.
    law = law_of(*shifted(100), target(3))
    ample = 3 * ORDER * 8 * law.span.q_max / 2
    assert law.noise_power <= ample * 1.001


def test_a_metric_shapes_ball_and_noise():
    left, right = shifted()
    scale = np.array([100.0, 1.0, 0.01])
    plain = law_of(left, right, target(3))
    law = law_of(left * scale, right * scale, target(3), metric=DiagonalMetric(scale**-2))
    assert law.step[0] == pytest.approx(plain.step[0], rel=1e-6)
    np.testing.assert_allclose(
        law.decode(law.point(left[7] * scale)),
        plain.decode(plain.point(left[7])) * scale,
        rtol=1e-4,
    )


def test_equal_outputs_need_no_noise():
    law = law_of(np.ones((200, 2)), np.ones((200, 2)), target(2))
    assert law.is_noiseless
    assert law.cost == 0
    np.testing.assert_array_equal(law.decode(law.point(np.array([7.0, 7.0]))), [1.0, 1.0])


def test_what_is_refused():
    with pytest.raises(ScenarioError, match="100 at least, got 99"):
        law_of(*shifted(99), target(3))
    with pytest.raises(ScenarioError, match="too few of the scenario's draws"):
        law_of(*shifted(), target(3), failed=np.ones(2000, dtype=bool))
    with pytest.raises(ValueError, match="too small for the integer lattice"):
        law_of(*shifted(), replace(target(3), epsilon=1e-12))


def test_rounded_outputs_are_paid_for():
    # Rounding moves a difference by up to a step a coordinate: r + s squared is at most
    # r**2 (1 + t) + s**2 (1 + 1 / t), at t = 2**-16 here, and s**2 = d variance / scale**2.
    d, t = 3, 2.0**-16
    least = ORDER * d * (1 + 1 / t) / LATTICE_SCALE**2 / 2
    draws = shifted(200, d)
    with pytest.raises(ValueError, match="too small for the integer lattice"):
        law_of(*draws, replace(target(d), epsilon=0.99 * least))
    epsilon = 1.01 * least
    law = law_of(*draws, replace(target(d), epsilon=epsilon))
    spread = float(law.step[0] * LATTICE_SCALE)
    assert ORDER * 0.3**2 / (2 * spread**2) + least <= law.cost <= epsilon
