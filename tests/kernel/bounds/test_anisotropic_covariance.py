from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from pacsklearn.srpp.divergence import renyi_calibration as renyi
from pacsklearn.srpp.divergence.anisotropic_covariance import anisotropic_covariance, slice_costs
from pacsklearn.srpp.divergence.world_distances import slice_distances


def problem(d, seed=0, n_pairs=6, stretch=1.0):
    generator = np.random.default_rng(seed)
    directions = generator.normal(size=(200, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    outputs = generator.normal(size=(2 * n_pairs, d)) * np.logspace(stretch, -stretch, d)
    pairs = [((2 * i,), (2 * i + 1,)) for i in range(n_pairs)]
    distances = slice_distances(outputs, pairs, directions)
    return distances, directions, generator.dirichlet(np.full(200, 5.0))


@pytest.mark.product(only=3)
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("d", [2, 5, 12])
def test_karush_kuhn_tucker(d, joint):
    distances, directions, weights = problem(d)
    epsilon = 1.5
    found = anisotropic_covariance(distances, directions, weights, 4.0, epsilon, joint=joint)
    variances = np.einsum("ld,de,le->l", directions, found.covariance, directions)
    costs, slopes = slice_costs(distances, weights, variances, 4.0, joint=joint)
    # Primal feasibility: the worst pair meets the budget exactly.
    assert costs.max() <= epsilon * (1 + 1e-10)
    assert costs.max() == pytest.approx(epsilon, rel=1e-8)
    # Dual feasibility.
    assert np.all(found.multipliers >= 0)
    forces = np.einsum("l,ld,le->de", found.multipliers @ slopes, directions, directions)
    assert np.linalg.eigvalsh(forces).max() <= 1 + 2e-4
    # Complementary slackness, of the pairs and of the covariance above its floor.
    np.testing.assert_allclose(found.multipliers * (epsilon - costs), 0, atol=1e-5 * found.power)
    above = found.covariance - found.floor * np.eye(d)
    assert abs(np.trace(above @ (np.eye(d) - forces))) <= 1e-5 * found.power


@pytest.mark.parametrize("joint", [False, True])
def test_slopes_are_derivatives(joint):
    distances, _, weights = problem(3)
    variances = np.random.default_rng(1).gamma(3.0, size=200)
    slopes = slice_costs(distances, weights, variances, 4.0, joint=joint)[1]
    for index in (0, 17):
        step = np.zeros(200)
        step[index] = 1e-6 * variances[index]
        up = slice_costs(distances, weights, variances + step, 4.0, joint=joint)[0]
        down = slice_costs(distances, weights, variances - step, 4.0, joint=joint)[0]
        np.testing.assert_allclose(
            -(up - down) / (2 * step[index]), slopes[:, index], rtol=1e-4, atol=1e-9
        )


@pytest.mark.parametrize("joint", [False, True])
def test_never_more_power_than_isotropic_noise(joint):
    for seed in range(2):
        distances, directions, weights = problem(4, seed)
        average = renyi.average_cost(distances, weights, 4.0) / 0.5
        isotropic = 4 * (renyi.joint_variance(distances, weights, 4.0, 0.5) if joint else average)
        found = anisotropic_covariance(distances, directions, weights, 4.0, 0.5, joint=joint)
        assert found.power <= isotropic * (1 + 1e-12)
        assert found.power < 0.95 * isotropic


def test_no_direction_is_without_noise():
    # All slices look along the first coordinate alone; the others still get the floor.
    directions = np.eye(3)[:1]
    found = anisotropic_covariance(np.ones((1, 1)), directions, np.ones(1), 4.0, 1.0)
    least = np.linalg.eigvalsh(found.covariance).min()
    assert least >= found.floor * (1 - 1e-9) > 0
    assert found.covariance[0, 0] == pytest.approx(2.0, rel=1e-9)


def test_a_round_problem_has_the_isotropic_solution():
    found = anisotropic_covariance(np.ones((1, 2)), np.eye(2), np.full(2, 0.5), 4.0, 1.0)
    np.testing.assert_allclose(found.covariance, 2 * np.eye(2), rtol=1e-5, atol=1e-5)


def test_rounds_end_when_multipliers_have_settled(monkeypatch):
    rounds = []

    def counted(*args, **kwargs):
        rounds.append(kwargs["args"][0])
        return minimize(*args, **kwargs)

    monkeypatch.setitem(anisotropic_covariance.__globals__, "minimize", counted)
    anisotropic_covariance(*problem(3), 4.0, 1.5)
    moves = [np.abs(b - a).max() for a, b in itertools.pairwise(rounds)]
    assert 1 < len(rounds) < 60
    assert min(moves[1:]) >= 1e-9


@pytest.mark.parametrize("joint", [False, True])
def test_a_pair_that_nothing_tells_apart_costs_nothing(joint):
    distances, directions, weights = problem(2)
    distances[2] = 0.0
    found = anisotropic_covariance(distances, directions, weights, 4.0, 1.5, joint=joint)
    without = np.delete(distances, 2, axis=0)
    expected = anisotropic_covariance(without, directions, weights, 4.0, 1.5, joint=joint)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-4)
    assert found.multipliers[2] == 0
