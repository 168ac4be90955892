from __future__ import annotations

from dataclasses import asdict, fields, replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.baselines.published_power import published_power, worst_case_power
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from pacsklearn.srpp.divergence import renyi_calibration as renyi
from pacsklearn.srpp.divergence.lattice_smoothing import smoothing_excess
from pacsklearn.srpp.divergence.renyi_calibration import transport_divergence
from pacsklearn.srpp.divergence.renyi_conversion import (
    approximate_epsilon,
    concentrated_epsilon,
    gaussian_epsilon,
)
from pacsklearn.srpp.divergence.world_distances import bottleneck_distance
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget, sliced_law
from pacsklearn.srpp.scenarios.scenario import DataWorld, Law, Worlds, all_pairs
from pacsklearn.universe.metrics import DiagonalMetric
from tests.kernel.bounds.on_a_line import quantile_distance

D, K, SECRETS = 4, 5, 3
PROFILE = SliceProfile.uniform(D, n_slices=40)
TARGET = SlicedTarget(epsilon=1.3, order=4.0, aggregation="average", profile=PROFILE)


def worlds(n_draws=K, pairs=None, n_secrets=SECRETS):
    world = DataWorld(np.ones((1, 1)))
    laws = [Law(i, 0, tuple(range(i * n_draws, (i + 1) * n_draws))) for i in range(n_secrets)]
    return Worlds(
        secrets=tuple("abcdefgh"[:n_secrets]),
        priors=("p",),
        worlds=(world,) * (n_secrets * n_draws),
        laws=tuple(laws),
        pairs=pairs or all_pairs(n_secrets),
    )


@pytest.fixture
def vectors():
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(SECRETS, D)) * [3.0, 1.0, 0.3, 0.1] + [100.0, 0, -7, 1e4]
    return np.repeat(centres, K, axis=0) + 0.1 * generator.normal(size=(SECRETS * K, D))


def released_outputs(law):
    """What each world would release without noise: the decoded whole numbers."""
    return np.stack([law.decode(centre) for centre in law.centres])


def recomputed(law, target, found):
    """Costs by definition, from the released outputs and the noise's covariance."""
    outputs = released_outputs(law)
    covariance = law.axes.T @ np.diag((law.step * LATTICE_SCALE) ** 2) @ law.axes
    each, whole, moved = [], 0.0, 0.0
    for left, right in found.instances():
        P, Q = outputs[list(left.members)], outputs[list(right.members)]
        row = []
        for u in target.profile.directions:
            z = quantile_distance(P @ u, Q @ u)
            row.append(target.order * z**2 / (2 * (u @ covariance @ u)))
        each.append(row)
        root = np.linalg.inv(np.linalg.cholesky(covariance))
        whole = max(whole, bottleneck_distance(P @ root.T, Q @ root.T))
        moved = max(moved, transport_divergence(P @ root.T, Q @ root.T, target.order))
    each = np.array(each)
    moments = np.exp((target.order - 1) * each) @ target.profile.weights
    # The whole view is priced by the moment of the distances where it is what is calibrated.
    full = moved if target.aggregation == "full" else target.order * whole**2 / 2
    most = full if target.aggregation == "full" else np.inf
    return {
        "average": min((each @ target.profile.weights).max(), most),
        "joint": min(np.log(moments).max() / (target.order - 1), most),
        "worst_slice": min(each.max(), most),
        "full": full,
    }


@pytest.mark.product(only=6)
@pytest.mark.parametrize("epsilon", [1e-6, 0.05, 1.3, 10.0])
@pytest.mark.parametrize("anisotropic", [False, True])
@pytest.mark.parametrize("aggregation", ["average", "joint"])
def test_costs_are_those_of_what_is_released(vectors, aggregation, anisotropic, epsilon):
    target = replace(TARGET, aggregation=aggregation, anisotropic=anisotropic, epsilon=epsilon)
    law = sliced_law(vectors, worlds(), target)
    for name, expected in recomputed(law, target, worlds()).items():
        assert getattr(law.costs, name) == pytest.approx(expected, rel=1e-5)
    assert law.cost <= epsilon
    assert law.cost == pytest.approx(epsilon, rel=1e-3)
    assert law.costs.average <= law.costs.joint <= law.costs.worst_slice <= law.costs.full
    np.testing.assert_allclose(
        released_outputs(law), vectors, atol=2 * np.sqrt(law.noise_power) / LATTICE_SCALE + 1e-9
    )


