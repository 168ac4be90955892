"""The structure of a forest is a function of its parameters."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.tabular import FixedStructureForestClassifier
from pacsklearn.tabular.forests.structure import descend, forest_structure


def test_the_seed_decides_and_nothing_else() -> None:
    first, again, other = (
        forest_structure(FixedStructureForestClassifier(7, 3, random_state=seed), 5)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.order, again.order)
    np.testing.assert_array_equal(first.units, again.units)
    assert not np.array_equal(first.order, other.order)
    assert np.abs(first.units).max() <= 1


def test_features_are_asked_equally_often_and_once_a_tree() -> None:
    order = forest_structure(FixedStructureForestClassifier(10, 3), 6).order
    assert all(len(set(tree)) == 3 for tree in order.tolist())
    assert np.ptp(np.bincount(order.ravel(), minlength=6)) <= 1


def test_more_levels_than_features() -> None:
    structure = forest_structure(FixedStructureForestClassifier(2, 5), 2)
    assert set(structure.order.ravel()) == {0, 1}
    assert structure.features.shape == (2, 31)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"depth": 0}, "depth"),
        ({"depth": 11}, "depth"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"random_state": None}, "random_state"),
    ],
)
def test_bad_parameters(parameters: dict[str, object], message: str) -> None:
    estimator = FixedStructureForestClassifier(2, 2).set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        forest_structure(estimator, 3)


def test_descend() -> None:
    features = np.array([[0, 1, 1], [1, 0, 0]])
    thresholds = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0]])
    X = np.array([[0.0, 1.0], [0.0, 1.5], [0.5, 2.0], [0.5, 9.0]])
    np.testing.assert_array_equal(
        descend(X, features, thresholds), [[0, 0], [1, 0], [2, 1], [3, 3]]
    )
