"""Histograms give what the row-by-row definition gives."""

from __future__ import annotations

from time import thread_time
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from pacsklearn.tabular import FixedStructureForestClassifier
from tests.tabular.forests import row_by_row

OPTIONS = [
    {},
    {"step": 0.25, "smoothing": 0.0, "penalty": 0.0},
    {"depth": 2, "smoothing": 0.9, "penalty": 0.4, "prior_count": 0.0},
    {"step": 0.05, "feature_range": (0, 30), "prior_count": 20.0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_thresholds_and_leaves(load: Any, options: dict[str, Any]) -> None:
    X, y = load(return_X_y=True)
    X, y = X[::3], y[::3]
    forest = FixedStructureForestClassifier(2, class_weight=None, **options).fit(X, y)
    public = options.get("feature_range")
    scale = row_by_row.scale_of(X) if public is None else [(15.0, 15.0)] * X.shape[1]
    orders = forest.features_[:, [2**level - 1 for level in range(forest.depth)]].tolist()
    grown = [
        row_by_row.grow(
            X.tolist(),
            y.tolist(),
            len(np.unique(y)),
            order,
            scale,
            step=forest.step,
            smoothing=forest.smoothing,
            penalty=forest.penalty,
            prior_count=forest.prior_count,
        )
        for order in orders
    ]
    thresholds, leaves = zip(*grown, strict=True)
    np.testing.assert_allclose(forest.thresholds_, thresholds, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(forest.leaf_values_, leaves, rtol=1e-12, atol=1e-12)
    by_row = [row_by_row.probabilities(row, orders, thresholds, leaves) for row in X.tolist()]
    np.testing.assert_allclose(forest.predict_proba(X), by_row, atol=1e-12)


def test_histograms_are_faster() -> None:
    """Far less than benchmarks/bench_forest.py asks for, in time that no other work adds to."""
    X, y = load_breast_cancer(return_X_y=True)
    forest = FixedStructureForestClassifier(1, 2, step=0.005)
    forest.fit(X, y)
    seconds = []
    for _ in range(5):
        start = thread_time()
        forest.fit(X, y)
        seconds.append(thread_time() - start)
    order = forest.features_[0, [0, 1]].tolist()
    start = thread_time()
    row_by_row.grow(
        X.tolist(),
        y.tolist(),
        2,
        order,
        row_by_row.scale_of(X),
        step=0.005,
        smoothing=0.3,
        penalty=0.1,
        prior_count=5.0,
    )
    assert thread_time() - start > 5 * min(seconds)
