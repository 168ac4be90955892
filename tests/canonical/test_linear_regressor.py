"""Shapes and folding of linear regressors; what they predict is checked with the gauge rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge, SGDRegressor
from sklearn.svm import LinearSVR

from pacsklearn.canonical.affine import AffineMap
from pacsklearn.canonical.linear_regressor import LinearRegressorCanonicalizer

X, Y = load_diabetes(return_X_y=True)
CANONICALIZER = LinearRegressorCanonicalizer()
CASES = [
    (LinearRegression(), Y),
    (LinearRegression(), Y[:, None]),
    (LinearRegression(), np.column_stack([Y, -Y])),
    (Ridge(fit_intercept=False), np.column_stack([Y, -Y])),
    (LinearSVR(random_state=0, C=0.01), Y),
    (SGDRegressor(random_state=0, max_iter=50, tol=None), Y),
]


@pytest.mark.parametrize(("estimator", "targets"), CASES)
def test_attributes_keep_their_shape(estimator: Any, targets: Any) -> None:
    model = clone(estimator).fit(X, targets)
    released = CANONICALIZER.decode(*CANONICALIZER.encode(model, X), clone(estimator))
    assert np.shape(released.coef_) == np.shape(model.coef_)
    assert np.size(released.intercept_) in (np.size(model.intercept_), targets.ndim)
    assert released.predict(X).shape == model.predict(X).shape


@pytest.mark.parametrize(("estimator", "targets"), [*CASES, (PoissonRegressor(), Y)])
def test_folded_it_predicts_from_the_input_of_the_step_before(estimator: Any, targets: Any) -> None:
    factor, offset = np.linspace(1, 2, 10), np.linspace(-1, 1, 10)
    model = clone(estimator).fit(X * factor + offset, targets)
    before = np.copy(model.coef_)
    folded = CANONICALIZER.fold(model, AffineMap(factor, offset))
    assert folded.predict(X) == pytest.approx(model.predict(X * factor + offset))
    assert np.array_equal(model.coef_, before)


def test_the_metric_counts_every_target() -> None:
    targets = np.column_stack([Y, -Y, Y])
    model = Ridge().fit(X, targets)
    vector, layout = CANONICALIZER.encode(model, X)
    metric = CANONICALIZER.metric(layout, model, X, vector[None, :])
    change = np.random.default_rng(0).normal(size=(3, 11))
    expected = np.mean(np.sum((X @ change[:, :-1].T + change[:, -1]) ** 2, axis=1))
    assert np.sum(metric.root(change.reshape(1, -1)) ** 2) == pytest.approx(expected)