def test_the_full_view(vectors):
    target = replace(TARGET, aggregation="full")
    law = sliced_law(vectors, worlds(), target)
    assert law.cost <= TARGET.epsilon
    assert law.costs.full_is_exact
    expected = recomputed(law, target, worlds())["full"]
    assert expected == pytest.approx(TARGET.epsilon, rel=1e-4)
    # Never more than the infinity-Wasserstein distance asks for, and mostly less.
    assert law.noise_power < 0.97 * published_power(vectors, worlds(), target)
    assert worst_case_power(vectors, worlds(), target) > law.noise_power


@pytest.mark.parametrize("aggregation", ["average", "joint"])
def test_never_more_noise_than_the_published_formula(aggregation):
    for seed in range(10):
        vectors = np.random.default_rng(seed).normal(size=(SECRETS * K, D))
        target = replace(TARGET, aggregation=aggregation)
        law = sliced_law(vectors, worlds(), target)
        published = published_power(vectors, worlds(), target)
        assert law.noise_power <= published * (1 + 1e-5)
    assert law.noise_power < 0.999 * published


def test_the_published_power_is_that_of_the_theorems(vectors):
    """Equal noise in all directions, for the worst pair along each slice (srpp, 4.5 and 4.6)."""
    each, whole = [], 0.0
    for left, right in worlds().instances():
        P, Q = vectors[list(left.members)], vectors[list(right.members)]
        each.append([quantile_distance(P @ u, Q @ u) for u in PROFILE.directions])
        whole = max(whole, bottleneck_distance(P, Q))
    worst = np.max(each, axis=0) ** 2
    squares = {"average": worst @ PROFILE.weights, "joint": worst.max(), "full": whole**2}
    for aggregation, square in squares.items():
        target = replace(TARGET, aggregation=aggregation)
        law = sliced_law(vectors, worlds(), target)
        expected = D * 4.0 * square / (2 * TARGET.epsilon)
        assert published_power(vectors, worlds(), target) == pytest.approx(expected, rel=1e-9)
        covariance = law.axes.T @ np.diag((law.step * LATTICE_SCALE) ** 2) @ law.axes
        assert law.noise_power == pytest.approx(np.trace(covariance), rel=1e-9)


def test_rounding_up_of_conversions(vectors):
    costs = sliced_law(vectors, worlds(), TARGET).costs
    rate = costs.average / costs.order
    assert costs.average_epsilon > concentrated_epsilon(rate, 1e-5)
    assert costs.full_epsilon > gaussian_epsilon(costs.full / costs.order, 1e-5)
    # Below the published conversion (srpp, Lemma B.1).
    assert costs.average_epsilon < rate + 2 * np.sqrt(rate * np.log(1e5))
    assert costs.average_epsilon <= costs.joint_epsilon <= costs.full_epsilon


@pytest.mark.parametrize("aggregation", ["average", "joint", "full"])
@pytest.mark.parametrize("epsilon", [1e-3, 1.3, 17.0])
def test_no_cost_is_below_what_exact_arithmetic_gives(aggregation, epsilon):
    """Two data sets of one number: every view is that of one Gaussian and its shift."""
    profile = SliceProfile.uniform(1)
    target = SlicedTarget(epsilon=epsilon, order=4.0, aggregation=aggregation, profile=profile)
    law = sliced_law(np.array([[0.3], [7.1]]), worlds(n_draws=1, n_secrets=2), target)
    shift = Fraction(int(law.centres[1, 0] - law.centres[0, 0]), LATTICE_SCALE)
    exact, costs = 4 * shift**2 / 2, law.costs
    # Where the whole is what is calibrated no slice is said to cost more than it.
    excess = 0 if aggregation == "full" else Fraction(smoothing_excess(1, 4.0))
    for cost in (costs.average, costs.joint, costs.worst_slice):
        assert exact + excess < Fraction(cost) < (exact + excess) * (1 + Fraction(1, 10**10))
    assert exact < Fraction(costs.full) < exact * (1 + Fraction(1, 10**10))
    shifted = gaussian_epsilon(costs.full / 4.0, costs.delta)
    assert shifted * (1 - 1e-15) < costs.full_epsilon <= shifted * (1 + 1e-11)

    def joint(order: float) -> float:
        return float(order * shift**2 / 2) + smoothing_excess(1, order)

    if aggregation != "full":
        for found in (costs.joint_epsilon, costs.average_epsilon):
            least = approximate_epsilon(joint, costs.delta)
            assert least * (1 + 5e-13) <= found <= least * (1 + 1e-9)


