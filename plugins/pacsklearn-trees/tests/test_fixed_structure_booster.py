"""Boosters with public splits: estimators, contract, release."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_trees import (
    FixedStructureBoosterClassifier,
    FixedStructureBoosterRegressor,
    FixedStructureCanonicalizer,
)
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import check_estimator

from pacsklearn import Nats, PACPrivate
from pacsklearn.plugins import registry
from pacsklearn.testing import check_canonicalizer

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)
DIABETES = load_diabetes(return_X_y=True)
SMALL = {"n_estimators": 12, "max_depth": 2}
CLASSIFIER = FixedStructureBoosterClassifier((-2, 2), **SMALL)
REGRESSOR = FixedStructureBoosterRegressor((-0.1, 0.1), **SMALL)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [FixedStructureBoosterClassifier, FixedStructureBoosterRegressor])
def test_they_are_scikit_learn_estimators(kind):
    check_estimator(kind((-3, 3)))


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (CLASSIFIER, (X, Y)),
        (clone(CLASSIFIER).set_params(reg_lambda=0.0, learning_rate=0.1), (X, Y)),
        (CLASSIFIER, (X, np.array(["benign", "malignant"])[Y])),
        (REGRESSOR, DIABETES),
        (clone(REGRESSOR).set_params(max_depth=7), DIABETES),
    ],
)
def test_it_keeps_the_contract(estimator, data):
    check_canonicalizer(FixedStructureCanonicalizer(), estimator, *data)


def test_they_learn():
    assert FixedStructureBoosterClassifier((-2, 2)).fit(X, Y).score(X, Y) > 0.95
    assert FixedStructureBoosterRegressor((-0.1, 0.1)).fit(*DIABETES).score(*DIABETES) > 0.4


def test_splits_are_public():
    structure = CLASSIFIER.structure(30)
    again = clone(CLASSIFIER).structure(30)
    np.testing.assert_array_equal(structure.features, again.features)
    np.testing.assert_array_equal(structure.thresholds, again.thresholds)
    other = clone(CLASSIFIER).set_params(structure_seed=1).structure(30)
    assert not np.array_equal(structure.thresholds, other.thresholds)
    assert np.all(np.abs(structure.thresholds) <= 2)


def test_every_leaf_is_a_cell_of_the_box():
    structure = FixedStructureBoosterRegressor((0, [1, 10]), max_depth=3).structure(2)
    rows = np.random.default_rng(0).uniform(size=(20_000, 2)) * [1, 10]
    reached = [np.unique(leaves).size for leaves in structure.leaves(rows)]
    assert np.mean(reached) > 7


def test_one_round_is_xgboosts_newton_step():
    model = clone(CLASSIFIER).set_params(n_estimators=1).fit(X, Y)
    (leaves,) = model.structure(30).leaves(X)
    share = Y.mean()
    for leaf, value in enumerate(model.leaf_values_[0]):
        inside = leaves == leaf
        curvature = inside.sum() * share * (1 - share) + 1.0
        np.testing.assert_allclose(value, 0.3 * (Y - share)[inside].sum() / curvature, atol=1e-12)


@pytest.mark.parametrize("ranges", [None, 3, (1, 0), (0, np.inf), ([0, 1], 2), ("a", "b")])
def test_ranges_are_a_box(ranges):
    with pytest.raises(ValueError, match="feature_ranges"):
        FixedStructureBoosterClassifier(ranges).fit(X, Y)


def test_sizes_are_positive():
    with pytest.raises(ValueError, match="least"):
        FixedStructureBoosterClassifier((-2, 2), max_depth=0).fit(X, Y)


def test_a_release():
    assert isinstance(registry().canonicalizer_for(CLASSIFIER), FixedStructureCanonicalizer)
    private = PACPrivate(CLASSIFIER, budget=Nats(1.0)).fit(X, Y)
    assert private.score(X, Y) > 0.85
    assert "leaf_values_" in str(private.guarantee_)
    released = private.released_estimator_
    assert not np.allclose(released.leaf_values_, clone(CLASSIFIER).fit(X, Y).leaf_values_)
    private = PACPrivate(REGRESSOR, budget=Nats(1.0)).fit(*DIABETES)
    assert private.predict(DIABETES[0]).shape == (442,)
