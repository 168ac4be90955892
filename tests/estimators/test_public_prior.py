"""Regressors that are no worse than a public constant."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import VotingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pacsklearn import Answers, PACPrivate, Parameters, PrivacySession, Subsets
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.plugins import registry
from pacsklearn.priors import Expected, Range
from pacsklearn.tabular import AdditiveRegressor, Column, Schema

pytestmark = [
    pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning"),
    pytest.mark.usefixtures("all_rehearsals"),
]
MEAN = 150.0


def fitted(estimator: Any, budget: float, **how: Any) -> tuple[PACPrivate, Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    how = {"random_state": 0, "secret": Subsets(64), **how}
    return PACPrivate(clone(estimator), budget=budget, **how).fit(X, y), X, y


def score(y: Any, predicted: Any) -> float:
    return float(1 - np.sum((y - predicted) ** 2) / np.sum((y - MEAN) ** 2))


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.UtilityWarning")
def test_noise_that_drowns_everything_leaves_the_public_constant() -> None:
    drowned, X, y = fitted(LinearRegression(), 1e-9)
    assert score(y, drowned.predict(X)) < -100
    model, X, y = fitted(LinearRegression(), 1e-9, release=Parameters(prior=Expected(MEAN)))
    assert model.predict(X) == pytest.approx(MEAN, abs=1.0)
    by_range, X, _ = fitted(LinearRegression(), 1e-9, release=Parameters(prior=Range(0, 300)))
    assert np.array_equal(by_range.predict(X), model.predict(X))


def test_a_regressor_that_noise_dominates_asks_for_a_prior() -> None:
    with pytest.warns(UtilityWarning, match="prior="):
        fitted(LinearRegression(), 1e-3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted(LinearRegression(), 1e-3, release=Parameters(prior=Expected(MEAN)))
    assert not any("prior=" in str(each.message) for each in caught)


@pytest.mark.soak
def test_a_released_regressor_is_better_than_the_constant_where_noise_dominates() -> None:
    X, y = load_diabetes(return_X_y=True)
    session_scores = []
    for seed in range(6):
        with PrivacySession(X, y, budget=1 / 16, random_state=seed, secret=Subsets(64)) as session:
            plan = session.prepare(LinearRegression(), prior=Expected(MEAN))
            model = session.take(plan, certify=False).value
        session_scores.append(score(y, model.predict(X)))
    assert np.mean(session_scores) > 0.1


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        PoissonRegressor(),
        make_pipeline(StandardScaler(), Ridge()),
        make_pipeline(SimpleImputer(), StandardScaler(), PoissonRegressor()),
        GridSearchCV(Ridge(), {"alpha": [1, 9]}, cv=2),
        VotingRegressor([("a", Ridge()), ("b", make_pipeline(StandardScaler(), Ridge(5)))]),
    ],
    ids=["ridge", "poisson", "pipeline", "imputed", "search", "votes"],
)
def test_the_constant_of_a_kind_of_regressor_predicts_it(estimator: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    canonicalizer = registry().canonicalizer_for(estimator)
    vector, layout = canonicalizer.encode(clone(estimator).fit(X, y), X)
    constant = canonicalizer.constant(layout, 70.0, clone(estimator))
    assert constant is not None
    asked = np.where(np.isnan(constant.vector), vector, constant.vector)
    model = canonicalizer.decode(asked, layout, clone(estimator))
    assert model.predict(X) == pytest.approx(70.0)
    assert constant.slope == (70.0 if "Poisson" in str(estimator) else 1.0)


def test_several_targets_and_additive_models_have_a_constant_too() -> None:
    X, y = load_diabetes(return_X_y=True)
    several = MultiOutputRegressor(Ridge())
    canonicalizer = registry().canonicalizer_for(several)
    _, layout = canonicalizer.encode(clone(several).fit(X, np.column_stack([y, -y])), X)
    constant = canonicalizer.constant(layout, 7.0, clone(several))
    assert constant is not None
    assert canonicalizer.decode(constant.vector, layout, clone(several)).predict(X) == (
        pytest.approx(7.0)
    )
    schema = Schema([Column("x0", low=0, high=1)])
    additive = AdditiveRegressor(schema)
    rows = np.linspace(0, 1, 50)[:, None]
    canonicalizer = registry().canonicalizer_for(additive)
    _, layout = canonicalizer.encode(clone(additive).fit(rows, rows[:, 0]), rows)
    constant = canonicalizer.constant(layout, 7.0, clone(additive))
    assert constant is not None
    assert canonicalizer.decode(constant.vector, layout, clone(additive)).predict(rows) == (
        pytest.approx(7.0)
    )


def test_classifiers_have_none() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="prior"):
        PACPrivate(
            LogisticRegression(), release=Parameters(prior=Expected(1.0)), random_state=0
        ).fit(X, y)


def test_a_log_link_needs_a_mean_above_zero() -> None:
    with pytest.raises(ValueError, match="predicts"):
        fitted(PoissonRegressor(), 1 / 4, release=Parameters(prior=Range(-10, 5)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_without_a_constant_refuse_a_prior() -> None:
    network = MLPRegressor(hidden_layer_sizes=(2,), max_iter=5)
    with pytest.raises(ValueError, match="about"):
        fitted(network, 1.0, release=Parameters(prior=Expected(3.0)), secret=Subsets(4))


@pytest.mark.soak
def test_answers_are_drawn_toward_the_prior() -> None:
    tree = DecisionTreeRegressor(max_depth=6, random_state=0)
    model, X, y = fitted(tree, 4.0, release=Answers(60, prior=Expected(MEAN, Range(0, 350))))
    assert score(y[:60], model.predict(X[:60])) > 0
    wide, _, _ = fitted(tree, 4.0, release=Answers(60, prior=Expected(MEAN, Range(-1e5, 1e5))))
    assert score(y[:60], wide.predict(X[:60])) < -0.5  # what such a range leaves of the noise
    assert np.array_equal(model.predict(X[:60]), model.predict(X[:60]))
