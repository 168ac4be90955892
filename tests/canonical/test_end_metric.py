"""The metric of a pipeline is the change of its end output, and nothing goes un-noised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)

from pacsklearn import PACPrivate, Parameters, Subsets
from pacsklearn.canonical.end_metric import rows_with_gaps
from pacsklearn.exceptions import PrivacyLeakWarning
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.plugins import registry
from pacsklearn.universe.metrics import MatrixMetric

Floats = NDArray[np.float64]
M = 8


def table(*, gaps: bool = True) -> tuple[Floats, Floats]:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5].copy()
    if gaps:
        X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    return X, y


def encoded(estimator: Any, X: Any, y: Any) -> tuple[Any, Any, Any, Floats]:
    canonicalizer = registry().canonicalizer_for(estimator)
    draw = np.random.default_rng(0)
    rows = [draw.permutation(len(X))[: len(X) // 2] for _ in range(M)]
    models = [clone(estimator).fit(X[chosen], y[chosen]) for chosen in rows]
    encodings = [canonicalizer.encode(m, X[r]) for m, r in zip(models, rows, strict=True)]
    vectors = np.stack([encoding.vector for encoding in encodings])
    layout = encodings[0].layout
    metric = canonicalizer.metric(layout, models[0], X, vectors)
    return canonicalizer, layout, metric, vectors


def cost(metric: Metric, change: Floats) -> float:
    return float(np.sum(metric.root(change[None, :]) ** 2))


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(SimpleImputer(), StandardScaler(), Ridge()),
        make_pipeline(StandardScaler(), SimpleImputer(), PolynomialFeatures(2), Ridge(10.0)),
        make_pipeline(
            ColumnTransformer([("a", make_pipeline(SimpleImputer(), StandardScaler()), [0, 3])]),
            Ridge(),
        ),
    ],
    ids=["imputer", "polynomial", "columns"],
)
def test_a_small_change_costs_what_it_does_to_the_predictions(estimator: Any) -> None:
    X, y = table()
    canonicalizer, layout, metric, vectors = encoded(estimator, X, y.astype(float))
    assert isinstance(metric, MatrixMetric)
    draw = np.random.default_rng(1)
    for _ in range(5):
        change = 1e-4 * vectors.std(axis=0) * draw.normal(size=layout.size)
        moved, still = (
            canonicalizer.decode(vector, layout, clone(estimator)).predict(X)
            for vector in (vectors[0] + change, vectors[0])
        )
        # Rows with made-up gaps and the floor add a few hundredths.
        ratio = cost(metric, change) / float(np.mean((moved - still) ** 2))
        assert 0.99 < ratio < 1.2


def test_probabilities_of_several_classes_count_each() -> None:
    X, y = table()
    y = y + (X[:, 0] > np.nanmedian(X[:, 0]))
    estimator = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(C=0.1))
    canonicalizer, layout, metric, vectors = encoded(estimator, X, y)
    change = np.zeros(layout.size)
    change[:-1] = (
        1e-4 * vectors.std(axis=0)[:-1] * np.random.default_rng(3).normal(size=layout.size - 1)
    )
    decided = [
        canonicalizer.decode(vector, layout, clone(estimator)).decision_function(X)
        / np.exp(vectors[0, -1])
        for vector in (vectors[0] + change, vectors[0])
    ]
    wanted = float(np.mean(np.sum((decided[0] - decided[1]) ** 2, axis=1)))
    assert 0.99 < cost(metric, change) / wanted < 1.2


def test_what_changes_no_prediction_is_noised_all_the_same() -> None:
    X, y = table(gaps=False)  # what the imputer would fill in is never used
    estimator = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(C=0.1))
    _, layout, metric, vectors = encoded(estimator, X, y)
    law = LogdetBackend().calibrate(Support(vectors), Target(1 / 4), metric)
    sampler = SeededSampler(np.random.default_rng(4))
    noisy = np.stack([law.decode(law.observe(0, sampler.noise(law.dimension))) for _ in range(400)])
    spread = vectors.std(axis=0)
    noise = noisy.std(axis=0) / spread
    assert np.all(noise > 0.5)  # every released number
    statistics = layout.slices()["simpleimputer"]
    # Nor is it so noisy that a row to come with a gap would be torn away.
    assert np.median(noise[statistics]) < 100
    assert np.all(noisy.std(axis=0)[statistics] < 10 * X.std(axis=0))


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(PowerTransformer(), Ridge()),
        make_pipeline(SimpleImputer(), KMeans(2, n_init=1)),
    ],
)
def test_other_models_keep_their_parts_own_metrics(estimator: Any) -> None:
    X, y = table(gaps=False)
    assert not isinstance(encoded(estimator, X, y)[2], MatrixMetric)


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression(C=0.01))),
        make_pipeline(
            ColumnTransformer([("a", StandardScaler(), [0, 1, 2, 3, 4])]),
            LogisticRegression(C=0.01),
        ),
        make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(C=0.01)),
    ],
    ids=["one-vs-rest", "columns", "imputer"],
)
def test_a_pipeline_is_worth_about_its_scaled_model(estimator: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)

    def score(estimator: Any) -> float:
        model = PACPrivate(
            estimator,
            budget=1 / 4,
            random_state=3,
            release=Parameters(certify=False),
            secret=Subsets(32),
        )
        with pytest.warns(PrivacyLeakWarning):
            model.fit(X[:, :5], y)
        return float(model.score(X[:, :5], y))

    bare = score(make_pipeline(StandardScaler(), LogisticRegression(C=0.01)))
    assert score(estimator) > bare - 0.06


pl = pytest.importorskip("polars")
KINDS = {
    "array": lambda table: np.column_stack(list(table.values())),
    "whole numbers": lambda table: np.column_stack(list(table.values())).astype(int),
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_imputed_column_is_missing_in_four_rows(kind: str) -> None:
    table = {name: np.arange(5.0) + i for i, name in enumerate("abcd")}
    rows: Any = KINDS[kind](table)
    step = ColumnTransformer(
        [
            ("numbers", make_pipeline("passthrough", SimpleImputer(), StandardScaler()), [3, 1]),
            ("same", make_union(SimpleImputer(strategy="median")), [1]),
            ("public", SimpleImputer(strategy="constant"), [0]),
            ("codes", OneHotEncoder(), [2]),
        ]
    ).fit(rows)
    wider, share = rows_with_gaps(step, rows)
    values = np.asarray(wider if kind != "polars" else wider.to_numpy(), dtype=float)
    assert values.shape == (5 + 2 * 4, 4)
    assert np.argwhere(np.isnan(values)).tolist() == [
        *([5 + i, 1] for i in range(4)),
        *([9 + i, 3] for i in range(4)),
    ]
    assert share[:5].sum() == pytest.approx(1)
    assert share[5:].tolist() == [0.0025] * 8
    assert not np.isnan(np.asarray(rows, dtype=float)).any()  # the rows given stay whole


def test_other_marks_of_what_is_missing() -> None:
    rows = np.arange(6.0).reshape(3, 2)
    step = SimpleImputer(missing_values=-1).fit(rows)
    assert (rows_with_gaps(step, rows)[0] == -1).sum() == 8


@pytest.mark.parametrize("dtype", ["boolean", "Int64"])
def test_gaps_of_nullable_columns(dtype: str) -> None:
    rows = pd.DataFrame({"a": pd.array([1, None, 0] * 20, dtype=dtype), "b": np.arange(60.0)})
    recipe = make_pipeline(SimpleImputer(), LogisticRegression(C=0.1))
    model = PACPrivate(recipe, secret=Subsets(8, seed=0)).fit(rows, np.arange(60) > 29)
    assert model.predict(rows.iloc[:2]).shape == (2,)


def test_without_an_imputer_the_rows_are_those_given() -> None:
    rows = np.ones((3, 2))
    same, share = rows_with_gaps(StandardScaler().fit(rows), rows)
    assert same is rows
    assert share.tolist() == [1 / 3] * 3
