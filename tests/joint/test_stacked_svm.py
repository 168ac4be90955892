"""Support vectors of all candidates say what each candidate's model says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from pacsklearn.joint.stacked_svm import StackedSVM
from pacsklearn.kernel.outputs.models import stack
from pacsklearn.secrets import balanced_space

M = 4


class MySVC(SVC):
    """May predict otherwise."""


def fitted(estimator: Any, X: Any, y: Any) -> tuple[Any, ...]:
    space = balanced_space(len(y), n_subsets=M, strata=y if is_classifier(estimator) else None)
    return tuple(clone(estimator).fit(X[space.rows(i)], y[space.rows(i)]) for i in range(M))


@pytest.mark.product(only=5)
@pytest.mark.parametrize(
    "estimator",
    [
        SVC(),
        SVC(kernel="linear"),
        SVC(kernel="poly", degree=2, coef0=1.0),
        SVC(kernel="sigmoid", gamma=0.001),
        SVC(gamma=0.01, C=10.0),
        make_pipeline(StandardScaler(), SVC()),
        make_pipeline(StandardScaler(), "passthrough", SVC(gamma="auto")),
    ],
    ids=lambda value: repr(value)[:60],
)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_labels(estimator: Any, load: Any) -> None:
    X, y = load(return_X_y=True)
    models = fitted(estimator, X, np.array(["b", "a", "c"])[y])
    stacked = stack(models)
    assert isinstance(stacked, StackedSVM)
    for rows in (X, X[:1], X[48:56], X[96:104]):
        codes = stacked.predict(rows)
        assert codes.dtype == np.int32
        for model, own in zip(models, codes, strict=True):
            assert np.array_equal(model.classes_[own], model.predict(rows))


def test_ten_classes_of_rows_that_repeat() -> None:
    X, y = load_digits(return_X_y=True)
    few = np.repeat(np.arange(100), 6)
    models = fitted(SVC(C=0.1), X[few], y[few])
    stacked = stack(models)
    assert isinstance(stacked, StackedSVM)
    assert max(map(len, stacked.groups[0].places)) > len(stacked.groups[0].vectors)
    for rows in (X, X[300:304]):
        for model, own in zip(models, stacked.predict(rows), strict=True):
            assert np.array_equal(own, model.predict(rows))


@pytest.mark.parametrize(
    "estimator",
    [SVR(C=10.0), make_pipeline(StandardScaler(), SVR(kernel="poly", C=10.0))],
    ids=repr,
)
def test_values(estimator: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    models = fitted(estimator, X, y)
    stacked = stack(models)
    assert isinstance(stacked, StackedSVM)
    for model, own in zip(models, stacked.predict(X), strict=True):
        assert own == pytest.approx(model.predict(X), rel=1e-10)


def test_what_is_asked_one_by_one() -> None:
    X, y = load_iris(return_X_y=True)
    for estimator in (MySVC(), SVC(break_ties=True, decision_function_shape="ovr")):
        assert stack(fitted(estimator, X, y)) is None
    two = tuple(SVC().fit(X[rows], y[rows]) for rows in (slice(0, 100), slice(50, 150)))
    assert stack(two) is None
    assert stack(fitted(SVC(), sparse.csr_matrix(X), y)) is None
