"""A row that a candidate does not hold leaves its model as it is, however far away the row is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import (
    ElasticNet,
    GammaRegressor,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from pacsklearn.joint import gaussian_mixture, joint_minimiser, kmeans
from pacsklearn.secrets import balanced_space
from pacsklearn.tabular import (
    AdditiveClassifier,
    AdditiveRegressor,
    FixedStructureForestClassifier,
    FixedStructureForestRegressor,
    StepwiseClassifier,
    StepwiseRegressor,
)
from tests.joint.together import together

M, N = 8, 400
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(N, 4)) * [1.0, 2.0, 0.1, 5.0] + [0.0, 3.0, 1.0, 10.0]
DECISION = (X - X.mean(axis=0)) @ [1.0, -0.3, 3.0, 0.1]
TWO = (DECISION + GENERATOR.logistic(size=N) > 0).astype(int)
THREE = np.digitize(DECISION + GENERATOR.logistic(size=N), [-1.0, 1.0])
SCORES = DECISION + GENERATOR.standard_t(3, size=N)
AMOUNTS = GENERATOR.gamma(2.0, np.exp(0.3 * DECISION) / 2)
SPACE = balanced_space(N, n_subsets=M, strata=THREE)
ROW = int(np.setdiff1d(np.arange(N), SPACE.rows(0))[0])
OTHERS = [i for i in range(M) if ROW not in SPACE.rows(i)]
RANGE = {"feature_range": (-20.0, 40.0)}

TABLED = make_column_transformer(
    (OneHotEncoder(categories=[[0.0]], handle_unknown="ignore"), [0]), remainder="passthrough"
)
SCALED = make_column_transformer(
    (OneHotEncoder(categories=[[0.0]], handle_unknown="ignore"), [0]), remainder=StandardScaler()
)

CONVEX = [
    (LogisticRegression(), TWO),
    (LogisticRegression(C=100.0, class_weight="balanced"), TWO),
    (LogisticRegression(fit_intercept=False), TWO),
    (LogisticRegression(), THREE),
    (LinearSVC(C=0.1), TWO),
    (LinearSVC(), THREE),
    (LinearSVR(loss="squared_epsilon_insensitive", dual=False, epsilon=0.2), SCORES),
    (PoissonRegressor(), AMOUNTS),
    (GammaRegressor(), AMOUNTS),
    (TweedieRegressor(power=1.5), AMOUNTS),
    (HuberRegressor(), SCORES),
    (make_pipeline(StandardScaler(), LogisticRegression()), TWO),
    (make_pipeline(StandardScaler(), LinearSVC()), TWO),
    (make_pipeline(StandardScaler(), PoissonRegressor()), AMOUNTS),
    (make_pipeline(PolynomialFeatures(2), StandardScaler(), LogisticRegression()), TWO),
    (make_pipeline(TABLED, LogisticRegression()), TWO),
    (make_pipeline(SCALED, LogisticRegression()), TWO),
]
MODELS = [
    *CONVEX,
    (AdditiveClassifier(n_bins=4, **RANGE), THREE),
    (AdditiveRegressor(**RANGE), SCORES),
    # These take part bit by bit.
    (LinearRegression(), SCORES),
    (Ridge(), SCORES),
    (Lasso(alpha=0.01), SCORES),
    (ElasticNet(alpha=0.01), SCORES),
    (RidgeClassifier(class_weight="balanced"), THREE),
    (GaussianNB(), THREE),
    (LinearDiscriminantAnalysis(), THREE),
    (NearestCentroid(), THREE),
    (PCA(2), TWO),
    (StandardScaler(), TWO),
    (KMeans(3, n_init=1, random_state=0), TWO),
    (GaussianMixture(2, random_state=0, covariance_type="diag"), TWO),
    (GaussianMixture(2, random_state=0, covariance_type="tied"), TWO),
    (GaussianMixture(2, random_state=0), TWO),
    (StepwiseClassifier(), THREE),
    (make_pipeline(StandardScaler(), StepwiseClassifier(2, ridge=0.5)), TWO),
    (StepwiseRegressor(), SCORES),
    (make_pipeline(StandardScaler(), Ridge()), SCORES),
    (make_pipeline(StandardScaler(), GaussianNB()), THREE),
    (make_pipeline(PolynomialFeatures(2), Ridge()), SCORES),
    (make_pipeline(RBFSampler(gamma=0.1, n_components=9, random_state=0), Ridge()), SCORES),
    (FixedStructureForestClassifier(n_estimators=5), THREE),
    (FixedStructureForestRegressor(n_estimators=5), SCORES),
]
# No Hessian of these models has a smaller condition: features' squares are 1 to 2,500.
KAPPA = 100.0
# Not numbers of a release: how the fit went, and one number a row.
PASSED_OVER = (
    "n_iter_",
    "labels_",
    "outliers_",
    "dual_gap_",
    "lower_bounds_",
    "train_score_",
    "transformers_",
)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (gaussian_mixture, kmeans):
        monkeypatch.setattr(module, "_LEAST_WORK", 0)


def numbers(model: Any) -> list[Any]:
    """All numbers that a model learned, of trees its answers."""
    found = []
    for step in [one for _, one in getattr(model, "steps", [("", model)])]:
        if hasattr(step, "estimators_") or hasattr(step, "is_categorical_"):
            answer = step.predict_proba if is_classifier(step) else step.predict
            found.append(np.ravel(answer(X)))
            continue
        for name, value in sorted(vars(step).items()):
            is_learned = name.endswith("_") and not name.startswith("_")
            if is_learned and name not in PASSED_OVER and np.asarray(value).dtype.kind == "f":
                found.append(np.ravel(value))
    return found


def bounds(models: list[list[Any]]) -> list[Any]:
    """The rule's bound for each number."""
    each = [np.array(values) for values in zip(*models, strict=True)]
    sizes = [64 * KAPPA * 2.0**-53 * np.abs(values).max(axis=1).min() for values in each]
    return [
        np.maximum(1e-9 * values.std(axis=0), size)
        for values, size in zip(each, sizes, strict=True)
    ]


