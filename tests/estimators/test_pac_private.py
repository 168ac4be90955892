"""PACPrivate is what it wraps: kind, methods, scores, parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import (
    clone,
    is_classifier,
    is_clusterer,
    is_outlier_detector,
    is_regressor,
)
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

from pacsklearn import Nats, PACPrivate, Subsets, config_context
from pacsklearn.exceptions import DesignWarning, PrivacyLeakWarning

METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "inverse_transform",
    "score",
)
CLASSIFIER = {"predict", "decision_function", "score"}
PROBABLE = CLASSIFIER | {"predict_proba", "predict_log_proba"}
BOTH_WAYS = {"transform", "inverse_transform"}
CASES: list[tuple[Any, set[str]]] = [
    (LinearSVC(), CLASSIFIER),
    (LogisticRegression(), PROBABLE),
    (LinearDiscriminantAnalysis(), PROBABLE),  # its transform is not released
    (SGDClassifier(loss="hinge"), CLASSIFIER),
    (SGDClassifier(loss="log_loss"), PROBABLE),
    (Perceptron(), CLASSIFIER),
    (Ridge(), {"predict", "score"}),
    (KMeans(3, n_init=1), {"predict", "transform", "score"}),
    (MiniBatchKMeans(3, n_init=1), {"predict", "transform", "score"}),
    (PCA(2), BOTH_WAYS),  # its score needs a noise variance, which is not released
    (TruncatedSVD(2), BOTH_WAYS),
    (StandardScaler(), BOTH_WAYS),
    (MinMaxScaler(), BOTH_WAYS),
    (RobustScaler(), BOTH_WAYS),
    (PolynomialFeatures(), {"transform"}),
    (make_pipeline(StandardScaler(), LinearSVC()), CLASSIFIER),
    (make_pipeline(StandardScaler(), PCA(2)), BOTH_WAYS),
    (GridSearchCV(LinearSVC(), {"C": [0.1, 1.0]}, cv=2), CLASSIFIER),
]


def name(case: Any) -> str | None:
    return type(case).__name__ if hasattr(case, "fit") else None


def private(model: Any, **params: Any) -> PACPrivate:
    return PACPrivate(clone(model), **{"secret": Subsets(8), "budget": Nats(1.0), **params})


def works(model: Any, method: str, X: Any, y: Any) -> bool:
    try:
        rows = model.transform(X) if method == "inverse_transform" else X
        model.score(X, y) if method == "score" else getattr(model, method)(rows)
    except AttributeError:
        return False
    return True


@pytest.mark.product(only=6)
@pytest.mark.parametrize(("model", "expected"), CASES, ids=name)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_methods_are_those_of_the_released_model(model: Any, expected: set[str], iris: Any) -> None:
    X, y = iris
    estimator = private(model)
    assert {method for method in METHODS if hasattr(estimator, method)} == expected
    estimator.fit(X, y)
    assert {method for method in METHODS if hasattr(estimator, method)} == expected
    released = estimator.released_estimator_
    assert {m for m in METHODS if works(released, m, X, y)} == expected
    for method in expected - {"score", "inverse_transform"}:
        np.testing.assert_array_equal(
            getattr(estimator, method)(X), getattr(released, method)(X), err_msg=method
        )
    if "inverse_transform" in expected:
        rows = released.transform(X)
        np.testing.assert_array_equal(
            estimator.inverse_transform(rows), released.inverse_transform(rows)
        )
    assert hasattr(estimator, "fit_transform") == ("transform" in expected)
    assert hasattr(estimator, "fit_predict") == isinstance(model, KMeans | MiniBatchKMeans)


def test_methods_that_are_not_there_are_not_listed_or_callable(iris: Any) -> None:
    estimator = private(LinearSVC()).fit(*iris)
    with pytest.raises(AttributeError, match="predict_proba"):
        estimator.predict_proba(iris[0])
    with pytest.raises(AttributeError, match="transform"):
        private(LinearDiscriminantAnalysis()).transform(iris[0])


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (LinearSVC(), is_classifier),
        (make_pipeline(StandardScaler(), LinearSVC()), is_classifier),
        (GridSearchCV(LinearSVC(), {"C": [1.0]}), is_classifier),
        (Ridge(), is_regressor),
        (KMeans(3), is_clusterer),
        (PCA(2), None),
    ],
)
def test_it_is_of_the_kind_it_wraps(model: Any, kind: Any) -> None:
    kinds = (is_classifier, is_regressor, is_clusterer, is_outlier_detector)
    assert [is_kind(private(model)) for is_kind in kinds] == [k is kind for k in kinds]


def test_tags_are_the_wrapped_ones_where_they_hold() -> None:
    for model in (LinearSVC(), Ridge(), PCA(2), KMeans(3), LinearDiscriminantAnalysis()):
        ours, theirs = get_tags(private(model)), get_tags(model)
        assert ours.input_tags.sparse == theirs.input_tags.sparse
        assert ours.input_tags.allow_nan == theirs.input_tags.allow_nan
        assert ours.target_tags == theirs.target_tags
        for kind in (theirs.classifier_tags, theirs.regressor_tags):
            if kind is not None:  # how good a released model is depends on the budget
                kind.poor_score = True
        assert ours.classifier_tags == theirs.classifier_tags
        assert ours.regressor_tags == theirs.regressor_tags
        assert ours.requires_fit
    assert get_tags(private(PCA(2))).transformer_tags is not None
    # It cannot transform when it is released.
    assert get_tags(private(LinearDiscriminantAnalysis())).transformer_tags is None


def test_score_is_the_released_models(iris: Any, sizes: Any) -> None:
    X, y = iris
    weights = np.linspace(0.0, 1.0, y.size)
    for model, target in [(LinearSVC(), y), (Ridge(), sizes), (KMeans(3, n_init=1), y)]:
        estimator = private(model).fit(X, target)
        released = estimator.released_estimator_
        assert estimator.score(X, target) == released.score(X, target)
        assert estimator.score(X, target, sample_weight=weights) == released.score(
            X, target, sample_weight=weights
        )
        assert isinstance(estimator.score(X, target), float)


def test_fit_transform_and_fit_predict_use_the_released_model(iris: Any) -> None:
    X, y = iris
    pca = private(PCA(2))
    np.testing.assert_array_equal(pca.fit_transform(X, y), pca.released_estimator_.transform(X))
    kmeans = private(KMeans(3, n_init=1))
    np.testing.assert_array_equal(kmeans.fit_predict(X), kmeans.released_estimator_.predict(X))


def test_classes_of_strings_are_kept(iris: Any) -> None:
    X, y = iris
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    estimator = private(LinearSVC()).fit(X, labels)
    assert estimator.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert set(estimator.predict(X)) <= set(labels)
    assert 0 <= estimator.score(X, labels) <= 1
    estimator.set_params(estimator=KMeans(2, n_init=1)).fit(X)
    assert not hasattr(estimator, "classes_")


@pytest.mark.parametrize("method", ["predict", "decision_function", "score"])
def test_what_was_not_fitted_says_so(method: str, iris: Any) -> None:
    arguments = iris if method == "score" else iris[:1]
    with pytest.raises(NotFittedError, match="PACPrivate"):
        getattr(private(LinearSVC()), method)(*arguments)
    with pytest.raises(AttributeError, match="before fit"):
        getattr(private(LinearSVC()), "guarantee_" if method == "score" else "released_estimator_")


def test_parameters_reach_the_wrapped_estimator() -> None:
    estimator = PACPrivate(make_pipeline(StandardScaler(), LinearSVC()), budget=0.25)
    assert estimator.get_params()["estimator__linearsvc__C"] == 1.0
    estimator.set_params(estimator__linearsvc__C=7.0, budget=0.5)
    copy = clone(estimator)
    assert copy.get_params()["estimator__linearsvc__C"] == 7.0
    assert copy.budget == 0.5
    assert copy.estimator is not estimator.estimator


def test_fit_changes_neither_parameters_nor_data(iris: Any) -> None:
    X, y = (part.copy() for part in iris)
    estimator = private(make_pipeline(StandardScaler(), LinearSVC()))
    before = {key: repr(value) for key, value in estimator.get_params().items()}
    estimator.fit(X, y)
    assert {key: repr(value) for key, value in estimator.get_params().items()} == before
    np.testing.assert_array_equal(X, iris[0])
    np.testing.assert_array_equal(y, iris[1])


def test_it_is_a_step_like_any_other(iris: Any) -> None:
    X, y = iris
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    # Targets are passed along a private transformer, which does not look at them.
    pipeline = make_pipeline(private(StandardScaler()), private(PCA(2)), LogisticRegression())
    with pytest.warns(PrivacyLeakWarning, match="no guarantee: logisticregression"):
        assert pipeline.fit(X, labels).score(X, labels) > 1 / 3
    scores = cross_val_score(
        private(LinearSVC(), budget=Nats(50.0, allow_exact=True)), X, labels, cv=3
    )
    assert scores.min() > 0.7  # 0.885 +- 0.02 over fits


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore:Parts of:pacsklearn.exceptions.PrivacyLeakWarning")
def test_budget_and_the_wrapped_parameters_are_searched(iris: Any) -> None:
    X, y = iris
    exact = Nats(50.0, allow_exact=True)
    grid = {"budget": [1e-6, exact], "estimator__C": [0.1, 1.0]}
    search = GridSearchCV(private(LinearSVC()), grid, cv=3).fit(X, y)
    assert search.best_params_["budget"] == exact
    assert search.best_score_ > 0.8
    inner = make_pipeline(
        MinMaxScaler(),
        private(make_pipeline(PCA(2), LinearSVC())),
    )
    grid = {"pacprivate__budget": [1e-6, exact], "pacprivate__estimator__linearsvc__C": [1.0]}
    search = GridSearchCV(inner, grid, cv=3).fit(X, y)
    assert search.best_params_["pacprivate__budget"] == exact
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_two_groups_are_two_candidates() -> None:
    """128 were fitted, and naming one of them was promised to succeed in at most 12.96 %."""
    X, y = load_iris(return_X_y=True)
    with pytest.warns(DesignWarning, match="Only 2 of the 128"):
        model = PACPrivate(LinearDiscriminantAnalysis(), budget=1 / 4).fit(
            X, y, groups=np.arange(len(y)) % 2
        )
    guarantee = model.guarantee_
    assert guarantee.secret.n_candidates == 2
    assert guarantee.prior_identification == 0.5
    assert guarantee.secret.entropy == pytest.approx(np.log(2))
    assert guarantee.posterior_identification == pytest.approx(guarantee.posterior_membership)
    assert "1 of 2 subsets" in str(guarantee)


@pytest.mark.parametrize("last", [GaussianNB(), LinearDiscriminantAnalysis()])
@pytest.mark.parametrize("fast_fit", [True, False])
@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_steps_that_work_in_place_change_no_table_and_no_model(last: Any, fast_fit: bool) -> None:
    # The metric's walk through the pipeline left the universe scaled by the first candidate, and
    # what had been fitted was encoded by rows that its fit had changed.
    X, y = load_breast_cancer(return_X_y=True)
    table, released = X[:, :3].copy(), []
    for is_copied in (True, False):
        model = make_pipeline(StandardScaler(copy=is_copied), last)
        private = PACPrivate(model, 1 / 4, secret=Subsets(8, seed=0), random_state=0)
        with config_context(fast_fit=fast_fit):
            fitted = private.fit(table, y).released_estimator_
        np.testing.assert_array_equal(table, X[:, :3])
        released.append(fitted.predict_proba(table.copy()))
    np.testing.assert_array_equal(*released)
