"""Clipping without a loop, against a loop; losses against differences."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.estimators.srpp_sgd.clipped_gradient import LOSSES, clipped_sum, loss_named
from pacsklearn.estimators.srpp_sgd.descent import Penalty, StepSize

VALUES = {
    "log_loss": lambda z, t: np.log1p(np.exp(-t * z)),
    "hinge": lambda z, t: np.maximum(0, 1 - t * z),
    "squared_error": lambda z, t: (z - t) ** 2 / 2,
    "huber": lambda z, t: np.where(
        np.abs(z - t) <= 0.5, (z - t) ** 2 / 2, 0.5 * (np.abs(z - t) - 0.25)
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_slopes(name):
    z = np.linspace(-3.03, 3.01, 41)
    for target in (-1.0, 1.0):
        h = 1e-6
        value = VALUES[name]
        expected = (value(z + h, target) - value(z - h, target)) / (2 * h)
        found = loss_named(name, 0.5).slopes(z, np.full_like(z, target))
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_a_loop_over_rows_agrees(name, k, intercept, weighted):
    generator = np.random.default_rng(k)
    rows = generator.standard_normal((12, 5)) * 3
    rows[3] = 0.0
    targets = np.where(generator.random((12, k)) < 0.5, 1.0, -1.0)
    parameters = generator.standard_normal((k, 6))
    weights = generator.random(12) * 3 if weighted else None
    loss, clip = loss_named(name, 0.5), 1.3
    expected, cut = np.zeros((k, 6)), 0
    for i, row in enumerate(rows):
        slopes = loss.slopes(parameters[:, :-1] @ row + parameters[:, -1], targets[i])
        gradient = np.outer(slopes, np.append(row, float(intercept)))
        if weighted:
            gradient *= weights[i]
        norm = np.linalg.norm(gradient)
        cut += norm > clip
        expected += gradient * min(1, clip / norm) if norm > 0 else 0
    found = clipped_sum(rows, targets, parameters, loss, clip, weights, intercept=intercept)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert cut > 0


def test_no_row_counts_more_than_the_clipping_norm():
    generator = np.random.default_rng(0)
    for scale in (1e-300, 1e-8, 1.0, 1e8, 1e150, 1e200, 1e307):
        row = generator.standard_normal((1, 50)) * scale
        found = clipped_sum(
            row, np.array([[1e3]]), np.zeros((1, 51)), loss_named("squared_error", 1), 0.25
        )
        assert np.linalg.norm(found) <= 0.25 * (1 + 1e-14)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_no_row_shows_in_a_warning_whatever_numpy_is_told(name, size):
    """Whether a float overflows or underflows in the batch's own sum is a fact about its rows."""
    rows = np.full((3, 2), size)
    targets = np.ones((3, 1))
    with np.errstate(all="raise"):
        total = clipped_sum(rows, targets, np.full((1, 3), 0.5), loss_named(name, 0.5), 1.0)
    assert np.all(np.isfinite(total))


def test_penalties():
    parameters = np.array([[1.0, -2.0, 0.01, 5.0]])
    half = Penalty("elasticnet", 0.5, 0.2)
    np.testing.assert_allclose(half.gradient(parameters), [[0.4, -0.8, 0.004, 0.0]])
    shrunk = parameters.copy()
    half.shrink(shrunk, 0.3)
    np.testing.assert_allclose(shrunk, [[0.97, -1.97, 0.0, 5.0]])
    assert Penalty(None, 1.0, 0.5).gradient(parameters) == 0.0
    assert Penalty("l1", 1.0, 0.5).gradient(parameters) == 0.0
    np.testing.assert_allclose(
        Penalty("l2", 1.0, 0.5).gradient(parameters)[0, :3], parameters[0, :3]
    )


def test_step_sizes():
    warm = StepSize("constant", 2.0, 0.5, 10, warmup=0.4)
    np.testing.assert_allclose([warm(t) for t in range(5)], [0.5, 1.0, 1.5, 2.0, 2.0])
    falling = StepSize("invscaling", 2.0, 0.5, 10)
    np.testing.assert_allclose([falling(t) for t in (0, 3, 8)], [2.0, 1.0, 2 / 3])
    cosine = StepSize("cosine", 2.0, 0.5, 10)
    assert cosine(0) == 2.0
    assert cosine(10) == cosine(99) == pytest.approx(0.0, abs=1e-15)
