"""Forward selection and its weights against computations from the rows themselves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from pacsklearn.tabular.stepwise.stepwise_model import (
    StepwiseModel,
    covariances,
    forward_selection,
    weights_of_wide,
)


@pytest.fixture
def rows():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 8)) @ generator.normal(size=(8, 8))
    y = X[:, [2, 5]] @ [1.0, -0.7] + generator.normal(size=200)
    return X, y[:, None]


def selected(covariance, cross, n_terms):
    return forward_selection(np.diag(covariance), lambda j: covariance[:, j], cross, n_terms)


def greedy(X, y, n_terms):
    """The same by fitting every model there is at each step."""
    chosen = []
    for _ in range(n_terms):
        errors = {
            j: np.sum(
                (LinearRegression().fit(X[:, [*chosen, j]], y).predict(X[:, [*chosen, j]]) - y) ** 2
            )
            for j in range(X.shape[1])
            if j not in chosen
        }
        chosen.append(min(errors, key=errors.get))
    return chosen


def test_each_column_lowers_the_squared_error_most(rows):
    X, y = rows
    assert selected(*covariances(X, y), 5) == greedy(X, y, 5)


def test_several_targets_share_their_columns(rows):
    X, y = rows
    targets = np.column_stack([y, X[:, 7] + 0.1 * y[:, 0]])
    assert selected(*covariances(X, targets), 4) == greedy(X, targets, 4)


def test_weights_are_least_squares_on_what_was_chosen(rows):
    X, y = rows
    moments = covariances(X, y)
    chosen = selected(*moments, 3)
    weights = StepwiseModel(3, ridge=None).weights_of(*moments)
    assert np.flatnonzero(weights[:, 0]).tolist() == sorted(chosen)
    expected = LinearRegression().fit(X[:, chosen], y).coef_[0]
    np.testing.assert_allclose(weights[chosen, 0], expected, rtol=1e-9)


def test_a_ridge_holds_the_other_columns_only(rows):
    X, y = rows
    moments = covariances(X, y)
    chosen = selected(*moments, 2)
    weights = StepwiseModel(2, ridge=0.5).weights_of(*moments)
    # Columns without a penalty are as good as taken out of the others and of the target first.
    rest = np.setdiff1d(np.arange(8), chosen)
    line = LinearRegression().fit(X[:, chosen], np.column_stack([X[:, rest], y]))
    left = np.column_stack([X[:, rest], y]) - line.predict(X[:, chosen])
    expected = Ridge(0.5 * len(X), fit_intercept=False).fit(left[:, :-1], left[:, -1]).coef_
    np.testing.assert_allclose(weights[rest, 0], expected, rtol=1e-8)
    np.testing.assert_allclose(
        StepwiseModel(0, ridge=0.5).weights_of(*moments)[:, 0],
        Ridge(0.5 * len(X)).fit(X, y[:, 0]).coef_,
    )


def test_columns_that_say_the_same_are_taken_once_and_in_order(rows):
    X, y = rows
    flag = (X[:, 2] > 0).astype(float)
    table = np.column_stack([np.zeros(200), 1 - flag, flag, flag])
    assert selected(*covariances(table, y), 4) == [1]
    # The same whichever way rounding errors fall.
    covariance, cross = covariances(table, y)
    assert selected(covariance * (1 + 1e-14), cross, 4) == [1]


def test_nothing_is_chosen_where_nothing_is_explained():
    weights = StepwiseModel(2).weights_of(np.eye(3), np.zeros((3, 1)))
    assert not weights.any()


@pytest.mark.parametrize(("n_terms", "ridge"), [(3, None), (0, 0.5), (2, 0.5)])
def test_wide_tables_have_the_weights_that_moments_give(n_terms, ridge):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(30, 90)) + generator.normal(size=90)
    targets = np.column_stack([X[:, 3] - X[:, 40], X[:, 7]]) + generator.normal(size=(30, 2))
    expected = StepwiseModel(n_terms, ridge=ridge).weights_of(*covariances(X, targets))
    assert expected.any()
    np.testing.assert_allclose(
        weights_of_wide(X, targets, n_terms, ridge), expected, rtol=1e-9, atol=1e-12
    )
