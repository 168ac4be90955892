"""One list of neighbours for all candidates says what each candidate's model says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import _safe_indexing

from pacsklearn.joint.stacked_neighbors import StackedNeighbors
from pacsklearn.kernel.outputs.models import stack
from pacsklearn.secrets import balanced_space

M = 16


class MyNeighbors(KNeighborsClassifier):
    """May predict otherwise."""


def fitted(estimator: Any, X: Any, y: Any, m: int = M) -> tuple[Any, ...]:
    space = balanced_space(len(y), n_subsets=m, strata=y)
    own = [space.rows(i) for i in range(m)]
    return tuple(clone(estimator).fit(_safe_indexing(X, i), _safe_indexing(y, i)) for i in own)


def assert_same(models: tuple[Any, ...], rows: Any) -> None:
    stacked = stack(models)
    assert isinstance(stacked, StackedNeighbors)
    codes = stacked.predict(rows)
    assert codes.dtype == np.int32
    for model, own in zip(models, codes, strict=True):
        assert np.array_equal(model.classes_[own], model.predict(rows))


@pytest.mark.product(only=2)
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("k", [1, 2, 5, 30])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
def test_labels(algorithm: str, k: int, load: Any) -> None:
    X, y = (part[:600] for part in load(return_X_y=True))
    names = np.array([f"class {label}" for label in y])
    models = fitted(KNeighborsClassifier(k, algorithm=algorithm), X, names)
    noise = np.random.default_rng(0).normal(size=X[:100].shape) * X.std(axis=0)
    for rows in (X[:150], X[:100] + noise, X[:1]):
        assert_same(models, rows)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_ties(k: int) -> None:
    """Whole numbers: many rows are equal, with one label or several, or as far from a query."""
    generator = np.random.default_rng(k)
    X = generator.integers(0, 4, size=(120, 2)).astype(float)
    y = generator.integers(0, 3, size=120)
    models = fitted(KNeighborsClassifier(k), X, y)
    assert_same(models, np.concatenate([X, X + 0.5, 100 * X]))


def test_ties_of_named_columns() -> None:
    """Who is asked itself is asked with the columns' names, or it would warn."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    assert_same(fitted(KNeighborsClassifier(2), X.round(), y), X.round())


def test_rows_far_from_the_origin() -> None:
    generator = np.random.default_rng(0)
    X, y = 1e7 + generator.normal(size=(200, 3)), generator.integers(0, 2, size=200)
    assert_same(fitted(KNeighborsClassifier(3, algorithm="kd_tree"), X, y), X[:50] + 0.1)


def test_candidates_of_very_different_sizes() -> None:
    """A list of usual length misses the rows of a small candidate: it is asked itself."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    parts = [order[:12], order, order[20:], order[:140]]
    models = tuple(KNeighborsClassifier(6).fit(X[part], y[part]) for part in parts)
    assert_same(models, X)


def test_what_is_asked_one_by_one() -> None:
    X, y = load_iris(return_X_y=True)
    for estimator in (
        MyNeighbors(),
        KNeighborsClassifier(weights="distance"),
        KNeighborsClassifier(metric="manhattan"),
        KNeighborsClassifier(p=3),
    ):
        assert stack(fitted(estimator, X, y, 4)) is None
    assert stack(fitted(KNeighborsClassifier(), sparse.csr_matrix(X), y, 4)) is None
    assert stack(fitted(KNeighborsClassifier(), X.astype(np.float32), y, 4)) is None
    parts = [KNeighborsClassifier().fit(X[rows], y[rows]) for rows in (slice(100), slice(50, 150))]
    assert stack(tuple(parts)) is None
    models = fitted(KNeighborsClassifier(), X, y, 4)
    assert_same(models, X.astype(np.float32))
