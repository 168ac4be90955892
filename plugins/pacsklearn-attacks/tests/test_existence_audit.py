"""Rows taken out of the universe: what is certain, what is random, what nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_attacks.existence_audit import existence_audit
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier

X, y = load_iris(return_X_y=True)


def test_a_model_of_all_rows_shows_each_of_them_and_a_constant_none():
    assert existence_audit(Ridge(), X, y, n_rows=20).n_changed == 20
    audit = existence_audit(lambda rows: np.array([1.0]), X, n_rows=20)
    assert audit.n_changed == 0
    assert audit.changed().low == 0
    assert existence_audit(DummyClassifier(strategy="constant", constant=0), X, y).n_changed > 0


def test_the_share_is_that_of_the_rows_that_matter():
    """The largest of a column: one row of all, unless there are ties."""
    column = np.random.default_rng(0).permutation(60).astype(float)
    audit = existence_audit(lambda rows: column[rows].max(), column[:, None], n_rows=60)
    assert (audit.n_tried, audit.n_changed) == (60, 1)


@pytest.mark.parametrize(("noise", "low", "high"), [(0.001, 0.95, 1.0), (50.0, 0.35, 0.65)])
def test_what_is_random_is_attacked(noise, low, high):
    generator = np.random.default_rng(0)

    def make(rows):
        return X[rows].sum(axis=0) + noise * generator.standard_normal(4)

    audit = existence_audit(make, X, n_trials=200)
    assert audit.n_changed is None
    assert audit.changed() is None
    assert low <= audit.attack.success <= high
    assert "guessing blindly" in str(audit)


def test_trees_are_published_too():
    tree = DecisionTreeClassifier(random_state=0)
    assert existence_audit(tree, X, y, n_rows=10).n_changed == 10


def test_a_random_tree_is_asked_about_the_row():
    """Both neighbours of a row have the other label: a tree has the row's own by the row alone."""
    numbers = np.arange(40)
    tree = DecisionTreeClassifier(splitter="random")
    attack = existence_audit(tree, numbers[:, None], numbers % 2, n_trials=20).attack
    assert attack.success == 1


def test_models_that_publish_another_number_of_numbers_are_attacked():
    """Labels of the rows are one fewer without a row: numpy refused them, unequally many."""
    attack = existence_audit(KMeans(4, init="random", n_init=1), X, n_trials=40).attack
    assert attack.success == 1


@pytest.mark.parametrize("unknown", [np.nan, np.inf])
def test_what_is_published_without_a_number_is_no_obstacle(unknown):
    generator = np.random.default_rng(0)

    def make(rows):
        return np.array([len(rows) + 0.001 * generator.standard_normal(), unknown])

    assert existence_audit(make, X, n_trials=40).attack.success == 1


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="n_rows"):
        existence_audit(Ridge(), X, y, n_rows=0)
    with pytest.raises(ValueError, match="random_state"):
        existence_audit(Ridge(), X, y, random_state=-1)
    with pytest.raises(ValueError, match="inconsistent"):
        existence_audit(Ridge(), X, y[:5])
