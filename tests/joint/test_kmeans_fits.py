"""K-Means of all candidates: scikit-learn's own starts, iterations, labels and centres."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

from pacsklearn.joint import kmeans
from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space
from tests.joint.together import together

M = 6


@pytest.fixture(autouse=True)
def _small_tables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmeans, "_LEAST_WORK", 0)


@pytest.mark.product(only=5)
@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(3, random_state=0),
        KMeans(5, random_state=1, n_init=4),
        KMeans(8, random_state=2, algorithm="elkan"),
        KMeans(4, random_state=3, tol=0.0),
        KMeans(4, random_state=3, tol=0.05),
        KMeans(6, random_state=4, max_iter=3),
        KMeans(2, random_state=5),
        KMeans(12, random_state=6, n_init=2, max_iter=1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("clustered", [False, True])
def test_the_same_fit(estimator: Any, clustered: bool) -> None:
    if clustered:
        X, _ = make_blobs(600, 7, centers=5, cluster_std=4.0, random_state=0)
    else:
        X = np.random.default_rng(0).normal(size=(600, 7)) * np.arange(1, 8) + 20
    untouched = X.copy()
    space = balanced_space(600, n_subsets=M)
    for i, model in enumerate(together(estimator, X, None, space)):
        ordinary = clone(estimator).fit(X[space.rows(i)])
        assert {name for name in vars(model) if name.endswith("_")} == {
            name for name in vars(ordinary) if name.endswith("_")
        }
        assert model.n_iter_ == ordinary.n_iter_
        assert np.array_equal(model.labels_, ordinary.labels_)
        assert model.labels_.dtype == ordinary.labels_.dtype
        assert model.inertia_ == pytest.approx(ordinary.inertia_, rel=1e-12)
        assert model.cluster_centers_ == pytest.approx(ordinary.cluster_centers_, rel=1e-12)
        assert np.array_equal(model.predict(X), ordinary.predict(X))
    assert np.array_equal(X, untouched)


def test_sums_are_taken_again_before_rounding_shows() -> None:
    X = np.random.default_rng(1).normal(size=(3000, 7))
    space = balanced_space(3000, n_subsets=2)
    estimator = KMeans(5, random_state=2, tol=0.0, max_iter=300)
    longest = 0
    for i, model in enumerate(together(estimator, X, None, space)):
        ordinary = clone(estimator).fit(X[space.rows(i)])
        assert model.n_iter_ == ordinary.n_iter_
        longest = max(longest, ordinary.n_iter_)
        assert model.cluster_centers_ == pytest.approx(ordinary.cluster_centers_, abs=1e-13)
    assert longest > 32


def test_distances_that_single_precision_cannot_tell_apart() -> None:
    """Close clusters far from each other: their squares differ by less than a float holds."""
    generator = np.random.default_rng(2)
    centres = np.array([[0.0, 0.0], [0.3, 0.0], [2e3, 0.0], [2e3, 0.3]])
    X = np.repeat(centres, 150, axis=0) + 0.1 * generator.normal(size=(600, 2))
    space, estimator = balanced_space(600, n_subsets=M), KMeans(4, random_state=0, tol=0)
    for i, model in enumerate(together(estimator, X, None, space)):
        ordinary = clone(estimator).fit(X[space.rows(i)])
        assert model.n_iter_ == ordinary.n_iter_ > 2
        assert np.array_equal(model.labels_, ordinary.labels_)


def test_other_rows_do_not_show_at_all() -> None:
    X = load_iris().data
    space = balanced_space(150, n_subsets=M)
    moved = X.copy()
    moved[np.setdiff1d(np.arange(150), space.rows(2))] *= 1e6
    before, after = (
        together(KMeans(3, random_state=0), rows, None, space)[2] for rows in (X, moved)
    )
    assert np.array_equal(before.cluster_centers_, after.cluster_centers_)


def test_duplicates_and_few_rows_are_left_to_the_ordinary_fit() -> None:
    space = balanced_space(40, n_subsets=4)
    X = np.repeat(np.array([[0.0], [1.0]]), 20, axis=0)
    assert together(KMeans(3, random_state=0), X, None, space) == [None] * 4
    assert together(KMeans(30, random_state=0), np.arange(40.0)[:, None], None, space) == [None] * 4
    single = X.astype(np.float32)
    assert together(KMeans(2, random_state=0), single, None, space) == [None] * 4


@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(3),
        KMeans(3, init="random", random_state=0),
        KMeans(1, random_state=0),
        KMeans(40, random_state=0),
        KMeans(2, init=np.array([[0.0], [1.0]]), random_state=0),
    ],
    ids=repr,
)
def test_what_is_fitted_one_by_one(estimator: Any) -> None:
    assert registry().subset_fitter_for(estimator) is None


def test_a_row_that_is_not_finite_is_left_to_the_ordinary_fit() -> None:
    """It says what is wrong with the rows; candidates without the row are fitted as ever."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[5, 1] = np.nan
    space = balanced_space(300, n_subsets=M)
    for i, model in enumerate(together(KMeans(3, random_state=0), X, None, space)):
        assert (model is None) == (5 in space.rows(i))