def moved(estimator: Any, table: Any, targets: Any) -> tuple[float, float]:
    """How far models without the row move at most, in the rule's bound; and the largest bound."""
    before = [numbers(model) for model in together(estimator, X, y_of(estimator), SPACE)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of those with the row; a fit shows none
        after = together(estimator, table, targets, SPACE)
    bound, far = bounds(before), 0.0
    for i in OTHERS:
        assert after[i] is not None
        for one, other, most in zip(before[i], numbers(after[i]), bound, strict=True):
            change = np.abs(other - one)
            assert np.all(change[most == 0] == 0)
            far = max(far, float(np.max(change / np.where(most > 0, most, 1.0), initial=0.0)))
    return far, max(float(one.max(initial=0.0)) for one in bound)


def y_of(estimator: Any) -> Any:
    return next(y for one, y in MODELS if one is estimator)


@pytest.mark.product(only=15)
@pytest.mark.parametrize("value", [1e6, 1e200, np.nan])
@pytest.mark.parametrize(
    "estimator", [one for one, _ in MODELS], ids=lambda one: "".join(repr(one).split())[:60]
)
def test_a_far_row_of_others_moves_nothing(estimator: Any, value: float) -> None:
    y = y_of(estimator)
    tables = [(X.copy(), y), (X.copy(), y)]
    tables[0][0][ROW, 0] = tables[1][0][ROW] = value
    if y.dtype.kind == "f":
        tables.append((X, y.copy()))
        tables[-1][1][ROW] = value
    for table, targets in tables:
        change, bound = moved(estimator, table, targets)
        print(f"moved by {change:.1e} of the bound, which is {bound:.1e} at most")  # noqa: T201 - both, for a record
        assert change <= 1.0


@pytest.mark.product(only=6)
@pytest.mark.parametrize(
    "estimator", [one for one, _ in CONVEX], ids=lambda one: "".join(repr(one).split())[:60]
)
def test_solved_together_or_alone_is_one_model(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever solver serves a candidate, the rule's bound holds between them."""
    y = y_of(estimator)
    jointly = [numbers(model) for model in together(estimator, X, y, SPACE)]
    monkeypatch.setattr(joint_minimiser, "_STOPS", (1, 2))
    alone = [numbers(model) for model in together(estimator, X, y, SPACE)]
    changes = [
        np.abs(one - other) / np.where(bound > 0, bound, 1.0)
        for mine, theirs in zip(jointly, alone, strict=True)
        for one, other, bound in zip(mine, theirs, bounds(jointly), strict=True)
    ]
    assert 0 < max(float(change.max()) for change in changes) <= 1.0


@pytest.mark.parametrize("value", [1e6, 1e9])
@pytest.mark.parametrize("n", [N, 40])
def test_a_candidate_that_holds_a_far_row_is_solved_as_far_as_the_others(
    value: float, n: int
) -> None:
    """The gradient of the penalised loss, by hand: with more rows than features, and fewer."""
    table = np.hstack([X[:n], np.random.default_rng(1).normal(size=(n, 20))])
    table[ROW if n > ROW else 0, 0] = value
    space = balanced_space(n, n_subsets=M, strata=TWO[:n])
    for i, model in enumerate(together(LogisticRegression(), table, TWO[:n], space)):
        rows = space.rows(i)
        decision = table[rows] @ model.coef_[0] + model.intercept_
        slope = 1 / (1 + np.exp(-decision)) - TWO[rows]
        pull = table[rows].T @ slope + model.coef_[0]
        size = np.abs(table[rows]).T @ np.abs(slope)
        assert np.all(np.abs(pull) <= 1e-9 * size)
        assert abs(slope.sum()) <= 1e-9 * np.abs(slope).sum()
