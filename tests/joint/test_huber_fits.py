"""Huber regressions of all candidates: the minimisers that scikit-learn's solver walks towards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import HuberRegressor

from pacsklearn import PACPrivate, Subsets
from pacsklearn.exceptions import PrivacyLeakWarning
from pacsklearn.joint.huber import HuberProblem
from pacsklearn.joint.joint_minimiser import minimise_from
from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space
from tests.joint.together import together

M = 6


def tables(name: str) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return X * 20 + 1, y
    X = generator.normal(size=(700, 4)) * [1, 10, 0.1, 3] + [0, 50, 1, -2]
    y = X @ [1.0, -0.2, 4.0, 0.5] + generator.standard_t(1.5, size=700)
    return X, y


def slope_of(model: Any, X: Any, y: Any) -> Any:
    """Gradient of the loss that scikit-learn's guide states, row by row."""
    slope = np.zeros(X.shape[1] + 2)
    for row, target in zip(X, y, strict=True):
        away = (target - row @ model.coef_ - model.intercept_) / model.scale_
        if abs(away) < model.epsilon:
            fall, rise = 2 * away, 1 - away**2
        else:
            fall, rise = 2 * model.epsilon * np.sign(away), 1 - model.epsilon**2
        slope += np.array([-fall, *(-fall * row), rise])
    slope[1:-1] += 2 * model.alpha * model.coef_
    return slope if model.fit_intercept else slope[1:]


@pytest.mark.product(only=2)
@pytest.mark.parametrize("name", ["diabetes", "heavy tails"])
@pytest.mark.parametrize("options", [{}, {"epsilon": 1.9, "alpha": 3.0}, {"fit_intercept": False}])
def test_the_minimiser_of_each_candidate(name: str, options: dict[str, Any]) -> None:
    X, y = tables(name)
    space = balanced_space(len(X), n_subsets=M)
    estimator = HuberRegressor(max_iter=20_000, tol=1e-9, **options)
    for i, model in enumerate(together(estimator, X, y, space)):
        rows = space.rows(i)
        ordinary = clone(estimator).set_params(warm_start=estimator.fit_intercept)
        for _ in range(6):  # its solver stops where a step gains little, and goes on when called
            ordinary.fit(X[rows], y[rows])
        size = np.abs(slope_of(clone_at_zero(model), X[rows], y[rows])).max()
        assert np.abs(slope_of(model, X[rows], y[rows])).max() < 1e-7 * size
        span = np.ptp(ordinary.predict(X))
        np.testing.assert_allclose(model.predict(X), ordinary.predict(X), atol=2e-3 * span)
        assert model.scale_ == pytest.approx(ordinary.scale_, rel=2e-3)
        assert np.mean(model.outliers_ == ordinary.outliers_) > 0.99
        learned = {one for one in vars(ordinary) if one.endswith("_")}
        assert {one for one in vars(model) if one.endswith("_")} == learned


def clone_at_zero(model: Any) -> Any:
    zero = clone(model)
    zero.coef_, zero.intercept_, zero.scale_ = np.zeros_like(model.coef_), 0.0, model.scale_
    return zero


def test_the_start_does_not_show() -> None:
    X, y = tables("diabetes")
    space = balanced_space(len(X), n_subsets=M)
    problem = HuberProblem(HuberRegressor(alpha=0.1), X, y, space, np.ones(len(X)))
    common = problem.common_start()
    assert common is not None
    start, factor = common
    other = start * 1.2
    other[-1] *= 2
    how: Any = {"chosen": np.arange(M), "single": False}
    found = [minimise_from(problem, one, factor, M, **how) for one in (start, other)]
    assert all(one.converged.all() for one in found)
    first, second = (one.parameters for one in found)
    np.testing.assert_allclose(first, second, rtol=1e-7, atol=1e-8 * np.abs(first).max())


def test_rows_of_others_leave_no_trace() -> None:
    X, y = tables("heavy tails")
    space = balanced_space(len(X), n_subsets=M, groups=np.arange(len(X)) // 2)
    before = together(HuberRegressor(), X, y, space)[2]
    others = np.setdiff1d(np.arange(len(X)), space.rows(2))
    generator = np.random.default_rng(1)
    X[others], y[others] = generator.normal(size=(others.size, 4)) + 3, 100.0
    after = together(HuberRegressor(), X, y, space)[2]
    for name in ("coef_", "intercept_", "scale_"):
        np.testing.assert_allclose(getattr(before, name), getattr(after, name), rtol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_a_row_that_is_no_number_spoils_only_those_who_hold_it(value: float) -> None:
    X, y = tables("heavy tails")
    space = balanced_space(len(X), n_subsets=M)
    before = together(HuberRegressor(), X, y, space)
    X[5, 1] = value
    for i, model in enumerate(together(HuberRegressor(), X, y, space)):
        assert (model is None) == (5 in space.rows(i))
        if model is not None:
            np.testing.assert_allclose(model.coef_, before[i].coef_, rtol=1e-6)


def test_no_scale_is_left_to_the_ordinary_fit() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert (
        together(HuberRegressor(), X, X[:, 0] * 0.0, balanced_space(200, n_subsets=M)) == [None] * M
    )
    assert registry().subset_fitter_for(HuberRegressor(alpha=0.0)) is None
    assert registry().subset_fitter_for(HuberRegressor(warm_start=True)) is None


def test_a_release_is_of_joint_fits() -> None:
    X, y = tables("diabetes")
    released = PACPrivate(HuberRegressor(max_iter=5000), secret=Subsets(16), random_state=0)
    with pytest.warns(PrivacyLeakWarning):
        released.fit(X, y)
    assert "16 candidates fitted together" in str(released.fit_report_)
