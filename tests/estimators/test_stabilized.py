"""Ensembles inside the subset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, Perceptron, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from pacsklearn import Answers, Nats, PACPrivate, Subsets
from pacsklearn.estimators import StabilizedClassifier, StabilizedRegressor
from pacsklearn.estimators.stabilized import class_scores
from pacsklearn.priors import Range
from tests.scikit_learn_checks import checks_of, run

X, Y = load_iris(return_X_y=True)


@run(
    checks_of(
        {
            "trees": StabilizedClassifier(DecisionTreeClassifier(max_depth=3), n_members=3),
            "ridge": StabilizedRegressor(Ridge(), n_members=3, max_features=0.9),
        }
    )
)
def test_they_are_estimators(estimator: Any, check: Any) -> None:
    check(estimator)


def test_one_member_that_sees_all_is_the_estimator() -> None:
    plain = DecisionTreeClassifier(random_state=0).fit(X, Y)
    alone = StabilizedClassifier(DecisionTreeClassifier(), n_members=1, max_features=1.0).fit(X, Y)
    np.testing.assert_array_equal(alone.predict_proba(X), plain.predict_proba(X))
    features, target = load_diabetes(return_X_y=True)
    one = StabilizedRegressor(Ridge(), n_members=1, max_features=1.0).fit(features, target)
    np.testing.assert_allclose(
        one.predict(features), Ridge().fit(features, target).predict(features)
    )


def test_regressor_is_the_mean_of_least_squares_on_the_columns_it_names() -> None:
    features, target = load_diabetes(return_X_y=True)
    model = StabilizedRegressor(LinearRegression(), n_members=4).fit(features, target)
    means = np.zeros(len(features))
    for columns in model.members_.columns:
        assert columns.size == 5
        design = np.column_stack([np.ones(len(features)), features[:, columns]])
        means += design @ np.linalg.lstsq(design, target, rcond=None)[0] / 4
    np.testing.assert_allclose(model.predict(features), means)


def test_members_depend_on_rows_and_public_seeds_alone() -> None:
    model = StabilizedClassifier(SVC(), n_members=5, max_samples=0.5)
    other = StabilizedClassifier(SVC(), n_members=5, max_samples=0.5)
    rows = np.arange(0, 150, 2)
    np.testing.assert_array_equal(
        model.fit(X[rows], Y[rows]).predict_proba(X),
        other.fit(X, Y).fit(X[rows], Y[rows]).predict_proba(X),
    )
    seeds = [
        StabilizedClassifier(SVC(), n_members=5, random_state=seed, max_features=0.5).fit(X, Y)
        for seed in (0, 1)
    ]
    assert not np.array_equal(*(np.concatenate(model.members_.columns) for model in seeds))


@pytest.mark.parametrize(
    "estimator",
    [SVC(), LinearSVC(), Perceptron(), KNeighborsClassifier(), DecisionTreeClassifier()],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_shares_of_loudness(estimator: Any, classes: int) -> None:
    rows = np.isin(Y, range(classes))
    table = scale(X[rows])
    model = StabilizedClassifier(estimator, n_members=4).fit(table, Y[rows])
    member, part = model.members_.views(table)[0]
    scores = class_scores(member, part, classes)
    assert scores.shape == (rows.sum(), classes)
    assert scores.min() >= 0
    assert scores.max() <= 1
    shares = model.predict_proba(table)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(table))
    assert model.score(table, Y[rows]) > 0.8


def test_pairs_of_support_vectors_speak_for_the_right_class() -> None:
    """Against the pairs' own two-class machines, one by one."""
    inner = StabilizedClassifier(SVC(), n_members=1, max_features=1.0).fit(X, Y)
    scores = class_scores(*inner.members_.views(X)[0], 3)
    expected = np.zeros((150, 3))
    for one in range(3):
        for other in range(3):
            if one != other:
                rows = (one == Y) | (other == Y)
                # gamma="scale" looks at the rows, so it is given.
                pair = SVC(gamma=1 / (4 * X.var())).fit(X[rows], one == Y[rows])
                expected[:, one] += np.clip(pair.decision_function(X), -1, 1) / 2
    np.testing.assert_allclose(scores, (1 + expected) / 2, atol=2e-3)


