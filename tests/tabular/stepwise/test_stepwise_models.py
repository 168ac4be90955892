"""Stepwise classifiers and regressors as estimators, and as what is released."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import PACPrivate, Subsets
from pacsklearn.tabular import StepwiseClassifier, StepwiseRegressor
from tests.scikit_learn_checks import checks_of, run


@run(checks_of({"classifier": StepwiseClassifier(), "regressor": StepwiseRegressor(ridge=0.1)}))
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_directions_are_those_of_least_squares_and_probabilities_are_likely_ones():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = StepwiseClassifier(3).fit(X, y)
    chosen = np.flatnonzero(model.coef_[0])
    line = LinearRegression().fit(X[:, chosen], y).coef_
    np.testing.assert_allclose(
        model.coef_[0, chosen] / model.coef_[0, chosen[0]], line / line[0], rtol=1e-8
    )
    direction = (X[:, chosen] @ line)[:, None]
    likely = LogisticRegression(C=100.0, tol=1e-10).fit(direction / direction.std(), y)
    np.testing.assert_allclose(
        model.predict_proba(X), likely.predict_proba(direction / direction.std()), atol=1e-4
    )


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = StepwiseClassifier(2).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert np.any(model.coef_ != 0, axis=0).sum() == 2
    assert model.score(X, y) > 0.8
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_a_shrunken_direction_still_finds_a_rare_class():
    generator = np.random.default_rng(0)
    y = (generator.random(2000) < 0.2).astype(int)
    X = generator.normal(size=(2000, 5)) + 2.0 * y[:, None]
    model = StepwiseClassifier(0, ridge=100.0).fit(X, y)
    assert np.mean(model.predict(X)) > 0.15


def test_a_regressors_scale_is_fitted_again():
    X, y = load_diabetes(return_X_y=True)
    shrunken = StepwiseRegressor(0, ridge=10.0).fit(X, y)
    predicted = shrunken.predict(X)
    slope = LinearRegression().fit(predicted[:, None], y)
    np.testing.assert_allclose([slope.coef_[0], slope.intercept_], [1, 0], atol=1e-8)


def test_no_columns_at_all_are_refused():
    with pytest.raises(ValueError, match="n_terms"):
        StepwiseRegressor(0).fit([[1.0], [2.0]], [1.0, 2.0])


def test_columns_that_no_candidate_chooses_are_zero_and_take_no_noise():
    X, y = load_breast_cancer(return_X_y=True)
    private = PACPrivate(
        make_pipeline(StandardScaler(), StepwiseClassifier(2)), budget=1.0, secret=Subsets(16)
    ).fit(X, y)
    released = private.released_estimator_.coef_[0]
    assert 2 <= np.count_nonzero(np.abs(released) > 1e-9 * np.abs(released).max()) < 15
    assert private.score(X, y) > 0.85


@pytest.mark.soak
@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "model",
    [StepwiseClassifier(2), StepwiseClassifier(2, ridge=0.3), StepwiseClassifier(0, ridge=1.0)],
    ids=repr,
)
def test_nothing_is_known_at_null_budget(model):
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), model)
    private = PACPrivate(pipe, budget=1e-9, secret=Subsets(16))
    found = private.plan(X, y, n_releases=100, alternatives=False, scoring="balanced_accuracy")
    assert abs(found.expected.mean - 0.5) < 4 * found.expected.standard_error
    assert np.std(found.expected.scores) > 0.05  # it is noise that decides
    assert found.without_noise > 0.8


def test_no_regression_is_known_at_null_budget():
    X, y = load_diabetes(return_X_y=True)

    def correlation(model, X, y):
        return float(np.corrcoef(model.predict(X), y)[0, 1])

    private = PACPrivate(StepwiseRegressor(3), budget=1e-9, secret=Subsets(16))
    found = private.plan(X, y, n_releases=100, alternatives=False, scoring=correlation)
    assert abs(found.expected.mean) < 4 * found.expected.standard_error
    assert found.without_noise > 0.5
