"""The unknown row is solved for exactly, where nothing was noised."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_attacks.record_attack import unknown_row
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

generator = np.random.default_rng(0)
X = generator.standard_normal((40, 4))
y = X @ [1.0, -2.0, 0.5, 0.0] + generator.standard_normal(40)


@pytest.mark.parametrize(
    ("model", "targets"),
    [
        (LinearRegression(), y),
        (Ridge(3.0), y),
        (LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000), (y > 0).astype(int)),
        (PCA(2), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_row_is_found(model, targets):
    known = None if targets is None else targets[:-1]
    row = unknown_row(model.fit(X, targets), X[:-1], known)
    np.testing.assert_allclose(row, X[-1], atol=1e-4)


def test_other_models_are_named():
    with pytest.raises(ValueError, match="KMeans"):
        unknown_row(KMeans(2, n_init=1).fit(X), X[:-1], None)