def test_the_noise_scale_handed_to_the_lattice(vectors):
    law = sliced_law(vectors, worlds(), TARGET)
    distances = np.array(
        [
            [
                quantile_distance(vectors[list(a.members)] @ u, vectors[list(b.members)] @ u)
                for u in PROFILE.directions
            ]
            for a, b in worlds().instances()
        ]
    )
    variance = renyi.average_cost(distances, PROFILE.weights, 4.0) / TARGET.epsilon
    np.testing.assert_allclose((law.step * LATTICE_SCALE) ** 2, variance, rtol=1e-5)
    assert law.scale == LATTICE_SCALE


def test_outputs_that_agree_need_no_noise():
    vectors = np.tile([1.5, -2.0, 0.0, 7.0], (SECRETS * K, 1))
    law = sliced_law(vectors, worlds(), TARGET)
    assert law.is_noiseless
    assert law.noise_power == 0.0
    nothing = dict.fromkeys([field.name for field in fields(law.costs)], 0.0)
    known = {"order": 4.0, "delta": 1e-5, "full_is_exact": True}
    assert asdict(law.costs) == nothing | known
    np.testing.assert_array_equal(released_outputs(law), vectors)


def test_only_protected_pairs_count(vectors):
    vectors[:K] = vectors[K : 2 * K] = vectors[0]
    law = sliced_law(vectors, worlds(pairs=((0, 1),)), TARGET)
    assert law.is_noiseless
    np.testing.assert_allclose(released_outputs(law), vectors, rtol=1e-12)


def test_a_moved_origin_and_another_unit_change_nothing(vectors):
    law = sliced_law(vectors, worlds(), TARGET)
    moved = sliced_law(vectors * 2.0**20 + 2.0**30, worlds(), TARGET)
    assert moved.noise_power == pytest.approx(law.noise_power * 2.0**40, rel=1e-4)


def test_a_tiny_budget_still_holds(vectors):
    law = sliced_law(vectors, worlds(), replace(TARGET, epsilon=1e-9))
    assert law.cost <= 1e-9


def test_likelihoods_are_those_of_the_noise(vectors):
    law = sliced_law(vectors, worlds(), TARGET)
    observed = law.centres[3] + np.arange(D) * LATTICE_SCALE
    expected = -np.sum((law.centres - observed) ** 2 / LATTICE_SCALE**2, axis=1) / 2
    np.testing.assert_allclose(law.log_likelihood(observed), expected)


def test_many_directions_are_not_shaped(vectors, monkeypatch):
    monkeypatch.setattr("pacsklearn.srpp.laws.sliced_gaussian._MOST_SHAPED", D - 1)
    with pytest.raises(ValueError, match="numbers"):
        sliced_law(vectors, worlds(), replace(TARGET, anisotropic=True))


def test_many_numbers_that_differ_in_few_directions(vectors):
    profile = SliceProfile.uniform(401, n_slices=2)
    target = replace(TARGET, profile=profile, anisotropic=True)
    law = sliced_law(np.eye(401)[: SECRETS * K], worlds(), target)
    assert law.dimension == SECRETS * K - 1
    assert law.cost <= TARGET.epsilon


class TestMetric:
    """Noise that costs the same in every direction of a metric."""

    metric = DiagonalMetric(np.array([4.0, 1.0, 0.01, 25.0]))

    @pytest.mark.parametrize("aggregation", ["average", "joint", "full"])
    def test_it_is_white_noise_on_scaled_outputs(self, vectors, aggregation):
        target = replace(TARGET, aggregation=aggregation)
        law = sliced_law(vectors, worlds(), target, self.metric)
        covariance = law.axes.T @ np.diag((law.step * LATTICE_SCALE) ** 2) @ law.axes
        root = np.sqrt(self.metric.weights)
        white = root[:, None] * covariance * root
        np.testing.assert_allclose(white, white[0, 0] * np.eye(D), atol=1e-6 * white[0, 0])
        for name, expected in recomputed(law, target, worlds()).items():
            assert getattr(law.costs, name) == pytest.approx(expected, rel=1e-5)

    def test_the_full_cost_is_that_of_outputs_scaled_outside(self, vectors):
        target = replace(TARGET, aggregation="full")
        law = sliced_law(vectors, worlds(), target, self.metric)
        scaled = sliced_law(vectors * np.sqrt(self.metric.weights), worlds(), target)
        np.testing.assert_allclose(law.step, scaled.step, rtol=1e-6)
        assert law.costs.full == pytest.approx(scaled.costs.full, rel=1e-6)

    def test_noise_lives_where_outputs_differ(self, vectors):
        vectors[:, 2] = 3.0
        law = sliced_law(vectors, worlds(), TARGET)
        assert law.dimension == D - 1
        noisy = law.decode(law.centres[0] + LATTICE_SCALE)
        assert noisy[2] == 3.0
        assert np.all(noisy[[0, 1, 3]] != vectors[0, [0, 1, 3]])
