"""Stacked models are released as numbers, noised where the final estimator's outputs feel it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import Nats, PACPrivate, Parameters, Subsets
from pacsklearn.plugins import registry

X, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)[:, :6]
STACK = StackingClassifier(
    [("logistic", LogisticRegression(C=0.01)), ("ridge", RidgeClassifier(100.0))], cv=3
)


def test_the_metric_is_the_change_of_the_final_outputs() -> None:
    fitted = clone(STACK).fit(X, Y)
    canonicalizer = registry().canonicalizer_for(STACK)
    vector, layout = canonicalizer.encode(fitted, X)
    rng = np.random.default_rng(0)
    steps = 1e-4 * rng.standard_normal((32, vector.size))
    steps[:, -1] = 0.0  # how sure probabilities are: no decision changes
    metric = canonicalizer.metric(layout, fitted, X, vector + steps)
    scale = np.exp(layout.unpack(vector)["final_estimator"][-1])

    def outputs(moved: Any) -> Any:
        return canonicalizer.decode(moved, layout, clone(STACK)).decision_function(X) / scale

    before = outputs(vector)
    changes = [np.mean((outputs(vector + step) - before) ** 2) for step in steps]
    costs = np.sum(metric.root(steps) ** 2, axis=1)
    assert costs == pytest.approx(changes, rel=0.05)


def test_it_is_released_and_affine_steps_are_folded_into_it() -> None:
    pipeline = make_pipeline(StandardScaler(), STACK)
    private = PACPrivate(
        pipeline, budget=Nats(2.0), release=Parameters(certify=False), secret=Subsets(16)
    ).fit(X, Y)
    released = private.released_estimator_
    assert type(released) is StackingClassifier
    assert private.score(X, Y) > 0.75
    assert any("logistic" in what for what in private.guarantee_.released)
    assert any("final_estimator" in what for what in private.guarantee_.released)
    assert "stack_method_" in private.guarantee_.public
    assert np.array_equal(released.classes_, [0, 1])


def test_a_final_estimator_that_sees_the_rows_keeps_the_steps_before() -> None:
    beside = clone(STACK).set_params(passthrough=True)
    assert not registry().canonicalizer_for(beside).folds
    assert registry().canonicalizer_for(STACK).folds
