"""Caps on the displacement of an update, checked on updates; noise scales of the paper."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from benchmarks.baselines import update_cap as caps_of
from benchmarks.baselines.update_cap import (
    published_noise_scale,
    update_cap,
)
from pacsklearn.srpp.divergence.discrepancy import second_moment

EPSILONS = [80, 70, 65, 60, 55, 50, 45, 40, 35, 30, 25, 20, 18, 14, 12, 10, 8, 4, 2, 1, 0.5]


def clipped(gradients, norm):
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * np.minimum(1, norm / lengths)


def test_no_batch_moves_further_than_the_cap():
    generator = np.random.default_rng(0)
    d, b, clip, step = 6, 10, 0.7, 0.3
    directions = generator.standard_normal((20, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    largest = 0.0
    for k in (1, 3, 10):
        cap = update_cap(k**2, clip, b, step)
        for _ in range(100):
            one = generator.standard_normal((b, d)) * 10
            other = one.copy()
            other[:k] = -one[:k]
            moved = step * (clipped(one, clip) - clipped(other, clip)).mean(axis=0)
            along = (directions @ moved) ** 2
            assert np.all(along <= cap * (1 + 1e-12))
        towards = np.outer(np.ones(k), directions[0]) * 5
        moved = step * 2 * clipped(towards, clip).sum(axis=0) / b
        largest = max(largest, abs((directions[0] @ moved) ** 2 / cap - 1))
    assert largest < 1e-12  # it is attained


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_noise_scales_of_the_papers_run(epsilon):
    """CIFAR-10's run: cosine from 0.2 with 5 % warm-up, 40 epochs of batches of 512, C = 4."""
    n, b, clip, order = 50_000, 512, 4.0, 16
    n_steps = 40 * (n // b)
    warm = int(0.05 * n_steps)
    sizes = [
        0.2 * (t + 1) / warm
        if t < warm
        else 0.1 * (1 + math.cos(math.pi * (t - warm) / (n_steps - warm)))
        for t in range(n_steps)
    ]
    worst = [update_cap(20**2, clip, b, size) for size in sizes]
    square = second_moment(n, 20, b, "without-replacement")
    aware = [update_cap(square, clip, b, size) for size in sizes]
    found = [published_noise_scale(caps, order, epsilon) for caps in (worst, aware)]
    # Written out once more, from W.3: H_total and sigma^2 = alpha / (2 eps) H_total.
    mean = b * 20 / n
    variance = mean * (1 - 20 / n) * (n - b) / (n - 1)
    squares = math.fsum(size**2 for size in sizes)
    expected = [
        math.sqrt(order / (2 * epsilon) * squares * (2 * clip * 20 / b) ** 2),
        math.sqrt(order / (2 * epsilon) * squares * 4 * clip**2 * (variance + mean**2) / b**2),
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found[0] / found[1] == pytest.approx(20 / math.sqrt(variance + mean**2))


def test_average_and_joint():
    caps = np.array([[1.0, 4.0], [2.0, 2.0]])
    average = published_noise_scale(caps, 4, 2, weights=[0.75, 0.25], aggregation="average")
    assert average == pytest.approx(math.sqrt(1.75 + 2))
    assert published_noise_scale(caps, 4, 2) == pytest.approx(math.sqrt(4 + 2))


def test_a_matrix_cap_bounds_every_direction():
    generator = np.random.default_rng(0)
    A = generator.normal(size=(4, 4))
    cap = caps_of.matrix_update_cap(9.0, 0.5, 8.0, A)
    directions = generator.normal(size=(50, 4))
    reached = np.zeros(50)
    for _ in range(2000):
        gradient = generator.normal(size=4)
        gradient *= 2 * 3 * 0.5 / 8 / np.linalg.norm(gradient)
        reached = np.maximum(reached, (directions @ (A @ gradient)) ** 2)
    bound = np.einsum("ij,jk,ik->i", directions, cap, directions)
    assert np.all(reached <= bound * (1 + 1e-12))
    assert np.all(reached >= 0.5 * bound)
    # A multiple of the identity is the scalar cap.
    np.testing.assert_allclose(
        caps_of.matrix_update_cap(9.0, 0.5, 8.0, 0.3 * np.eye(4)),
        caps_of.update_cap(9.0, 0.5, 8.0, 0.3) * np.eye(4),
    )


def test_the_price_of_a_matrix_cap():
    generator = np.random.default_rng(1)
    cap = caps_of.matrix_update_cap(4.0, 1.0, 10.0, generator.normal(size=(3, 3)))
    root = generator.normal(size=(3, 3))
    noise = root @ root.T + 0.1 * np.eye(3)
    whole = caps_of.matrix_cap_divergence(6.0, cap, noise)
    directions = generator.normal(size=(20_000, 3))
    along = caps_of.matrix_cap_divergence(6.0, cap, noise, directions)
    assert along.max() <= whole * (1 + 1e-12)
    assert along.max() == pytest.approx(whole, rel=1e-2)
    # The displacement of the ellipsoid that costs most, by Gaussians themselves: order/2 v'S^-1 v.
    values, vectors = np.linalg.eigh(cap)
    sphere = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    moved = (sphere * np.sqrt(np.maximum(values, 0))) @ vectors.T
    costs = 3.0 * np.einsum("ij,ij->i", moved, np.linalg.solve(noise, moved.T).T)
    assert costs.max() == pytest.approx(whole, rel=1e-2)


def test_noise_for_matrix_caps_costs_what_it_may():
    generator = np.random.default_rng(2)
    roots = generator.normal(size=(7, 3, 3))
    caps = [caps_of.matrix_update_cap(1.0, 1.0, 4.0, root) for root in roots]
    noise = caps_of.matrix_cap_noise(caps, 4.0, 0.7)
    assert sum(caps_of.matrix_cap_divergence(4.0, cap, noise) for cap in caps) == pytest.approx(0.7)
    same = caps_of.matrix_cap_noise([caps[0]] * 5, 4.0, 0.7)
    white = caps_of.published_noise_scale(
        [np.linalg.eigvalsh(caps[0]).max()] * 5, order=4.0, epsilon=0.7
    )
    assert np.trace(same) < 3 * white**2
    with pytest.raises(ValueError, match="square"):
        caps_of.matrix_update_cap(1.0, 1.0, 1.0, np.zeros((2, 3)))


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("bounds", "weights"),
    [([3.0, 1.0], [1.0, 1.0]), ([0.2, 5.0, 1.0], [1.0] * 3), ([0.2, 5.0, 1.0], [9.0, 1.0, 0.1])],
)
def test_the_least_matrix_cap_of_a_box(bounds, weights):
    """Against a search over all positive matrices, not diagonal ones alone."""
    bounds, weights = np.array(bounds), np.array(weights)
    d = bounds.size
    corners = np.array(list(itertools.product([-1, 1], repeat=d))) * bounds
    cap = caps_of.box_matrix_cap(bounds, weights)
    directions = np.random.default_rng(0).normal(size=(5000, d))
    reached = ((directions @ corners.T) ** 2).max(axis=1)
    allowed = directions**2 @ cap
    assert np.all(reached <= allowed * (1 + 1e-12))
    assert np.max(reached / allowed) > 0.99
    lower = np.tril_indices(d)

    def matrix(flat):
        """Root times root, shrunk or grown until the worst corner is just bounded."""
        root = np.zeros((d, d))
        root[lower] = flat
        candidate = root @ root.T
        return candidate * np.sum(corners.T * np.linalg.solve(candidate, corners.T), 0).max()

    powers = [
        minimize(
            lambda flat: weights @ np.diag(matrix(flat)),
            np.random.default_rng(seed).normal(size=lower[0].size) + np.diag(bounds)[lower],
            method="Nelder-Mead",
            options={"maxiter": 4000, "xatol": 1e-10, "fatol": 1e-12, "adaptive": True},
        ).fun
        for seed in range(3)
    ]
    power = weights @ cap
    assert min(powers) >= power * (1 - 1e-9)
    assert min(powers) == pytest.approx(power, rel=1e-3)
    assert power < weights.sum() * np.sum(bounds**2)


def test_no_matrix_cap_of_a_ball_is_below_the_scalar_one():
    """A matrix that is smaller in any direction misses a difference of two clipped gradients."""
    generator = np.random.default_rng(3)
    scalar = caps_of.update_cap(4.0, 0.5, 8.0)
    for _ in range(200):
        root = generator.normal(size=(4, 4))
        matrix = root @ root.T
        matrix *= 4 * scalar * 0.999 / np.trace(matrix)  # less noise power than the ball's
        worst = np.linalg.eigh(matrix)[1][:, 0]
        one, other = 2 * clipped(np.stack([9 * worst, -9 * worst]), 0.5) / 8.0
        assert (worst @ (one - other)) ** 2 == pytest.approx(scalar)
        assert worst @ matrix @ worst < scalar


@pytest.mark.parametrize("bounds", [[1.0, 0.0], [1.0, np.inf], [[1.0]], [np.nan]])
def test_a_box_has_positive_sides(bounds):
    with pytest.raises(ValueError, match="positive"):
        caps_of.box_matrix_cap(bounds)
    with pytest.raises(ValueError, match="weights"):
        caps_of.box_matrix_cap([1.0, 2.0], [1.0, 0.0])
