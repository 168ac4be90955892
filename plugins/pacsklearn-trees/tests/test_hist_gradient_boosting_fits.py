"""Histogram gradient boosting of all candidates: the very bins and trees of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pacsklearn_trees import hist_gradient_boosting
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from pacsklearn import PACPrivate, SecretSpace
from pacsklearn.plugins import registry
from tests.joint.together import scored_table

M, N, P = 4, 500, 5
GENERATOR = np.random.default_rng(0)
X, SCORES, TWO, NAMES = scored_table(GENERATOR, N, P)
SPACE = SecretSpace.balanced(N, n_subsets=M)


@pytest.fixture(autouse=True)
def _small_tables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hist_gradient_boosting, "_LEAST_WORK", 0)


def booster(y: Any, **params: Any) -> Any:
    kind = HistGradientBoostingRegressor if y is SCORES else HistGradientBoostingClassifier
    return kind(**{"max_iter": 3, "random_state": 0} | params)


def together(estimator: Any, X: Any, y: Any, space: SecretSpace = SPACE) -> list[Any]:
    fitter = registry().subset_fitter_for(estimator)
    assert isinstance(fitter, hist_gradient_boosting.HistGradientBoostingFitter)
    return fitter.fit_all(estimator, X, y, space)


def assert_same(model: Any, ordinary: Any) -> None:
    assert vars(model).keys() == vars(ordinary).keys()
    assert model.get_params() == ordinary.get_params()
    for trees, others in zip(model._predictors, ordinary._predictors, strict=True):
        for tree, other in zip(trees, others, strict=True):
            assert tree.nodes.dtype == other.nodes.dtype
            assert_array_equal(tree.nodes, other.nodes)
    mine, theirs = vars(model._bin_mapper), vars(ordinary._bin_mapper)
    assert mine.keys() == theirs.keys()
    assert_array_equal(mine["n_bins_non_missing_"], theirs["n_bins_non_missing_"], strict=True)
    for one, other in zip(mine["bin_thresholds_"], theirs["bin_thresholds_"], strict=True):
        assert_array_equal(one, other, strict=True)
    for name in ("_baseline_prediction", "train_score_", "validation_score_"):
        assert_array_equal(getattr(model, name), getattr(ordinary, name), strict=True)
    assert model.do_early_stopping_ == ordinary.do_early_stopping_


def table(kind: str) -> Any:
    rows = X.copy()
    if kind == "ties":
        rows = np.round(rows)
    if kind == "flat":  # one number, or one and gaps
        rows[:, 0], rows[::3, 1], rows[1::3, 1], rows[2::3, 1] = 3.0, 2.0, 2.0, np.nan
        rows[:, 2:4] = 0.0
    if kind == "gaps":
        rows[GENERATOR.random(rows.shape) < 0.3] = np.nan
    return rows


@pytest.mark.parametrize("y", [TWO, NAMES, SCORES], ids=["two", "names", "numbers"])
@pytest.mark.parametrize("kind", ["plain", "ties", "flat", "gaps"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_leaf_nodes": 5, "l2_regularization": 2.0, "learning_rate": 1.0},
        {"max_leaf_nodes": None, "min_samples_leaf": 1, "max_bins": 129},
        {"max_depth": 2, "max_bins": 9, "early_stopping": False},
        {"max_iter": 30, "early_stopping": True, "n_iter_no_change": 2, "random_state": 7},
    ],
    ids=repr,
)
def test_the_same_trees(params: dict[str, Any], kind: str, y: Any) -> None:
    estimator, rows = booster(y, **params), table(kind)
    for i, model in enumerate(together(estimator, rows, y)):
        own = SPACE.rows(i)
        ordinary = clone(estimator).fit(rows[own], y[own])
        assert_same(model, ordinary)
        assert_array_equal(model.predict(rows), ordinary.predict(rows))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 3, 20]),
    st.sampled_from([2, 7, 31, None]),
    st.integers(2, 255),
)
def test_the_same_trees_of_any_table(
    seed: int, least: int, leaves: int | None, n_bins: int
) -> None:
    generator = np.random.default_rng(seed)
    n, p = generator.integers(40, 200), generator.integers(1, 5)
    rows = np.round(generator.standard_cauchy((n, p)), int(generator.integers(0, 4)))
    rows[generator.random((n, p)) < generator.choice([0, 0.3])] = np.nan
    rows[: n // 2, 0] = generator.normal(size=n // 2)
    y = np.round(generator.normal(size=n), 1)
    subsets = [np.sort(generator.choice(n, n // 2, replace=False)) for _ in range(2)]
    space = SecretSpace.from_subsets(subsets, n)
    estimator = HistGradientBoostingRegressor(
        max_iter=2, min_samples_leaf=least, max_leaf_nodes=leaves, max_bins=n_bins, random_state=0
    )
    model = together(estimator, rows, y, space)[1]
    assert_same(model, clone(estimator).fit(rows[subsets[1]], y[subsets[1]]))


def test_early_stopping_by_the_number_of_rows() -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(10_500, 2))
    y = rows[:, 0] * rows[:, 1] > 0
    subsets = [np.arange(n) for n in (10_001, 10_000)]
    estimator = booster(y, max_leaf_nodes=4)
    models = together(estimator, rows, y, SecretSpace.from_subsets(subsets, len(rows)))
    assert [model.do_early_stopping_ for model in models] == [True, False]
    for model, own in zip(models, subsets, strict=True):
        assert_same(model, clone(estimator).fit(rows[own], y[own]))


def test_other_rows_do_not_show_at_all() -> None:
    moved = X.copy()
    moved[np.setdiff1d(np.arange(N), SPACE.rows(2))] *= -1e6
    for y in (TWO, SCORES):
        assert_same(together(booster(y), moved, y)[2], together(booster(y), X, y)[2])


def test_what_is_left_to_the_ordinary_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    for other in (
        booster(TWO, class_weight="balanced"),
        booster(TWO, max_features=0.5),
        booster(TWO, monotonic_cst=[1, 0, 0, 0, 0]),
        booster(TWO, interaction_cst="no_interactions"),
        booster(TWO, warm_start=True),
        booster(TWO, scoring="accuracy"),
        booster(TWO, validation_fraction=None),
        booster(TWO, categorical_features=[2]),
        booster(SCORES, loss="absolute_error"),
        booster(SCORES, loss="poisson"),
        GradientBoostingClassifier(random_state=0),
    ):
        assert registry().subset_fitter_for(other) is None
    nothing, endless, empty = [None] * M, X.copy(), X.copy()
    endless[3, 1], empty[:, 2] = np.inf, np.nan
    frame = pd.DataFrame(np.round(X)).astype({0: "category"})
    for rows in (empty, X.astype(np.float32), frame):
        assert together(booster(TWO), rows, TWO) == nothing
    left = [one is None for one in together(booster(TWO), endless, TWO)]
    assert left == [3 in SPACE.rows(i) for i in range(M)]
    once = [np.flatnonzero(TWO == 0)[:200], np.r_[np.flatnonzero(TWO == 1)[:1]]]
    space = SecretSpace.from_subsets([np.arange(300), np.sort(np.concatenate(once))], N)
    assert [one is None for one in together(booster(TWO), X, TWO, space)] == [False, True]
    monkeypatch.setattr(hist_gradient_boosting, "_MOST_ROOM", 1000)
    assert together(booster(TWO), X, TWO) == nothing


def test_another_scikit_learn_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from pacsklearn_trees import boosting_kernel

    def other_rate(*args: Any) -> int:
        return int(grow_tree(*args[:-2], (args[-2][0], args[-2][1] * (1 + 1e-15)), args[-1]))

    grow_tree = boosting_kernel.grow_tree
    monkeypatch.setattr(boosting_kernel, "grow_tree", other_rate)
    assert together(booster(TWO), X, TWO) == [None] * M


@pytest.mark.parametrize("y", [NAMES, SCORES], ids=["names", "numbers"])
def test_answers_of_a_frame(y: Any) -> None:
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(P)])
    known = {"value_range": (-150.0, 50.0)} if y is SCORES else {}
    model = PACPrivate(booster(y), budget=1.0, n_subsets=8, max_answers=10, **known).fit(frame, y)
    assert model.fit_report_.together == 8
    assert len(model.predict(frame.iloc[:3])) == 3
