"""The best attack's success, against integrals over a grid and counts over outcomes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm

from pacsklearn.srpp.divergence.naming_success import HiddenSecrets, Question

SCALE = 2.0**20
EVEN = Question((0, 1), (0.5, 0.5))


def hidden(points, members, scale=SCALE):
    centres = np.rint(np.asarray(points, dtype=float) * scale).astype(np.int64)
    return HiddenSecrets(centres, scale, members)


def on_a_grid(points, members, prior):
    """Integral of the largest prior times density, in one or two dimensions."""
    points = np.asarray(points, dtype=float)
    axes = [np.linspace(low - 9, high + 9, 200_001 if points.shape[1] == 1 else 601)
            for low, high in zip(points.min(axis=0), points.max(axis=0), strict=True)]  # fmt: skip
    densities = []
    for p, worlds in zip(prior, members, strict=True):
        total = 0.0
        for world in worlds:
            parts = [norm.pdf(axis - x) for axis, x in zip(axes, points[world], strict=True)]
            total = total + (parts[0] if len(parts) == 1 else np.outer(*parts))
        densities.append(p * total / len(worlds))
    value = np.maximum.reduce(densities)
    for axis in reversed(axes):
        value = trapezoid(value, axis)
    return float(value)


@pytest.mark.parametrize("prior", [(0.5, 0.5), (0.9, 0.1), (0.02, 0.98)])
@pytest.mark.parametrize("apart", [0.0, 1e-3, 0.7, 5.0])
def test_two_centres_in_closed_form(apart, prior):
    secrets = hidden([[0.0, 0.0], [0.6 * apart, 0.8 * apart]], [[0, 0], [1]])
    (found,) = secrets.whole([Question((0, 1), prior)], 1e-6, np.random.default_rng(0))
    assert not found.is_drawn
    expected = on_a_grid([[0.0], [apart]], [[0], [1]], prior)
    assert found.success == pytest.approx(expected, abs=2e-6)


@pytest.mark.product(only=2)
@pytest.mark.parametrize("spread", [1e-4, 0.1, 1.0, 6.0])
def test_one_number_by_quadrature_from_above(spread):
    points = np.random.default_rng(3).normal(size=(15, 1)) * spread
    members = [[0, 1, 2, 3, 3], range(3, 9), range(9, 15)]
    questions = [EVEN, Question((0, 1, 2), (0.2, 0.5, 0.3)), Question((1, 2), (0.5, 0.5))]
    found = hidden(points, members).whole(questions, 1e-6, np.random.default_rng(0))
    for question, each in zip(questions, found, strict=True):
        expected = on_a_grid(points, [members[s] for s in question.secrets], question.prior)
        assert not each.is_drawn
        # The grid's own error, and the rounding of outputs to the lattice.
        assert expected - 1e-6 <= each.success <= expected + 2e-6


@pytest.mark.parametrize("spread", [0.05, 0.8, 3.0])
def test_a_certificate_is_just_above_the_integral(spread):
    points = np.random.default_rng(4).normal(size=(9, 2)) * spread
    members = [range(3), range(3, 6), range(6, 9)]
    questions = [EVEN, Question((0, 1, 2), (0.2, 0.5, 0.3))]
    found = hidden(points, members).whole(questions, 1e-6, np.random.default_rng(0))
    for question, each in zip(questions, found, strict=True):
        expected = on_a_grid(points, [members[s] for s in question.secrets], question.prior)
        assert each.is_drawn
        assert expected <= each.success <= expected + 0.012


@pytest.mark.soak
def test_a_certificate_fails_no_more_often_than_stated():
    points, members = [[0.0, 0.0], [1.0, 0.3], [0.4, 0.9]], [[0, 1], [1, 2]]
    truth, secrets = on_a_grid(points, members, (0.5, 0.5)), hidden(points, members)
    found = [
        secrets.whole([EVEN], 0.25, np.random.default_rng(seed))[0].success for seed in range(60)
    ]
    # 30 or more of 60 at a rate of 1/4 come by chance once in 100,000 runs.
    assert sum(each < truth for each in found) < 30
    assert np.mean(found) < truth + 0.005


@pytest.mark.parametrize("worlds", [1, 3])
def test_one_slice_is_the_mean_over_the_directions(worlds):
    rng = np.random.default_rng(5)
    points = rng.normal(size=(2 * worlds, 3)) * 2
    members = [range(worlds), range(worlds, 2 * worlds)]
    directions = rng.normal(size=(7, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    directions[0] = 0.0  # shows nothing
    weights = np.arange(1.0, 8.0) / 28
    question = Question((0, 1), (0.3, 0.7))
    (found,) = hidden(points, members).one_slice([question], directions, weights, 1e-6, rng)
    expected = weights @ [on_a_grid(points @ u[:, None], members, (0.3, 0.7)) for u in directions]
    assert found.is_drawn == (worlds > 1)
    assert expected - 1e-6 <= found.success <= expected + (0.01 if worlds > 1 else 1e-6)


def test_a_slice_of_one_number_shows_it_or_nothing():
    secrets = hidden([[0.0], [1.0], [3.0]], [[0, 1], [1, 2]])
    directions, weights = np.array([[1.0], [-1.0], [0.0]]), np.array([0.25, 0.25, 0.5])
    rng = np.random.default_rng(0)
    (whole,) = secrets.whole([EVEN], 1e-6, rng)
    (found,) = secrets.one_slice([EVEN], directions, weights, 1e-6, rng)
    assert found.success == pytest.approx((whole.success + 0.5) / 2, rel=1e-9)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("far", [1e3, 1e9, 1e12])
def test_far_clusters_keep_their_digits(k, far):
    """Beside each of two far places stands one world of each secret: nothing else is told."""
    near = np.zeros((4, k))
    near[1, 0], near[3, 0] = 1.0, 1.0
    near[2:, -1] += far
    secrets = hidden(near, [[0, 2], [1, 3]])
    rng = np.random.default_rng(0)
    (found,) = secrets.whole([EVEN], 1e-6, rng)
    expected = norm.cdf(0.5)
    assert expected - 1e-6 <= found.success <= expected + 0.01
    (sliced,) = secrets.one_slice([EVEN], np.eye(k), np.full(k, 1 / k), 1e-6, rng)
    assert (expected + (k - 1) / 2) / k - 1e-6 <= sliced.success <= found.success + 0.01


def test_without_noise_outcomes_are_counted():
    secrets = hidden([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [5.0, 5.0]], [[0, 1], [2, 3], [0, 0, 3]])
    # Half of both is the same output; the other halves tell.
    assert secrets.unnoised(EVEN) == pytest.approx(0.75)
    assert secrets.unnoised(Question((0, 1, 2), (0.5, 0.25, 0.25))) == pytest.approx(
        0.25 + 0.25 + 0.125
    )


@pytest.mark.parametrize("k", [0, 3])
def test_what_does_not_differ_tells_nothing(k):
    secrets = hidden(np.zeros((4, k)), [[0, 1], [2, 3]])
    rng = np.random.default_rng(0)
    (found,) = secrets.whole([EVEN], 1e-6, rng)
    assert found.success == pytest.approx(0.5) == secrets.unnoised(EVEN)
