"""What is left of a transformer whose affine end is folded away: head, then tail, say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from pacsklearn.canonical.heads import fold_plan, fold_steps, head_of


def gaps(frame: bool) -> Any:
    X = load_iris().data.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    return pd.DataFrame(X, columns=list("abcd")) if frame else X


IMPUTED = make_pipeline(SimpleImputer(), StandardScaler())
STEPS = {
    "pipeline": make_pipeline(StandardScaler(), SimpleImputer(), PCA(2)),
    "columns": ColumnTransformer(
        [
            ("a", IMPUTED, [2, 0]),
            ("b", make_pipeline(RobustScaler(), SimpleImputer(strategy="median")), [1]),
            ("none", "drop", []),
        ],
        remainder=make_pipeline(SimpleImputer(), PolynomialFeatures(2)),
        transformer_weights={"a": 3.0},
    ),
    "union": FeatureUnion(
        [
            ("a", IMPUTED),
            ("b", make_pipeline(SimpleImputer(), PCA(2))),
            ("c", make_pipeline(SimpleImputer(), Normalizer())),
            ("d", "drop"),
        ],
        transformer_weights={"b": 2.0, "c": 0.5},
    ),
    "nested": ColumnTransformer([("u", FeatureUnion([("a", IMPUTED), ("b", IMPUTED)]), [0, 3])]),
}


@pytest.mark.product(only=3)
@pytest.mark.parametrize("frame", [False, True])
@pytest.mark.parametrize("kind", STEPS)
def test_head_and_tail_are_the_whole(kind: str, frame: bool) -> None:
    X = gaps(frame)
    step = clone(STEPS[kind]).fit(X)
    expected = step.transform(X)
    plan = fold_plan([("step", STEPS[kind])])
    assert plan.headed == ("step",)
    (((_, head),), tail) = fold_steps([("step", step)], plan)
    assert tail is not None
    said = head.transform(X)
    coef = np.eye(expected.shape[1])
    weights, shift = tail.pull_back(coef, np.zeros(expected.shape[1]))
    assert said @ weights.T + shift == pytest.approx(expected, rel=1e-9, abs=1e-9)
    # The unfitted head is what the fitted one is made from, and no scaler is left in it.
    left = head_of(STEPS[kind])
    assert "StandardScaler" not in str(left)
    refitted = clone(left).fit(X)
    assert refitted.transform(X).shape == said.shape
    assert step.transform(X) == pytest.approx(expected)  # the fitted step is left as it was


@pytest.mark.parametrize(
    "step",
    [
        SimpleImputer(),
        Normalizer(),
        OneHotEncoder(),
        make_pipeline(SimpleImputer(), Normalizer()),
        ColumnTransformer([("a", Normalizer(), [0])], remainder="passthrough"),
        FeatureUnion([("a", Normalizer()), ("b", "passthrough")]),
        # How wide its output is, nothing says.
        FeatureUnion([("a", FunctionTransformer(np.sqrt)), ("b", StandardScaler())]),
    ],
    ids=lambda step: type(step).__name__,
)
def test_nothing_to_fold(step: Any) -> None:
    assert head_of(step) is step


def test_a_scaler_after_gaps_of_another_kind_stays() -> None:
    steps = [("s", MinMaxScaler()), ("i", SimpleImputer(missing_values=0.0))]
    assert fold_plan(steps).folded == ()


def test_an_imputer_behind_scalers_fills_in_what_stood_there_before_them() -> None:
    X = gaps(False)
    pipeline = Pipeline([("a", StandardScaler()), ("b", MinMaxScaler()), ("i", SimpleImputer())])
    pipeline.fit(X)
    ((_, imputer),), tail = fold_steps(pipeline.steps, fold_plan(pipeline.steps))
    assert imputer.statistics_ == pytest.approx(np.nanmean(X, axis=0))
    assert tail is not None
    weights, shift = tail.pull_back(np.eye(4), np.zeros(4))
    assert imputer.transform(X) @ weights.T + shift == pytest.approx(pipeline.transform(X))
