"""Noise certified by the Renyi moment of coupled draws: it bounds the true divergence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pacsklearn.exceptions import ScenarioError
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.srpp.divergence.lattice_smoothing import smoothing_excess
from pacsklearn.srpp.divergence.renyi_conversion import epsilon_at_order, gaussian_epsilon
from pacsklearn.srpp.laws import coupled_draws
from pacsklearn.srpp.laws.coupled_draws import coupled_law
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget
from pacsklearn.srpp.scenarios.scenario import DataWorld, Law, Worlds
from pacsklearn.trials.mean_bound import upper_mean_bound
from pacsklearn.universe.metrics import DiagonalMetric

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


@pytest.mark.product
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


def certified(
    vectors: Any, wanted: SlicedTarget, pairs: list[tuple[Any, Any]], first: int, gamma: float
) -> dict[str, float]:
    """Variance and costs by the notes of :func:`coupled_law`, from outputs on centred axes."""
    chosen = np.concatenate([rows[:first] for rows in dict.fromkeys(map(tuple, sum(pairs, ())))])
    centre = vectors[chosen].mean(axis=0)
    _, axes = np.linalg.eigh(np.cov(vectors[chosen].T, bias=True))
    coordinates = (vectors - centre) @ axes
    lengths = np.linalg.norm(coordinates, axis=1)
    radius = np.quantile(lengths[chosen], 0.95)
    coordinates *= np.minimum(1.0, radius / lengths)[:, None]
    k, order, outward, rounded = len(centre), wanted.order, 1 + 1e-9, 1 + 2.0**-16
    moved = k * (1 + 2.0**16) / LATTICE_SCALE**2
    excess, widest = smoothing_excess(k, order), 4 * radius**2 * outward
    sliced = wanted.aggregation != "full"
    room = order * (order - 1) * moved / 2
    allowed = (order - 1) * (wanted.epsilon - sliced * excess) / outward - room
    ample = order * (order - 1) * widest / (2 * allowed) * rounded * outward**3

    def log_moment(variance: float, some: slice, share: float, sliced: bool) -> float:
        rate = order * (order - 1) / (2 * variance)
        if rate * widest > 300:
            return rate * widest
        logs = []
        for left, right in pairs:
            apart = (coordinates[list(left)] - coordinates[list(right)])[some]
            squares = (
                (apart @ (wanted.profile.directions @ axes).T) ** 2
                if sliced
                else np.sum(apart**2, axis=1)[:, None]
            )
            weights = wanted.profile.weights if sliced else np.ones(1)
            values = np.exp(rate * squares) @ weights
            top = np.exp(rate * widest)
            logs.append(np.log(upper_mean_bound(values, 1.0, top, share)))
        return min(max(logs), rate * widest)

    n = len(pairs[0][0])
    again = np.resize(np.arange(first), n - first)
    rest = np.arange(first, n)
    main, reported = 0.75 * gamma / len(pairs), 0.25 * gamma / len(pairs)

    def needed(base: float, some: Any) -> float:
        log = log_moment(base, some, main, sliced)
        return base * rounded * max(1.0, log / allowed) * outward**3

    base = min(np.geomspace(ample / 1e4, ample, 24)[:-1], key=lambda each: needed(each, again))
    variance = min(needed(base, rest), ample)
    rate = (widest * rounded / variance + moved) / 2

    def cost(share: float, sliced: bool) -> float:
        log = log_moment(base, rest, share, sliced) * base * rounded / variance
        return min((log + room) / (order - 1) * outward, order * rate)

    full = cost(reported if sliced else main, False)
    joint = (cost(main, True) if sliced else full) + excess

    def epsilon(at: float) -> float:
        own = gaussian_epsilon(rate, wanted.delta) + excess
        return min(epsilon_at_order(at, order, wanted.delta), own) * outward

    return {
        "variance": variance,
        "full": full,
        "joint": joint,
        "average": joint,
        "worst_slice": full + excess,
        "joint_epsilon": epsilon(joint),
        "average_epsilon": epsilon(joint),
        "full_epsilon": epsilon(full),
    }


@pytest.mark.product(only=3)
@pytest.mark.parametrize("aggregation", ["full", "joint"])
@pytest.mark.parametrize(
    ("epsilon", "n", "gamma"), [(0.3, 300, 1e-4), (4.0, 130, 0.2), (1.0, 100, 1e-9)]
)
def test_noise_and_costs_are_those_of_the_notes(aggregation, epsilon, n, gamma):
    generator = np.random.default_rng(4)
    vectors = generator.normal(size=(3 * n, 2)) * [1.0, 0.3] + 5.0
    vectors[n : 2 * n] = vectors[:n] + 0.3 * generator.normal(size=(n, 2))
    vectors[2 * n :] = vectors[:n] + 0.1
    found = worlds(n, 3)
    wanted = target(2, epsilon, aggregation)
    law = coupled_law(vectors, np.zeros(3 * n, bool), found, wanted, PLAIN, 1 - gamma)
    pairs = [(left.members, right.members) for left, right in found.instances()]
    expected = certified(vectors, wanted, pairs, int(0.2 * n), gamma)
    variance = expected.pop("variance")
    np.testing.assert_allclose((law.step * LATTICE_SCALE) ** 2, variance, rtol=1e-9)
    assert law.noise_power == pytest.approx(2 * variance, rel=1e-9)
    for name, value in expected.items():
        rounding = 5e-10 if name.endswith("epsilon") else 1e-10
        assert getattr(law.costs, name) == pytest.approx(value, rel=rounding), name
    assert law.costs.delta == wanted.delta
    assert not law.costs.full_is_exact


def renyi(p: Any, q: Any, step: float, order: float) -> float:
    """From log-densities on a grid."""
    return float(np.log(np.sum(np.exp(order * p + (1 - order) * q)) * step) / (order - 1))


@pytest.mark.product(only=1)
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


@pytest.mark.soak
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
    assert law.cost == law.noise_power == law.costs.full_epsilon == 0
    assert law.confidence == 1 - 1e-6
    assert law.centres.shape == (400, 0)
    np.testing.assert_array_equal(law.decode(law.point(np.array([7.0, 7.0]))), [1.0, 1.0])


def test_what_is_refused():
    with pytest.raises(ScenarioError, match="least"):
        law_of(*shifted(99), target(3))
    with pytest.raises(ScenarioError, match="scenario"):
        law_of(*shifted(), target(3), failed=np.ones(2000, dtype=bool))
    with pytest.raises(ValueError, match="lattice"):
        law_of(*shifted(), replace(target(3), epsilon=1e-12))


def test_rounded_outputs_are_paid_for():
    # Rounding moves a difference by up to a step a coordinate: r + s squared is at most
    # r**2 (1 + t) + s**2 (1 + 1 / t), at t = 2**-16 here, and s**2 = d variance / scale**2.
    d, t = 3, 2.0**-16
    least = ORDER * d * (1 + 1 / t) / LATTICE_SCALE**2 / 2
    draws = shifted(200, d)
    with pytest.raises(ValueError, match="lattice"):
        law_of(*draws, replace(target(d), epsilon=0.99 * least))
    epsilon = 1.01 * least
    law = law_of(*draws, replace(target(d), epsilon=epsilon))
    spread = float(law.step[0] * LATTICE_SCALE)
    assert ORDER * 0.3**2 / (2 * spread**2) + least <= law.cost <= epsilon
