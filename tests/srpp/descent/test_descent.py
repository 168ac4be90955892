"""Noise of the shape of public bounds: size, sensitivity, worth, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from benchmarks.baselines.update_cap import (
    box_matrix_cap,
    matrix_cap_noise,
    matrix_update_cap,
)
from pacsklearn.srpp import (
    Batches,
    Clipping,
    DifferingRows,
    LearningRate,
    Renyi,
    SRPPSGDClassifier,
    SRPPSGDRegressor,
)
from pacsklearn.srpp.descent.clipped_gradient import LOSSES, clipped_sum
from pacsklearn.srpp.descent.descent import ColumnScales
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping

QUIET = pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
BOUNDS = np.array([90.0, 1.0, 0.01])
INTERCEPT = pytest.mark.parametrize("intercept", [True, False])


@QUIET
@INTERCEPT
def test_the_noise_is_that_of_the_matrix_cap(intercept):
    """A step on rows of zeros is noise alone; two groups of 3,000 values, 5 standard errors."""
    bounds = np.repeat([50.0, 2.0], 3000)
    model = SRPPSGDRegressor(
        budget=Renyi(0.5, order=6.0),
        batches=Batches(8, sampling="without-replacement", accounting="worst-case"),
        scenario=DifferingRows(2),
        clipping=Clipping(0.7, feature_bounds=bounds),
        epochs=1,
        learning_rate=LearningRate(1.0, schedule="constant"),
        penalty=None,
        fit_intercept=intercept,
        random_state=0,
    ).fit(np.zeros((8, 6000)), np.zeros(8))
    # The same two columns' corner of the cap, by the formulas for matrices.
    clip = 0.7 * np.sqrt(6000 + intercept)
    cap = matrix_update_cap(2.0**2, clip, 8, np.diag([1 / 50.0, 1 / 2.0]))
    expected = np.sqrt(np.diag(matrix_cap_noise([cap], 6.0, 0.5)))
    for part, deviation in zip(np.split(model.coef_, 2), expected, strict=True):
        assert abs(part.std() / deviation - 1) < 5 / np.sqrt(2 * 3000)


@INTERCEPT
def test_no_shape_of_noise_has_less_effect_on_rows_at_their_bounds(intercept):
    """The update of a row within the bounds lies in a box; its least cap is the one used."""
    scales = ColumnScales.of(BOUNDS, 3, 0.7, intercept=intercept)
    sides = np.append(BOUNDS, 1.0) if intercept else BOUNDS
    least = box_matrix_cap(0.7 / sides, weights=sides**2)
    used = (scales.clip_norm / sides) ** 2
    np.testing.assert_allclose(used, least)
    ball = np.sum((0.7 / sides) ** 2)
    assert np.sum(sides**2 * used) < 0.01 * np.sum(sides**2) * ball


@INTERCEPT
def test_no_row_moves_a_step_further_than_priced(intercept):
    """Opposite slopes of rows within the bounds and far beyond them, in units of the noise."""
    generator = np.random.default_rng(1)
    scales = ColumnScales.of(BOUNDS, 3, 0.7, intercept=intercept)
    clipping = GradientClipping((scales.clip_norm,), (4,))
    deviation = scales.restored(np.full((1, 4), 5.0 * scales.clip_norm))
    parameters = generator.normal(size=(1, 4))
    largest = 0.0
    for power in np.resize([-2, 0, 1, 3, 60, 250, 308], 400):
        with np.errstate(over="ignore"):
            row = np.clip(generator.normal(size=(1, 3)) * 10.0**power, -1e308, 1e308)
        sums = [
            scales.restored(
                clipped_sum(
                    scales.scaled(row), np.array([[target]]), parameters, LOSSES["squared_error"],
                    scales.clip_norm, intercept=intercept,
                )
            )
            for target in (1e90, -1e90)
        ]  # fmt: skip
        assert np.all(np.isfinite(sums))
        largest = max(largest, float(np.linalg.norm((sums[0] - sums[1]) / deviation)))
    assert 0.999 * 2 / 5.0 < largest <= clipping.reach(5.0, 1)


@INTERCEPT
def test_rows_within_the_bounds_are_not_clipped(intercept):
    generator = np.random.default_rng(2)
    scales = ColumnScales.of(BOUNDS, 3, 1.0, intercept=intercept)
    rows = scales.scaled(BOUNDS * generator.choice([-1.0, -0.3, 1.0], size=(40, 3)))
    targets = generator.choice([-1.0, 1.0], size=(40, 1))
    parameters = generator.normal(size=(1, 4))
    found, plain = (
        clipped_sum(rows, targets, parameters, LOSSES["log_loss"], norm, intercept=intercept)
        for norm in (scales.clip_norm, 1e9)
    )
    np.testing.assert_allclose(found, plain, rtol=1e-12)


def unlike_columns():
    generator = np.random.default_rng(3)
    X = np.column_stack([generator.uniform(0, 90, 4000), generator.uniform(-1, 1, (4000, 3))])
    return X, (X[:, 1] + X[:, 2] - X[:, 3] > 0).astype(int)


OPTIONS = {"budget": 1.0, "classes": [0, 1], "batches": 400, "random_state": 0}
SIDES = [90.0, 1.0, 1.0, 1.0]


@pytest.mark.soak
@QUIET
def test_small_columns_are_learnt_at_the_same_price():
    """Against the ball in which no row is clipped either, at its best of four step sizes."""
    X, y = unlike_columns()
    shaped = SRPPSGDClassifier(
        **OPTIONS, clipping=Clipping(feature_bounds=SIDES), learning_rate=1.0
    ).fit(X, y)
    balls = [
        SRPPSGDClassifier(**OPTIONS, clipping=float(np.linalg.norm(SIDES)), learning_rate=eta0).fit(
            X, y
        )
        for eta0 in (1e-4, 1e-3, 1e-2, 1.0)
    ]
    for model in (shaped, *balls):
        assert model.guarantee_.spent == pytest.approx(1.0, rel=1e-3)
    assert shaped.score(X, y) > 0.95
    assert shaped.score(X, y) > max(ball.score(X, y) for ball in balls) + 0.03


@pytest.mark.soak
@QUIET
def test_a_run_keeps_its_bounds_and_sparse_rows_are_the_same():
    X, y = unlike_columns()
    dense = SRPPSGDClassifier(**OPTIONS, clipping=Clipping(feature_bounds=SIDES)).fit(X, y)
    thin = SRPPSGDClassifier(**OPTIONS, clipping=Clipping(feature_bounds=SIDES)).fit(
        csr_matrix(X), y
    )
    np.testing.assert_allclose(dense.coef_, thin.coef_, rtol=1e-9)
    by_hand = SRPPSGDClassifier(**OPTIONS, clipping=np.sqrt(5.0)).fit(X / SIDES, y)
    np.testing.assert_allclose(dense.coef_ * SIDES, by_hand.coef_, rtol=1e-6)
    assert dense.guarantee_.spent == by_hand.guarantee_.spent
    assert "in units of feature_bounds" in " ".join(str(dense.guarantee_).split())
    model = SRPPSGDClassifier(**OPTIONS, clipping=Clipping(feature_bounds=SIDES)).partial_fit(X, y)
    model.set_params(clipping=Clipping(feature_bounds=None)).partial_fit(X, y)
    assert abs(model.coef_[0, 0]) < 0.05  # its column is still counted in nineties


@pytest.mark.parametrize("bounds", [[1.0], [1, 1, 1, 0], [1, 1, 1, np.nan], "wide", [1e60] * 4])
def test_bounds_that_are_none(bounds):
    X, y = unlike_columns()
    with pytest.raises(ValueError, match="feature_bounds"):
        SRPPSGDClassifier(classes=[0, 1], clipping=Clipping(feature_bounds=bounds)).fit(X, y)
