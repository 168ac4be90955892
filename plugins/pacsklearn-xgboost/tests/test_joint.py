"""Boosters of all candidates grown together: the very trees of XGBoost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pacsklearn_xgboost import growth_kernel, joint
from pacsklearn_xgboost.cuts_kernel import bin_feature, sketch_limit
from sklearn.base import clone
from xgboost import QuantileDMatrix, XGBClassifier, XGBRegressor, XGBRFClassifier

from pacsklearn import PACPrivate, SecretSpace
from pacsklearn.plugins import registry

M, N, P = 4, 900, 5
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(N, P)) * np.arange(1, P + 1) + 20
SCORES = X @ GENERATOR.normal(size=P) + 5 * GENERATOR.normal(size=N)
TWO = np.digitize(SCORES, [np.median(SCORES)])
SPACE = SecretSpace.balanced(N, n_subsets=M)


@pytest.fixture(autouse=True)
def _small_tables_too(monkeypatch):
    monkeypatch.setattr(joint, "_LEAST_WORK", 0)


def booster(y, **params):
    kind = XGBRegressor if y is SCORES else XGBClassifier
    return kind(**{"n_estimators": 3, "n_jobs": 1, "random_state": 0} | params)


def together(estimator, X, y, space=SPACE):
    fitter = registry().subset_fitter_for(estimator)
    assert isinstance(fitter, joint.BoosterFitter)
    return fitter.fit_all(estimator, X, y, space)


def assert_same(model, ordinary):
    assert vars(model).keys() == vars(ordinary).keys()
    assert joint.saved(model) == joint.saved(ordinary)


def table(kind):
    rows = X.copy()
    if kind == "ties":
        rows = np.round(rows)
    if kind == "flat":
        rows[:, 0], rows[:, 1] = 3.0, X[:, 1] > 20
    return rows


@pytest.mark.parametrize("y", [TWO, SCORES], ids=["two", "numbers"])
@pytest.mark.parametrize("kind", ["plain", "ties", "flat"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_depth": 1, "learning_rate": 1},
        {"max_depth": 9, "reg_lambda": 0, "min_child_weight": 0.1},
        {"n_estimators": 12, "reg_lambda": 0.3, "min_child_weight": 20},
        {"min_child_weight": 1e6},
    ],
    ids=repr,
)
def test_the_same_trees(params, kind, y):
    estimator, rows = booster(y, **params), table(kind)
    for i, model in enumerate(together(estimator, rows, y)):
        own = SPACE.rows(i)
        ordinary = clone(estimator).fit(rows[own], y[own])
        assert_same(model, ordinary)
        assert_array_equal(model.predict(rows), ordinary.predict(rows))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([257, 2_000, 9_000, 40_000]), st.integers(0, 3))
def test_cut_points_of_the_sketch(seed, n, digits):
    generator = np.random.default_rng(seed)
    column = generator.standard_cauchy(2 * n).astype(np.float32)
    column[: n // 2] = np.sort(np.round(column[: n // 2], digits))
    rows = np.sort(generator.choice(2 * n, n, replace=False))
    place = np.full(2 * n, -1, np.int32)
    place[rows] = np.arange(n)
    order = np.argsort(column, kind="stable").astype(np.int32)
    cuts, bins = np.zeros(256, np.float32), np.zeros(n, np.uint8)
    limit = sketch_limit(n, 256)
    count = bin_feature(order, column[order], place, column[rows], limit, cuts, bins)
    _, points = QuantileDMatrix(column[rows, None], nthread=1).get_quantile_cut()
    assert_array_equal(cuts[:count], points[1:])  # the first is a bound below all numbers
    wanted = np.searchsorted(cuts[:count], column[rows], side="right")
    assert_array_equal(bins, np.minimum(wanted, count - 1))


def test_other_rows_do_not_show_at_all():
    moved = X.copy()
    moved[np.setdiff1d(np.arange(N), SPACE.rows(2))] *= -1e6
    for y in (TWO, SCORES):
        assert_same(together(booster(y), moved, y)[2], together(booster(y), X, y)[2])


def test_what_is_left_to_the_ordinary_fit(monkeypatch):
    for other in (
        booster(TWO, subsample=0.5),
        booster(TWO, gamma=1.0),
        booster(TWO, max_bin=64),
        booster(TWO, objective="binary:logitraw"),
        booster(TWO, missing=0.0),
        booster(TWO, min_child_weight=0),
        booster(TWO, max_depth=0),
        booster(TWO, monotone_constraints=(1, 0, 0, 0, 0)),
        booster(TWO, early_stopping_rounds=3),
        booster(TWO, feature_weights=np.ones(P)),
        XGBRFClassifier(random_state=0),
    ):
        assert registry().subset_fitter_for(other) is None
    nothing, gaps, large = [None] * M, X.copy(), X.copy()
    gaps[3, 1], large[3, 1] = np.nan, 1e300
    for rows in (gaps, large):  # of those who hold the row
        left = [one is None for one in together(booster(TWO), rows, TWO)]
        assert left == [3 in SPACE.rows(i) for i in range(M)]
    assert together(booster(TWO), X.astype(np.float32), TWO) == nothing
    assert together(booster(TWO), X, np.digitize(SCORES, [-60, -50])) == nothing
    few = [np.arange(600), np.flatnonzero(TWO == 0)[:300], np.arange(200)]
    space = SecretSpace.from_subsets(few, N)
    assert [one is None for one in together(booster(TWO), X, TWO, space)] == [False, True, True]
    with monkeypatch.context() as patch:
        patch.setattr(joint, "_MOST_ROOM", 1000)
        assert together(booster(TWO), X, TWO) == nothing
    monkeypatch.setattr(growth_kernel, "logit", lambda share: np.float32(0.1))
    assert together(booster(TWO), X, TWO) == nothing  # an XGBoost that begins otherwise


@pytest.mark.parametrize("y", [TWO, SCORES], ids=["two", "numbers"])
def test_answers_of_a_frame(y):
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(P)])
    known = {"value_range": (-150.0, 50.0)} if y is SCORES else {}
    known |= {"release": "responses", "max_answers": 10, "n_subsets": M}
    model = PACPrivate(booster(y), budget=1.0, **known).fit(frame, y)
    assert model.fit_report_.together == M
    assert len(model.predict(frame.iloc[:3])) == 3
