"""Feature names, containers of the output, and how a fitted PACPrivate is shown."""

from __future__ import annotations

import copy
import html
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, FastICA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import Nats, PACPrivate, Subsets

NAMES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def private(model: Any, **params: Any) -> PACPrivate:
    return PACPrivate(model, **{"secret": Subsets(8), "budget": Nats(1.0), **params})


@pytest.fixture(scope="module")
def frame(iris: Any) -> pd.DataFrame:
    return pd.DataFrame(iris[0], columns=NAMES)


@pytest.mark.product(only=3)
@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(),
        LinearDiscriminantAnalysis(),
        Ridge(),
        KMeans(3, n_init=1),
        PCA(2),
        StandardScaler(),
        make_pipeline(StandardScaler(), LinearSVC()),
        make_pipeline(StandardScaler(), KMeans(3, n_init=1)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_names_of_features_are_kept_and_compared(
    model: Any, frame: pd.DataFrame, iris: Any
) -> None:
    estimator = private(model).fit(frame, iris[1])
    assert estimator.feature_names_in_.tolist() == NAMES
    assert estimator.released_estimator_.feature_names_in_.tolist() == NAMES
    assert estimator.n_features_in_ == 4
    method = estimator.transform if hasattr(estimator, "transform") else estimator.predict
    assert len(method(frame)) == 150
    with pytest.raises(ValueError, match="feature"):
        method(frame.rename(columns={"petal_width": "weight"}))
    with pytest.raises(ValueError, match="feature"):
        method(frame[NAMES[::-1]])
    with pytest.warns(UserWarning, match="valid"):
        method(frame.to_numpy())


def test_names_of_an_earlier_fit_are_forgotten(frame: pd.DataFrame, iris: Any) -> None:
    estimator = private(LinearSVC()).fit(frame, iris[1]).fit(*iris)
    assert not hasattr(estimator, "feature_names_in_")
    assert not hasattr(estimator.released_estimator_, "feature_names_in_")


def test_names_that_are_not_strings_are_refused(frame: pd.DataFrame, iris: Any) -> None:
    with pytest.raises(TypeError, match="string"):
        private(LinearSVC()).fit(frame.rename(columns={"petal_width": 3}), iris[1])


@pytest.mark.product(only=4)
@pytest.mark.parametrize("when", ["before fit", "after fit", "before clone"])
@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (PCA(2), ["pca0", "pca1"]),
        (StandardScaler(), NAMES),
        (MinMaxScaler(), NAMES),
        (KMeans(3, n_init=1), ["kmeans0", "kmeans1", "kmeans2"]),
    ],
    ids=lambda case: type(case).__name__ if hasattr(case, "fit") else None,
)
def test_transform_gives_the_container_asked_for(
    model: Any, columns: list[str], when: str, frame: pd.DataFrame
) -> None:
    estimator = private(model)
    if when == "before clone":
        estimator = clone(estimator.set_output(transform="pandas")).fit(frame)
    elif when == "before fit":
        estimator = estimator.set_output(transform="pandas").fit(frame)
    else:
        estimator = estimator.fit(frame).set_output(transform="pandas")
    shown = estimator.transform(frame)
    assert isinstance(shown, pd.DataFrame)
    assert shown.columns.tolist() == columns
    assert estimator.get_feature_names_out().tolist() == columns
    assert isinstance(estimator.fit_transform(frame), pd.DataFrame)
    assert isinstance(estimator.set_output(transform="default").transform(frame), np.ndarray)


def test_a_container_is_put_around_a_whole_pipeline(frame: pd.DataFrame) -> None:
    rows = frame.set_index(frame.index + 7)
    pipeline = private(make_pipeline(StandardScaler(), PCA(2))).set_output(transform="pandas")
    # Warnings are errors here: no step is asked with names that it was fitted without.
    shown = pipeline.fit(rows).transform(rows)
    assert shown.columns.tolist() == ["pca0", "pca1"]
    assert shown.index.equals(rows.index)


def test_containers_work_inside_other_estimators(frame: pd.DataFrame) -> None:
    columns = ColumnTransformer([("pca", private(PCA(1)), NAMES[:2])], remainder="passthrough")
    shown = columns.set_output(transform="pandas").fit_transform(frame)
    kept = [f"remainder__{name}" for name in NAMES[2:]]
    assert shown.columns.tolist() == ["pca__pca0", *kept]
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(private(PCA(1)).fit_transform(frame), pd.DataFrame)


def test_what_cannot_transform_has_no_container() -> None:
    assert not hasattr(private(LinearSVC()), "set_output")
    assert not hasattr(private(LinearDiscriminantAnalysis()), "set_output")
    assert not hasattr(private(LinearSVC()), "get_feature_names_out")


def test_html_says_what_was_promised(iris: Any) -> None:
    estimator = private(LinearSVC(), budget=1 / 16).fit(*iris)
    shown = estimator._repr_html_()
    assert html.escape(estimator.guarantee_.promise) in shown
    assert "PAC privacy guarantee: proved" in shown
    assert "PACPrivate" in shown
    assert "LinearSVC" in shown
    assert "guarantee" not in private(LinearSVC())._repr_html_()


def test_notebooks_and_terminals_are_served(iris: Any) -> None:
    estimator = private(LinearSVC(), budget=0.125).fit(*iris)
    bundle = estimator._repr_mimebundle_()
    assert bundle["text/plain"] == repr(estimator)
    assert "PACPrivate(budget=0.125, estimator=LinearSVC(), secret=Subsets(n=8))" in repr(estimator)
    assert estimator.guarantee_._repr_html_() in bundle["text/html"]
    with sklearn.config_context(display="text"):
        assert "text/html" not in estimator._repr_mimebundle_()
        assert not hasattr(estimator, "_repr_html_")


def test_a_wrapped_model_that_was_fitted_before_is_not_carried_along(iris: Any) -> None:
    fitted = LinearSVC(random_state=0).fit(*iris)
    leak = repr(float(fitted.coef_[0, 0]))[:8]
    estimator = private(fitted).fit(*iris)
    assert estimator.estimator is fitted  # a parameter is never touched
    for twin in (copy.copy(estimator), copy.deepcopy(estimator), clone(estimator)):
        assert not hasattr(twin.estimator, "coef_")
    np.testing.assert_array_equal(
        copy.deepcopy(estimator).decision_function(iris[0]), estimator.decision_function(iris[0])
    )
    assert leak not in estimator._repr_html_()
    assert leak not in repr(estimator)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_steps_may_hand_on_tables_of_any_library(
    container: str, frame: pd.DataFrame, iris: Any
) -> None:
    pytest.importorskip(container)
    steps = make_pipeline(PolynomialFeatures(2), LinearDiscriminantAnalysis())
    with sklearn.config_context(transform_output=container):
        assert private(steps).fit(frame, iris[1]).predict(frame).shape == (150,)
        for model in (PCA(2), FastICA(2, random_state=0)):
            assert private(model).fit(frame).transform(frame).shape == (150, 2)
