"""The unknown row is solved for exactly, where nothing was noised."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_attacks.record_attack import unknown_row
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier

generator = np.random.default_rng(0)
X = generator.standard_normal((40, 4))
y = X @ [1.0, -2.0, 0.5, 0.0] + generator.standard_normal(40)


@pytest.mark.parametrize(
    ("model", "targets"),
    [
        (LinearRegression(), y),
        (Ridge(3.0), y),
        (LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000), (y > 0).astype(int)),
        (LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000), (X[:, 3] > y).astype(int)),
        (PCA(2), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_row_is_found(model, targets):
    known = None if targets is None else targets[:-1]
    row = unknown_row(model.fit(X, targets), X[:-1], known)
    np.testing.assert_allclose(row, X[-1], atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        KMeans(2, n_init=1),
        Lasso(0.1),
        Ridge(positive=True),
        RidgeClassifier(),
        LogisticRegression(class_weight="balanced"),
        LogisticRegression(solver="liblinear"),
        LogisticRegression(),
    ],
    ids=repr,
)
def test_other_models_are_named(model):
    """Their equations are others, or none: the last one has three classes."""
    targets = np.arange(40) % (3 if repr(model) == "LogisticRegression()" else 2)
    with pytest.raises(ValueError, match=type(model).__name__):
        unknown_row(model.fit(X, targets), X[:-1], targets[:-1])
