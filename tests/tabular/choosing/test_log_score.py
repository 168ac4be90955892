"""Log scores against scikit-learn's, and what dividing by a temperature does and does not do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn.tabular import (
    AdditiveClassifier,
    FixedStructureForestClassifier,
    StepwiseClassifier,
)
from pacsklearn.tabular.choosing.log_score import (
    TEMPERATURES,
    is_tempered,
    log_and_right,
    log_scores,
    temperatures_of,
    tempered,
)

IRIS = load_iris(return_X_y=True)
SCALED = make_pipeline(StandardScaler(), LogisticRegression())
WITH_WEIGHTS = [
    SCALED,
    LinearDiscriminantAnalysis(),
    StepwiseClassifier(2),
    AdditiveClassifier(feature_range=(0, 8)),
]
WITHOUT = [GaussianNB(), FixedStructureForestClassifier(5, feature_range=(0, 8))]


@pytest.mark.parametrize("model", [*WITH_WEIGHTS, *WITHOUT, DummyClassifier()], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_scikit_learns_log_loss(model: Any, n_classes: int) -> None:
    X, y = (part[IRIS[1] < n_classes] for part in IRIS)
    fitted = clone(model).fit(X[::2], y[::2])
    expected = -log_loss(y, fitted.predict_proba(X), labels=fitted.classes_)
    assert log_scores(fitted, X, y)[0] == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("model", [*WITH_WEIGHTS, *WITHOUT], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_accuracy_stands_behind_the_log_scores(model: Any, n_classes: int) -> None:
    X, y = (part[IRIS[1] < n_classes] for part in IRIS)
    fitted = clone(model).fit(X[::2], y[::2])
    found = log_and_right(fitted, X, y, TEMPERATURES)
    assert found[-1] == fitted.score(X, y)
    np.testing.assert_array_equal(found[:-1], log_scores(fitted, X, y, TEMPERATURES))
    assert log_and_right(fitted, X, np.full(len(y), 7))[-1] == 0


@pytest.mark.parametrize("model", WITH_WEIGHTS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_divided_weights_are_a_plain_model_with_the_same_labels(model: Any, n_classes: int) -> None:
    X, y = (part[IRIS[1] < n_classes] for part in IRIS)
    fitted = clone(model).fit(X, y)
    expected, labels = log_scores(fitted, X, y, TEMPERATURES), fitted.predict(X)
    powers = fitted.predict_proba(X) ** (1 / TEMPERATURES[2])
    divided = tempered(fitted, TEMPERATURES[2])
    np.testing.assert_allclose(
        divided.predict_proba(X), powers / powers.sum(axis=1, keepdims=True), atol=1e-5
    )
    assert np.array_equal(divided.predict(X), labels)
    assert log_scores(divided, X, y)[0] == pytest.approx(expected[2], abs=1e-9)


def test_what_is_listed_follows_the_kind_of_model_alone() -> None:
    for model in WITH_WEIGHTS:
        assert is_tempered(model)
        listed = temperatures_of(model)
        assert len(set(listed)) == len(TEMPERATURES)
        assert temperatures_of(model, 4) == listed[:4]
        assert temperatures_of(model, 1) == (1.0,)
        # With many options each has three: noise takes a large one.
        assert max(temperatures_of(model, 3)) >= 4
        # A penalty makes decisions too small; discriminants are too sure to begin with.
        assert (min(listed) < 1) != isinstance(model, LinearDiscriminantAnalysis)
    for model in [*WITHOUT, Ridge(), make_pipeline(StandardScaler(), GaussianNB())]:
        assert not is_tempered(model)
        assert temperatures_of(model) == (1.0,)
    for model in (LinearSVC(), RidgeClassifier()):  # a margin has no scale of its own
        assert not is_tempered(model)
        assert temperatures_of(model, 2) == TEMPERATURES
    # Of three classes its probabilities are no softmax of its decisions.
    assert not is_tempered(LogisticRegression(solver="liblinear"))


def test_numbers_that_are_none_and_unknown_classes_cost_a_bounded_amount() -> None:
    X, y = IRIS
    fitted = clone(SCALED).fit(X, y)
    broken = clone(SCALED).fit(X, y)
    broken[-1].coef_ = broken[-1].coef_ * np.inf
    with np.errstate(invalid="ignore"):
        assert log_scores(broken, X, y)[0] == pytest.approx(np.log(np.finfo(float).eps))
    other = np.where(y == 2, 7, y)
    worse = log_scores(fitted, X, other)[0]
    assert -13 < worse < log_scores(fitted, X, y)[0] - 11  # a third of the rows, 36 each


@pytest.mark.parametrize("kind", ["boolean", "bool[pyarrow]", "category"])
def test_yes_and_no_of_any_type_score_the_same(kind: str) -> None:
    """Every answer counted as wrong, so that a constant was chosen in place of any model."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    X, y = IRIS[0], IRIS[1] == 1
    stated = pd.Series(y).astype(kind)
    fitted = clone(SCALED).fit(X, stated)
    assert log_scores(fitted, X, stated)[0] == pytest.approx(
        log_scores(clone(SCALED).fit(X, y), X, y)[0], abs=1e-3
    )
