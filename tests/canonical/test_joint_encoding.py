"""Encoding all candidates together gives what encoding each on its own rows gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space
from pacsklearn.tabular import Column, Schema, SchemaEncoder

M = 4
PUBLIC = Schema([Column(name, low=0.0, high=8.0) for name in "abcd"])


@pytest.mark.product(only=10)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        LinearSVC(C=0.1),
        RidgeClassifier(),
        make_pipeline(StandardScaler(), LinearSVC(C=0.1)),
        make_pipeline(QuantileTransformer(n_quantiles=5), LogisticRegression()),
        make_pipeline(MinMaxScaler(), GaussianNB()),
        make_pipeline(SchemaEncoder(PUBLIC), LogisticRegression()),
        make_pipeline(SchemaEncoder(PUBLIC), StandardScaler(), LinearSVC(C=0.1)),
        Ridge(),
        PCA(2),
        KMeans(3, n_init=1, random_state=0),
        GaussianMixture(2, random_state=0),
        GaussianNB(),
        NearestCentroid(),
        StandardScaler(),
    ],
    ids=repr,
)
def test_as_one_by_one(estimator: Any, grouped: bool) -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) // 2 if grouped else None
    space = balanced_space(150, n_subsets=M, strata=y, groups=groups)
    models = [clone(estimator).fit(X[space.rows(i)], y[space.rows(i)]) for i in range(M)]
    canonicalizer = registry().canonicalizer_for(estimator)
    together = canonicalizer.encode_jointly(models, X, space)
    reads_rows = hasattr(estimator, "steps") and "quantile" in estimator.steps[0][0]
    if reads_rows:  # behind a step that is released by itself a linear model's rows are its outputs
        assert together is None
        return
    assert together is not None
    for i, model in enumerate(models):
        one = canonicalizer.encode(model, X[space.rows(i)])
        assert together[i].layout.differences(one.layout) == []
        assert together[i].vector == pytest.approx(one.vector, rel=1e-12, abs=1e-12)


def test_a_search_over_an_encoder_is_left_to_each_candidate() -> None:
    X, y = load_iris(return_X_y=True)
    space = balanced_space(150, n_subsets=M, strata=y)
    pipeline = make_pipeline(SchemaEncoder(PUBLIC), GridSearchCV(LinearSVC(), {"C": [0.1, 1.0]}))
    models = [clone(pipeline).fit(X[space.rows(i)], y[space.rows(i)]) for i in range(M)]
    assert registry().canonicalizer_for(pipeline).encode_jointly(models, X, space) is None


def test_rows_of_others_are_not_read() -> None:
    X, y = load_iris(return_X_y=True)
    space = balanced_space(150, n_subsets=M, strata=y)
    models = [LinearSVC(C=0.1).fit(X[space.rows(i)], y[space.rows(i)]) for i in range(M)]
    canonicalizer = registry().canonicalizer_for(LinearSVC())
    before = canonicalizer.encode_jointly(models, X, space)
    moved = X.copy()
    moved[np.setdiff1d(np.arange(150), space.rows(2))] *= 1e6
    after = canonicalizer.encode_jointly(models, moved, space)
    assert before is not None
    assert after is not None
    assert np.array_equal(after[2].vector, before[2].vector)
    assert not np.array_equal(after[1].vector, before[1].vector)
    moved[np.setdiff1d(np.arange(150), space.rows(2))] = 1e300  # squares overflow: one by one
    assert canonicalizer.encode_jointly(models, moved, space) is None
