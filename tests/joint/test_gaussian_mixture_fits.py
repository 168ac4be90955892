"""Gaussian mixtures of all candidates: scikit-learn's own starts, iterations and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from pacsklearn.joint import gaussian_mixture
from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space
from tests.joint.together import together

M = 6


@pytest.fixture(autouse=True)
def _small_tables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian_mixture, "_LEAST_WORK", 0)


@pytest.mark.product(only=5)
@pytest.mark.parametrize(
    "estimator",
    [
        GaussianMixture(3, covariance_type="diag", random_state=0, max_iter=1000),
        GaussianMixture(4, covariance_type="spherical", random_state=1, max_iter=1000),
        GaussianMixture(2, covariance_type="diag", random_state=2, reg_covar=0.1, tol=1e-5),
        GaussianMixture(1, covariance_type="diag", random_state=0),
        GaussianMixture(3, random_state=0, max_iter=1000),
        GaussianMixture(1, random_state=0),
        GaussianMixture(3, covariance_type="tied", random_state=0, max_iter=1000),
        GaussianMixture(2, covariance_type="tied", random_state=2, reg_covar=0.1, tol=1e-5),
    ],
    ids=repr,
)
@pytest.mark.parametrize("clustered", [False, True])
def test_the_same_fit(estimator: Any, clustered: bool) -> None:
    if clustered:
        X, _ = make_blobs(1300, 4, centers=3, cluster_std=3.0, random_state=0)
    else:
        X = np.random.default_rng(0).normal(size=(1300, 4)) * np.arange(1, 5) + 2
    space = balanced_space(1300, n_subsets=M)
    models = together(estimator, X, None, space)
    assert sum(model is not None for model in models) >= M - 1
    for i, model in enumerate(models):
        if model is None:
            continue
        ordinary = clone(estimator).fit(X[space.rows(i)])
        learned = {name for name in vars(ordinary) if name.endswith("_")}
        assert {name for name in vars(model) if name.endswith("_")} == learned
        assert model.n_iter_ == ordinary.n_iter_
        assert model.converged_ is ordinary.converged_ is True
        for name in learned - {"converged_", "n_iter_"}:
            mine, theirs = np.asarray(getattr(model, name)), np.asarray(getattr(ordinary, name))
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-9, err_msg=name)
        assert np.array_equal(model.predict(X), ordinary.predict(X))


@pytest.mark.parametrize("kind", ["diag", "full", "tied"])
def test_groups_and_rows_of_others_leave_no_trace(kind: str) -> None:
    X, _ = make_blobs(900, 3, centers=2, cluster_std=2.0, random_state=0)
    space = balanced_space(900, n_subsets=M, groups=np.arange(900) // 3)
    estimator = GaussianMixture(2, covariance_type=kind, random_state=0)
    before = together(estimator, X, None, space)[4]
    others = np.setdiff1d(np.arange(900), space.rows(4))
    X[others] = 1e6 * np.random.default_rng(1).normal(size=(others.size, 3))
    after = together(estimator, X, None, space)[4]
    for name in ("weights_", "means_", "covariances_"):
        np.testing.assert_allclose(getattr(before, name), getattr(after, name), rtol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_a_row_that_cannot_be_squared_spoils_only_those_who_hold_it(value: float) -> None:
    X, _ = make_blobs(600, 3, centers=2, cluster_std=2.0, random_state=0)
    space = balanced_space(600, n_subsets=M)
    estimator = GaussianMixture(2, covariance_type="diag", random_state=0)
    before = together(estimator, X, None, space)
    X[5] = value
    holders = {i for i in range(M) if 5 in space.rows(i)}
    for i, model in enumerate(together(estimator, X, None, space)):
        assert (model is None) == (i in holders)
        if model is not None:
            assert np.allclose(model.means_, before[i].means_, rtol=1e-12)


def test_what_did_not_converge_is_left_to_the_ordinary_fit() -> None:
    X = np.random.default_rng(0).normal(size=(600, 3))
    estimator = GaussianMixture(3, covariance_type="diag", random_state=0, max_iter=2, tol=1e-9)
    space = balanced_space(600, n_subsets=M)
    assert together(estimator, X, None, space) == [None] * M


@pytest.mark.parametrize("kind", ["diag", "full", "tied"])
@pytest.mark.parametrize("case", ["far", "collinear"])
def test_variances_that_cancel_are_left_to_the_ordinary_fit(kind: str, case: str) -> None:
    X = np.random.default_rng(0).normal(size=(600, 3))
    if case == "far":
        X += 1e5
    elif kind != "diag":
        X[:, 2] = X[:, 1] + 1e-3 * X[:, 2]
    else:
        return
    estimator = GaussianMixture(2, covariance_type=kind, random_state=0)
    assert together(estimator, X, None, balanced_space(600, n_subsets=M)) == [None] * M


@pytest.mark.parametrize(
    "options",
    [
        {"n_init": 2},
        {"init_params": "random"},
        {"means_init": np.zeros((2, 3))},
        {"warm_start": True},
        {"random_state": None},
    ],
    ids=repr,
)
def test_what_is_fitted_one_by_one(options: dict[str, Any]) -> None:
    plain = {"covariance_type": "diag", "random_state": 0}
    assert registry().subset_fitter_for(GaussianMixture(2, **(plain | options))) is None


def test_full_covariances_of_many_features_are_fitted_one_by_one() -> None:
    X = np.random.default_rng(0).normal(size=(400, 17))
    space = balanced_space(400, n_subsets=M)
    assert together(GaussianMixture(1, random_state=0), X, None, space) == [None] * M
    assert None not in together(GaussianMixture(1, random_state=0), X[:, :16], None, space)
