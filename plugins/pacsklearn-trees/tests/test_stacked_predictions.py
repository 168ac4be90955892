"""Predictors of all candidates say what each candidate's model says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pacsklearn_trees.stacked_forest import StackedForest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.kernel.outputs.models import stack
from pacsklearn.secrets import balanced_space
from pacsklearn.tabular import FixedStructureForestClassifier, FixedStructureForestRegressor
from tests.references import by_loops, by_reference

M = 4


class MyForest(RandomForestClassifier):
    """May predict otherwise."""


def fitted(estimator: Any, X: Any, y: Any) -> tuple[Any, ...]:
    space = balanced_space(len(y), n_subsets=M, strata=y if is_classifier(estimator) else None)
    parts = ((safe_indexing(X, space.rows(i)), y[space.rows(i)]) for i in range(M))
    return tuple(clone(estimator).fit(*part) for part in parts)


CASES = [
    (RandomForestClassifier(7, max_depth=4, random_state=0), StackedForest),
    (ExtraTreesClassifier(7, random_state=0), StackedForest),
    (GradientBoostingClassifier(n_estimators=6, random_state=0), StackedForest),
    (GradientBoostingClassifier(n_estimators=4, init="zero", random_state=0), StackedForest),
    (HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=5), StackedForest),
    (FixedStructureForestClassifier(4), StackedForest),
    (FixedStructureForestClassifier(leaves="votes"), StackedForest),
]


@pytest.mark.product(only=5)
@pytest.mark.parametrize(("estimator", "kind"), CASES, ids=lambda value: repr(value)[:60])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_labels(estimator: Any, kind: type, load: Any) -> None:
    X, y = load(return_X_y=True)
    names = np.array(["b", "a", "c"])[y]
    models = fitted(estimator, X, names)
    stacked = stack(models)
    assert isinstance(stacked, kind)
    for rows in (X, X[:1]):
        codes = stacked.predict(rows)
        assert codes.dtype == np.int32
        for model, own in zip(models, codes, strict=True):
            assert np.array_equal(model.classes_[own], model.predict(rows))


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "estimator",
    [
        *(estimator for estimator, _ in CASES),
        RandomForestRegressor(9, random_state=0),
        GradientBoostingRegressor(n_estimators=7, random_state=0),
        HistGradientBoostingRegressor(loss="poisson", max_iter=6),
        FixedStructureForestRegressor(5),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_the_same_sums_without_numba(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    models = fitted(estimator, X, y)
    rows = np.concatenate([X, np.random.default_rng(0).uniform(0, 8, (1500, 4))])

    def predicted() -> bytes:
        stacked = stack(models)
        assert isinstance(stacked, StackedForest)
        ways = [
            replace(stacked, passing_from=least, ranks=kind).predict(rows).tobytes()
            for least, kind in ((0, np.uint16), (np.inf, np.uint16), (0, np.uint32))
        ]
        assert len(set(ways)) == 1
        return ways[0] + b"".join(part.tobytes() for part in stacked.layout)

    assert by_loops(predicted) == by_reference(predicted)


@pytest.mark.product(only=3)
@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestRegressor(5, random_state=0),
        ExtraTreesRegressor(5, max_depth=3, random_state=0),
        GradientBoostingRegressor(n_estimators=7, random_state=0),
        HistGradientBoostingRegressor(loss="poisson", max_iter=6),
        GradientBoostingRegressor(loss="quantile", n_estimators=5, random_state=0),
        FixedStructureForestRegressor(4),
        FixedStructureForestRegressor(target_range=(100, 200)),
    ],
    ids=repr,
)
def test_values(estimator: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    models = fitted(estimator, X, y)
    stacked = stack(models)
    assert isinstance(stacked, StackedForest)
    values = stacked.predict(X)
    for model, own in zip(models, values, strict=True):
        if isinstance(stacked, StackedForest):
            assert np.array_equal(own, model.predict(X))
        assert own == pytest.approx(model.predict(X), rel=1e-10)


@pytest.mark.parametrize("kind", [RandomForestRegressor, GradientBoostingRegressor])
def test_rows_at_thresholds(kind: Any) -> None:
    """Numbers that are thresholds, or next to them in single or double precision."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 3))
    models = tuple(kind(n_estimators=5, random_state=i).fit(X, X[:, 0] * X[:, 1]) for i in range(3))
    trees = [np.ravel(model.estimators_)[0].tree_ for model in models]
    rows = []
    for tree in trees:
        for node in np.flatnonzero(tree.children_left >= 0):
            single = np.float32(tree.threshold[node])
            for number in (
                tree.threshold[node],
                np.nextafter(tree.threshold[node], np.inf),
                single,
                np.nextafter(single, np.float32(np.inf)),
                np.nextafter(single, np.float32(-np.inf)),
            ):
                row = generator.normal(size=3)
                row[tree.feature[node]] = number
                rows.append(row)
    rows = np.array([*rows, np.full(3, 1e37), np.full(3, -1e37)])
    stacked = stack(models)
    assert stacked is not None
    for model, own in zip(models, stacked.predict(rows), strict=True):
        assert np.array_equal(own, model.predict(rows))
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="large"):
        stacked.predict(np.full((1, 3), 1e300))


def test_forests_of_different_sizes_and_single_leaves() -> None:
    X, y = load_diabetes(return_X_y=True)
    sizes = [GradientBoostingRegressor(n_estimators=k, random_state=0).fit(X, y) for k in (2, 9)]
    constant = RandomForestRegressor(3, random_state=0).fit(X, np.ones(len(X)))
    varied = RandomForestRegressor(3, random_state=0).fit(X, y)
    for models in (tuple(sizes), (constant, varied)):
        stacked = stack(models)
        assert isinstance(stacked, StackedForest)
        for model, own in zip(models, stacked.predict(X), strict=True):
            assert np.array_equal(own, model.predict(X))


@pytest.mark.parametrize("dtype", ["float64", "Float64"])
def test_gaps_go_where_each_tree_sends_them(dtype: str) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X.mask(np.random.default_rng(0).random(X.shape) < 0.2).astype(dtype), y.to_numpy()
    models = fitted(RandomForestClassifier(5, random_state=0), X, y)
    stacked = stack(models)
    assert isinstance(stacked, StackedForest)
    for model, own in zip(models, stacked.predict(X), strict=True):
        assert np.array_equal(own, model.predict(X))


def test_too_many_nodes_are_not_held_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    models = fitted(RandomForestClassifier(5, random_state=0), X, y)
    monkeypatch.setattr("pacsklearn_trees.stacked_forest._MOST_NODES", 10)
    assert stack(models) is None


def test_sparse_rows() -> None:
    X, y = load_iris(return_X_y=True)
    models = fitted(RandomForestClassifier(5, random_state=0), sparse.csr_matrix(X), y)
    stacked = stack(models)
    assert isinstance(stacked, StackedForest)
    codes = stacked.predict(sparse.csr_matrix(X))
    assert np.array_equal(codes[1], models[1].predict(X))


def test_what_is_asked_one_by_one() -> None:
    X, y = load_iris(return_X_y=True)
    assert stack(fitted(MyForest(3), X, y)) is None
    several = RandomForestRegressor(3, random_state=0).fit(X, X[:, :2])
    assert stack((several, several)) is None
    started = GradientBoostingRegressor(init=DummyRegressor(), n_estimators=2).fit(X, X[:, 0])
    assert stack((started, started)) is None
    forests = tuple(
        RandomForestClassifier(3, random_state=0).fit(X[rows], y[rows])
        for rows in (slice(0, 100), slice(50, 150))
    )
    assert stack(forests) is None
