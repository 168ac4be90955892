"""Random forests of all candidates: the very trees that scikit-learn grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pacsklearn_trees import random_forest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from pacsklearn import PACPrivate, SecretSpace
from pacsklearn.plugins import registry
from tests.joint.together import scored_table

M, N, P = 4, 600, 9
X, _, TWO, NAMES = scored_table(np.random.default_rng(0), N, P)
SPACE = SecretSpace.balanced(N, n_subsets=M)


@pytest.fixture(autouse=True)
def _small_tables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_forest, "_LEAST_WORK", 0)


def forest(**params: Any) -> RandomForestClassifier:
    return RandomForestClassifier(**{"n_estimators": 3, "random_state": 0} | params)


def together(estimator: Any, X: Any, y: Any, space: SecretSpace = SPACE) -> list[Any]:
    fitter = registry().subset_fitter_for(estimator)
    assert isinstance(fitter, random_forest.RandomForestFitter)
    return fitter.fit_all(estimator, X, y, space)


def assert_same(model: Any, ordinary: Any) -> None:
    assert vars(model).keys() == vars(ordinary).keys()
    for one, other in zip(model.estimators_, ordinary.estimators_, strict=True):
        assert vars(one).keys() == vars(other).keys()
        assert one.random_state == other.random_state
        mine, theirs = one.tree_.__getstate__(), other.tree_.__getstate__()
        assert mine["max_depth"] == theirs["max_depth"]
        assert np.array_equal(mine["nodes"], theirs["nodes"])
        assert np.array_equal(mine["values"], theirs["values"])
    assert np.array_equal(model.classes_, ordinary.classes_)
    assert (model._n_samples, model._n_samples_bootstrap) == (
        ordinary._n_samples,
        ordinary._n_samples_bootstrap,
    )


def table(kind: str) -> Any:
    if kind == "ties":
        return np.round(X)
    if kind == "flat":  # columns of one number, and of numbers that count as one
        return np.column_stack([np.full(N, 3.0), X[:, 0] * 1e-9, X[:, :2], np.zeros((N, 4))])
    return X


@pytest.mark.parametrize("y", [TWO, NAMES], ids=["two", "names"])
@pytest.mark.parametrize("kind", ["plain", "ties", "flat"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_depth": 3},
        {"max_features": None, "min_samples_leaf": 7},
        {"bootstrap": False, "min_samples_split": 40},
        {"min_impurity_decrease": 0.01, "max_features": 3, "random_state": 7},
    ],
    ids=repr,
)
def test_the_same_trees(params: dict[str, Any], kind: str, y: Any) -> None:
    estimator, rows = forest(**params), table(kind)
    for i, model in enumerate(together(estimator, rows, y)):
        own = SPACE.rows(i)
        ordinary = clone(estimator).fit(rows[own], y[own])
        assert_same(model, ordinary)
        assert np.array_equal(model.predict_proba(rows), ordinary.predict_proba(rows))


def test_a_number_of_ranks_that_needs_three_bytes() -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(70_000, 2))
    y, space = rows[:, 0] * rows[:, 1] > 0, SecretSpace.balanced(70_000, n_subsets=2)
    estimator = forest(n_estimators=1, max_depth=4)
    own = space.rows(1)
    assert_same(together(estimator, rows, y, space)[1], clone(estimator).fit(rows[own], y[own]))


def test_other_rows_do_not_show_at_all() -> None:
    moved = X.copy()
    moved[np.setdiff1d(np.arange(N), SPACE.rows(2))] *= -1e6
    assert_same(together(forest(), moved, TWO)[2], together(forest(), X, TWO)[2])


def test_what_is_left_to_the_ordinary_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    for other in (
        forest(criterion="entropy"),
        forest(class_weight="balanced"),
        forest(min_samples_leaf=0.1),
        forest(max_samples=0.5),
        forest(ccp_alpha=0.1),
        forest(max_leaf_nodes=5),
        ExtraTreesClassifier(random_state=0),
    ):
        assert registry().subset_fitter_for(other) is None
    nothing, gaps, large = [None] * M, X.copy(), X.copy()
    gaps[3, 1], large[3, 1] = np.nan, 1e300
    for rows in (gaps, large):  # of those who hold the row
        left = [one is None for one in together(forest(), rows, TWO)]
        assert left == [3 in SPACE.rows(i) for i in range(M)]
    assert together(forest(), X.astype(np.float32), TWO) == nothing
    nothing_of_class_one = [np.flatnonzero(TWO == 0)[:200]]
    space = SecretSpace.from_subsets([np.arange(300), *nothing_of_class_one], N)
    assert [one is None for one in together(forest(), X, TWO, space)] == [False, True]
    monkeypatch.setattr(random_forest, "bootstrap_rows", lambda seed, n: np.arange(n))
    assert together(forest(), X, TWO) == nothing  # a scikit-learn that draws otherwise


def test_answers_of_a_frame() -> None:
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(P)])
    estimator = RandomForestClassifier(3, max_depth=3)
    model = PACPrivate(estimator, budget=1.0, n_subsets=M, max_answers=10).fit(frame, NAMES)
    assert model.fit_report_.together == M
    assert set(model.predict(frame.iloc[:3])) <= {"a", "b", "c"}
