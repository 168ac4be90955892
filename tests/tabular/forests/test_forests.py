"""The two estimators: scikit-learn's checks and their own parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

from pacsklearn.tabular import FixedStructureForestClassifier, FixedStructureForestRegressor
from tests.scikit_learn_checks import checks_of, run

FORESTS = [
    FixedStructureForestClassifier(),
    FixedStructureForestRegressor(),
    FixedStructureForestClassifier(30, 2, thresholds="random"),
    FixedStructureForestRegressor(thresholds="random", target_range=(-1e6, 1e6)),
]


@run(checks_of({repr(forest): clone(forest) for forest in FORESTS}))
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_thresholds_lie_on_the_public_grid() -> None:
    X, y = load_iris(return_X_y=True)
    forest = FixedStructureForestClassifier(feature_range=(0, 8), step=0.25).fit(X, y)
    assert np.isin(forest.thresholds_, np.linspace(0, 8, 9)).all()
    random = clone(forest).set_params(thresholds="random").fit(X[:100], y[:100])
    np.testing.assert_array_equal(random.thresholds_, clone(random).fit(X[50:], y[50:]).thresholds_)


def test_learned_thresholds_follow_the_units_of_the_features() -> None:
    X, y = load_iris(return_X_y=True)
    scale = np.array([1e-3, 1.0, 10.0, 1e6])
    forest = FixedStructureForestClassifier().fit(X, y)
    scaled = FixedStructureForestClassifier().fit(X * scale - 5, y)
    np.testing.assert_array_equal(forest.apply(X), scaled.apply(X * scale - 5))


def test_a_forest_learns() -> None:
    X, y = load_iris(return_X_y=True)
    assert FixedStructureForestClassifier(5, 3, penalty=0).fit(X, y).score(X, y) > 0.93
    random = FixedStructureForestClassifier(60, 4, thresholds="random", feature_range=(0, 8))
    assert random.fit(X, y).score(X, y) > 0.9
    X, y = load_diabetes(return_X_y=True)
    assert FixedStructureForestRegressor(20, 4).fit(X, y).score(X, y) > 0.4


def test_balanced_classes() -> None:
    X, y = load_iris(return_X_y=True)
    rare = np.flatnonzero((y == 1) | ((y == 2) & (np.arange(150) % 5 == 0)))
    X, y = X[rare], y[rare]
    weights = np.where(y == 2, 5.0, 1.0)
    balanced = FixedStructureForestClassifier(class_weight="balanced").fit(X, y)
    alike = FixedStructureForestClassifier(class_weight=None)
    weighted = alike.fit(X, y, weights * y.size / 100)
    np.testing.assert_allclose(balanced.leaf_values_, weighted.leaf_values_, atol=1e-12)
    rooted = FixedStructureForestClassifier().fit(X, y)
    weighted = alike.fit(X, y, np.sqrt(weights * y.size / 100))
    np.testing.assert_allclose(rooted.leaf_values_, weighted.leaf_values_, atol=1e-12)


def test_one_class_in_five_is_named_by_default() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(2000, 6))
    score = X[:, 0] + 0.7 * X[:, 1] + 0.5 * generator.normal(size=2000)
    y = score > np.quantile(score, 0.8)
    train, test = slice(0, 1000), slice(1000, None)
    unweighted = FixedStructureForestClassifier(class_weight=None).fit(X[train], y[train])
    assert unweighted.predict(X[test]).mean() < 0.02
    forest = FixedStructureForestClassifier().fit(X[train], y[train])
    assert 0.1 < forest.predict(X[test]).mean() < 0.3
    assert forest.score(X[test], y[test]) > max(0.82, unweighted.score(X[test], y[test]))


def test_the_target_range_bounds_predictions() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = FixedStructureForestRegressor(target_range=(100, 200)).fit(X, y)
    assert 100 <= forest.predict(X).min() < forest.predict(X).max() <= 200
    far = FixedStructureForestRegressor(target_range=(0, 1e4), prior_count=1e9).fit(X, y)
    np.testing.assert_allclose(far.predict(X), 5000, rtol=1e-3)


def test_large_targets_keep_their_digits() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = FixedStructureForestRegressor(step=0.3).fit(X, y)
    shifted = FixedStructureForestRegressor(step=0.3).fit(X, y + 1e9)
    np.testing.assert_allclose(forest.thresholds_, shifted.thresholds_)
    np.testing.assert_allclose(forest.predict(X), shifted.predict(X) - 1e9, atol=1e-4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"thresholds": "best"}, "thresholds"),
        ({"step": 0}, "step"),
        ({"smoothing": 1.5}, "smoothing"),
        ({"penalty": -1}, "penalty"),
        ({"penalty": np.inf}, "penalty"),
        ({"prior_count": None}, "prior_count"),
        ({"feature_range": (1, 1)}, "feature_range"),
        ({"feature_range": 3}, "feature_range"),
        ({"feature_range": ([0, 0], [1, 1])}, "feature_range"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    for kind in (FixedStructureForestClassifier, FixedStructureForestRegressor):
        with pytest.raises(ValueError, match=message):
            kind(**parameters).fit(X, y)


def test_bad_target_ranges_and_weights() -> None:
    X, y = load_diabetes(return_X_y=True)
    for bad in ((1, 1), 3, (0, np.inf)):
        with pytest.raises(ValueError, match="target_range"):
            FixedStructureForestRegressor(target_range=bad).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight"):
        FixedStructureForestRegressor().fit(X, y, np.full(y.size, -1.0))
