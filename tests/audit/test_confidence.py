from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pacsklearn.audit.confidence import model_numbers, row_confidences

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


def test_classifiers_are_sure_of_the_rows_own_class():
    model = LogisticRegression(max_iter=500).fit(X, NAMES)
    expected = model.decision_function(X)[np.arange(150), y]
    np.testing.assert_array_equal(row_confidences(model, X, NAMES), expected)
    two = RidgeClassifier().fit(X[:100], y[:100])
    found = row_confidences(two, X[:100], y[:100])
    np.testing.assert_array_equal(np.abs(found), np.abs(two.decision_function(X[:100])))
    assert np.all((found > 0) == (two.predict(X[:100]) == y[:100]))


def test_probabilities_become_log_odds():
    model = GaussianNB().fit(X, y)
    share = model.predict_proba(X)[np.arange(150), y]
    usual = (share > 1e-6) & (share < 1 - 1e-6)
    found = row_confidences(model, X, y)
    np.testing.assert_allclose(found[usual], np.log(share[usual] / (1 - share[usual])), rtol=1e-6)
    assert np.all(np.isfinite(found))
    for other in (KNeighborsClassifier(), DecisionTreeClassifier(max_depth=2)):
        assert np.all(np.isfinite(row_confidences(other.fit(X, y), X, y)))


def test_errors_distances_and_densities():
    line = LinearRegression().fit(X, y)
    np.testing.assert_allclose(row_confidences(line, X, y), -((line.predict(X) - y) ** 2))
    means = KMeans(3, n_init=1, random_state=0).fit(X)
    distance = np.linalg.norm(X - means.cluster_centers_[means.labels_], axis=1)
    np.testing.assert_allclose(row_confidences(means, X), 1 - distance / distance.max())
    mixture = GaussianMixture(2, random_state=0).fit(X)
    np.testing.assert_array_equal(row_confidences(mixture, X), mixture.score_samples(X))
    axes = PCA(2).fit(X)
    again = axes.inverse_transform(axes.transform(X))
    np.testing.assert_allclose(row_confidences(axes, X), -((X - again) ** 2).sum(axis=1))


def test_what_says_nothing_is_named():
    with pytest.raises(ValueError, match="Normalizer"):
        row_confidences(Normalizer().fit(X), X)


def test_numbers_are_all_that_is_fitted():
    model = LinearRegression().fit(X, y)
    numbers = model_numbers(model)
    assert set(model.coef_) | {model.intercept_} <= set(numbers)
    both = make_pipeline(StandardScaler(), model).fit(X, y)
    assert set(both[0].mean_) | set(both[-1].coef_) <= set(model_numbers(both))


def test_numbers_of_odd_attributes():
    model = OneHotEncoder().fit([["a"], ["b"]])
    model.extra_ = {"b": [1.5, sparse.eye(2)], "a": np.array([2.5, None], dtype=object)}
    model.own_ = model  # no endless walk
    assert {1.5, 2.5, 0.0, 1.0} <= set(model_numbers(model))
    np.testing.assert_array_equal(model_numbers(model), model_numbers(model))
    assert model_numbers(OneHotEncoder()).size == 0