def test_row_shares_keep_weights_with_their_rows() -> None:
    weights = np.linspace(0.1, 1, 150)
    seen: list[tuple[int, ...]] = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Spy:
            seen.append(sample_weight.shape)
            np.testing.assert_array_equal(sample_weight, X[:, 0])
            return super().fit(X, y, sample_weight=sample_weight)

    table = np.column_stack([weights, X])
    StabilizedClassifier(Spy(), n_members=2, max_features=1.0, max_samples=0.4).fit(
        table, Y, sample_weight=weights
    )
    assert seen == [(60,), (60,)]


def test_sparse_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    dense = StabilizedClassifier(DecisionTreeClassifier(), n_members=3).fit(X, Y)
    if not get_tags(DecisionTreeClassifier()).input_tags.sparse:
        pytest.skip("this scikit-learn does not say that trees take sparse data")
    thin = StabilizedClassifier(DecisionTreeClassifier(), n_members=3).fit(sparse.csr_matrix(X), Y)
    np.testing.assert_array_equal(dense.predict(X), thin.predict(sparse.csr_matrix(X)))
    frame = pandas.DataFrame(X, columns=list("abcd"))
    named = StabilizedClassifier(DecisionTreeClassifier(), n_members=3).fit(frame, Y)
    np.testing.assert_array_equal(dense.predict(X), named.predict(frame))
    assert list(named.feature_names_in_) == list("abcd")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_members": 0}, "n_members"),
        ({"n_members": 10_001}, "n_members"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": "sqrt"}, "max_features"),
        ({"max_features": True}, "max_features"),
        ({"max_samples": 1.5}, "max_samples"),
        ({"random_state": None}, "random_state"),
    ],
)
def test_bad_parameters(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StabilizedClassifier(SVC(), **params).fit(X, Y)


def test_the_wrong_kind_of_estimator() -> None:
    with pytest.raises(TypeError, match="Ridge"):
        StabilizedClassifier(Ridge()).fit(X, Y)
    with pytest.raises(TypeError, match="KMeans"):
        StabilizedRegressor(KMeans()).fit(X, Y)


class TestStabilize:
    @pytest.mark.soak
    def test_candidates_agree_on_more_rows(self) -> None:
        features, target = load_breast_cancer(return_X_y=True)
        known, asked = np.arange(0, 569, 2), np.arange(1, 569, 2)
        contested = [
            PACPrivate(
                make_pipeline(StandardScaler(), SVC()),
                release=Answers(stabilize=stabilize),
                secret=Subsets(32),
            )
            .fit(features[known], target[known])
            .preview(features[asked])
            .n_contested
            for stabilize in (None, 8)
        ]
        assert contested[1] < 0.95 * contested[0]

    def test_number_of_members(self) -> None:
        fitted = PACPrivate(
            KNeighborsClassifier(),
            release=Answers(10, stabilize=3),
            secret=Subsets(4),
            budget=Nats(4.0, allow_exact=True),
        ).fit(X, Y)
        same = PACPrivate(
            StabilizedClassifier(KNeighborsClassifier(), n_members=3),
            release=Answers(10),
            secret=Subsets(4),
            budget=Nats(4.0, allow_exact=True),
        ).fit(X, Y)
        np.testing.assert_array_equal(fitted.preview(X).n_contested, same.preview(X).n_contested)

    def test_regressors(self) -> None:
        features, target = load_diabetes(return_X_y=True)
        fitted = PACPrivate(
            DecisionTreeClassifier(), release=Answers(stabilize=True), secret=Subsets(4)
        )
        with pytest.raises(ValueError, match="Unknown"):
            fitted.fit(features, target + 0.5)
        answers = (
            PACPrivate(
                Ridge(),
                release=Answers(stabilize=2, prior=Range(0, 400)),
                secret=Subsets(4),
                budget=Nats(9.0, allow_exact=True),
            )
            .fit(features, target)
            .predict(features[:5])
        )
        assert answers.shape == (5,)

    @pytest.mark.parametrize("value", [0.5, "yes", -1])
    def test_bad_values(self, value: Any) -> None:
        with pytest.raises(ValueError, match="stabilize"):
            PACPrivate(SVC(), release=Answers(stabilize=value)).fit(X, Y)
