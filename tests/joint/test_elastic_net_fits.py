"""Lasso and elastic net of all candidates: the minimisers that coordinate descent approaches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn.exceptions import NonDeterministicError
from pacsklearn.joint import elastic_net
from pacsklearn.kernel.outputs.subset_fitting import joint_models
from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace, balanced_space

M = 6


def data() -> tuple[Any, Any, SecretSpace]:
    X, y = load_diabetes(return_X_y=True)
    X = X[:, [0, 1, 2, 3, 6, 8]] * [10, 30, 20, 50, 10, 20] + [1, 0, -2, 3, 0, 5]
    return X, y, balanced_space(len(X), n_subsets=M)


@pytest.mark.product(only=4)
@pytest.mark.parametrize(
    "estimator",
    [
        Lasso(),
        Lasso(alpha=0.01),
        Lasso(alpha=1e4),
        Lasso(fit_intercept=False),
        Lasso(positive=True),
        Lasso(selection="random", random_state=0),
        ElasticNet(),
        ElasticNet(alpha=0.1, l1_ratio=0.9, fit_intercept=False),
        make_pipeline(StandardScaler(), Lasso()),
        make_pipeline(StandardScaler(), PCA(3), ElasticNet(alpha=0.5)),
    ],
    ids=repr,
)
def test_each_subsets_minimiser(estimator: Any) -> None:
    X, y, space = data()
    fitter = registry().subset_fitter_for(estimator)
    assert fitter is not None
    last = f"{estimator.steps[-1][0]}__" if hasattr(estimator, "steps") else ""
    exact = clone(estimator).set_params(**{f"{last}tol": 1e-14, f"{last}max_iter": 100_000})
    for i, model in enumerate(fitter.fit_all(estimator, X, y, space)):
        rows = space.rows(i)
        ordinary = exact.fit(X[rows], y[rows])
        one, other = (found.steps[-1][1] if last else found for found in (model, ordinary))
        assert {name for name in vars(one) if name.endswith("_")} == {
            name for name in vars(other) if name.endswith("_")
        }
        size = max(np.max(np.abs(other.coef_)), 1.0)
        assert one.coef_ == pytest.approx(other.coef_, abs=1e-7 * size)
        assert one.intercept_ == pytest.approx(other.intercept_, abs=1e-5 * size)
        assert np.array_equal(one.coef_ == 0, other.coef_ == 0)
        assert abs(one.dual_gap_) <= 1e-9 * np.mean(y**2)
        assert model.predict(X) == pytest.approx(ordinary.predict(X), rel=1e-6)


def test_constant_columns_have_no_coefficient() -> None:
    X, y, space = data()
    rare = np.where(np.isin(np.arange(len(X)), space.rows(0)), 3.0, 0.0)
    X = np.column_stack([X, np.full(len(X), 0.1), rare])
    fitter = registry().subset_fitter_for(Lasso())
    assert fitter is not None
    exact = Lasso(tol=1e-14, max_iter=100_000)
    for i, model in enumerate(fitter.fit_all(Lasso(), X, y, space)):
        rows = space.rows(i)
        assert model.coef_ == pytest.approx(exact.fit(X[rows], y[rows]).coef_, rel=1e-7)
        assert model.coef_[-2] == 0
        assert (model.coef_[-1] == 0) or i


def test_a_loose_solver_is_no_reason_for_an_error_and_a_wrong_fit_is() -> None:
    X, y, space = data()
    rows = space.rows(0)
    for estimator in (Lasso(tol=0.01), make_pipeline(StandardScaler(), ElasticNet(tol=0.01))):
        ordinary = clone(estimator).fit(X[rows], y[rows])
        assert joint_models(estimator, X, y, {}, space, ordinary, fast_fit=True).is_judged
        moved = clone(estimator).fit(X[rows], y[rows] + 10 * X[rows, 0])
        with pytest.raises(NonDeterministicError, match="fast_fit=False"):
            joint_models(estimator, X, y, {}, space, moved, fast_fit=True)


def test_what_is_left_to_the_ordinary_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, space = data()
    fitter = registry().subset_fitter_for(Lasso())
    assert fitter is not None
    collinear = np.column_stack([X, X[:, 0] + 1e-9 * X[:, 1]])
    assert fitter.fit_all(Lasso(), collinear, y, space) == [None] * M
    assert fitter.fit_all(Lasso(), X, np.column_stack([y, y]), space) == [None] * M
    monkeypatch.setattr(elastic_net, "_MOST_ITERATIONS", 1)
    assert fitter.fit_all(Lasso(alpha=0.01), X, y, space) == [None] * M
    assert registry().subset_fitter_for(ElasticNet(l1_ratio=0)) is None
    assert registry().subset_fitter_for(Lasso(alpha=0)) is None


def test_other_rows_do_not_show_at_all() -> None:
    X, y, space = data()
    moved = X.copy()
    moved[np.setdiff1d(np.arange(len(X)), space.rows(2))] *= 1e3
    fitter = registry().subset_fitter_for(Lasso())
    assert fitter is not None
    before, after = (fitter.fit_all(Lasso(), rows, y, space)[2] for rows in (X, moved))
    assert np.array_equal(before.coef_, after.coef_)
