"""Clipping without a loop, against a loop; losses against differences."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse

from pacsklearn.srpp import LearningRate, Penalty, SRPPSGDRegressor
from pacsklearn.srpp.descent.clipped_gradient import LOSSES, clipped_sum

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
        found = LOSSES[name].slopes(z, np.full_like(z, target))
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
    loss, clip = LOSSES[name], 1.3
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
            row, np.array([[1e3]]), np.zeros((1, 51)), LOSSES["squared_error"], 0.25
        )
        assert np.linalg.norm(found) <= 0.25 * (1 + 1e-14)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_no_row_shows_in_a_warning_whatever_numpy_is_told(name, size):
    """Whether a float overflows or underflows in the batch's own sum is a fact about its rows."""
    rows = np.full((3, 2), size)
    targets = np.ones((3, 1))
    with np.errstate(all="raise"):
        total = clipped_sum(rows, targets, np.full((1, 3), 0.5), LOSSES[name], 1.0)
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
    assert LearningRate(2.0, "constant", 0.5).size(3, 10) == 2.0
    falling = LearningRate(2.0, "invscaling", 0.5)
    np.testing.assert_allclose([falling.size(t, 10) for t in (0, 3, 8)], [2.0, 1.0, 2 / 3])
    cosine = LearningRate(2.0, "cosine")
    assert cosine.size(0, 10) == 2.0
    assert cosine.size(10, 10) == cosine.size(99, 10) == pytest.approx(0.0, abs=1e-15)


def exactly_clipped(row, slope, weight, clip, *, intercept):
    """Gradient of one row, in decimals whose exponents have room for every product of doubles."""
    slope = Decimal(slope) * Decimal(weight)
    gradient = [slope * Decimal(each) for each in (*row, float(intercept))]
    norm = sum(each * each for each in gradient).sqrt()
    factor = min(Decimal(1), Decimal(clip) / norm) if norm else Decimal(0)
    return [each * factor / Decimal(clip) for each in gradient]


@pytest.mark.product(only=3)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_whatever_the_doubles_are_a_row_moves_the_sum_by_what_it_is_clipped_to(seed, intercept):
    """Squares vanish below 1e-161 and overflow above 1e154: 487 clipping norms, and more."""
    generator = np.random.default_rng(seed)

    def extreme(*shape):
        values = generator.uniform(1, 2, shape) * generator.choice([-1, 1], shape)
        return np.ldexp(values, generator.integers(-1000, 1000, shape))

    loss = LOSSES["squared_error"]
    for _ in range(100):
        size, clip = generator.integers(1, 5), abs(np.ldexp(extreme(1)[0], 0)) ** 0.9
        rows, targets, weights = extreme(size, 3), extreme(size, 1), np.abs(extreme(size))
        rows[generator.random(rows.shape) < 0.2] = 0.0
        expected = np.zeros(4)
        with decimal.localcontext(prec=50, Emax=10**6, Emin=-(10**6)):
            for row, target, weight in zip(rows, targets[:, 0], weights, strict=True):
                expected += np.array(
                    exactly_clipped(row, -target, weight, clip, intercept=intercept), dtype=float
                )
        for each in (rows, sparse.csr_matrix(rows)):
            found = clipped_sum(
                each, targets, np.zeros((1, 4)), loss, clip, weights, intercept=intercept
            )
            np.testing.assert_allclose(found[0] / clip, expected, rtol=0, atol=1e-14 * size)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize(
    ("row", "target", "weight"),
    [(1.5e-162, 1.3e154, 1.0), (1.5e-162, 1.3e5, 1e149), (1.5e153, 1.5e-162, 1.0)],
)
def test_the_presence_of_a_row_whose_squares_vanish_stays_hidden(row, target, weight):
    """It moved the sum by 174 clipping norms and more, and was named 40 of 40 times."""
    right = 0
    generator = np.random.default_rng(3)
    for seed in range(40):
        present = int(generator.integers(2))
        X, y, weights = np.zeros((20, 60)), np.zeros(20), np.ones(20)
        if present:
            X[0], y[0], weights[0] = row, target, weight
        model = SRPPSGDRegressor(
            budget=1.0,
            clipping=1e-10,
            batches=20,
            epochs=1,
            fit_intercept=False,
            penalty=None,
            random_state=seed,
        ).fit(X, y, sample_weight=weights)
        # One step of .1 over 20 rows, in clipping norms; the noise is 3 of them.
        moved = model.coef_.sum() / np.sqrt(60) / (1e-10 * 0.1 / 20)
        right += int(moved > 10) == present
    assert right < 35
