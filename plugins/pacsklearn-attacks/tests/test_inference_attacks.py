"""Properties, attributes, records: the mechanism itself and a planted leak."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_attacks import PropertyAttack, RecordAttack
from pacsklearn_attacks.inserting_attacks import (
    AttributeAttack,
    blind_class,
    is_class_right,
    likeliest_class,
)
from pacsklearn_attacks.record_attack import record_game
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline

from pacsklearn import PACPrivate, Subsets
from pacsklearn.audit import run_audit
from pacsklearn.audit.game import Round
from pacsklearn.testing import example_games
from tests.audit.broken import TooQuiet

X, y = load_iris(return_X_y=True)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("attack", ["property", "attribute"])
def test_a_sound_release_passes_and_a_planted_leak_is_caught(attack):
    verdicts = []
    for noise in ("auto", TooQuiet()):
        model = PACPrivate(RidgeClassifier(), budget=1 / 16, noise=noise, secret=Subsets(16)).fit(
            X, y
        )
        audit = run_audit(model, X, y, attacks=[attack], n_trials=100)
        verdicts.append(audit.passed)
    assert verdicts == [True, False]


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("estimator", "targets"), [(LinearRegression(), X[:, 3]), (Ridge(), X[:, 3]), (PCA(2), None)]
)
def test_records_are_reconstructed_from_the_leak_alone(estimator, targets):
    verdicts = []
    for noise in ("auto", TooQuiet()):
        game = record_game(estimator, X[:, :3], targets, n_records=12, budget=1 / 16, noise=noise)
        verdicts.append(RecordAttack().run(game, 200, 0).violates())
    assert verdicts == [False, True]


def test_classes_are_named_by_their_mass():
    codes, belief = np.array([0, 1, 1, 2]), np.array([0.4, 0.3, 0.2, 0.1])
    assert likeliest_class(belief, codes) == 1
    assert blind_class(belief, codes) == pytest.approx(0.5)
    assert is_class_right(Round(2, belief), codes)
    assert not is_class_right(Round(0, belief), codes)
    assert is_class_right(Round(0, belief, None, (1,)), codes)


def test_versions_differ_in_one_attribute():
    more, labels, groups, units = AttributeAttack(2).insert(None, X, y, np.arange(150) // 2, 0)
    assert units == (75, 76)
    assert groups[150:].tolist() == [75, 76]
    low, high = more[150:]
    np.testing.assert_allclose(np.delete(low, 2), np.delete(high, 2))
    assert high[2] - low[2] == pytest.approx(4 * X[:, 2].std())
    assert labels[150] == labels[151]


def test_what_cannot_be_played_is_named():
    with pytest.raises(ValueError, match="features"):
        PropertyAttack().run(example_games().sound, 10, 0)
    with pytest.raises(ValueError, match="models"):
        RecordAttack().run(example_games().sound, 10, 0)
    with pytest.raises(ValueError, match="column"):
        AttributeAttack(9).insert(None, X, y, None, 0)


def test_a_property_of_a_column_with_gaps_is_found():
    """Its mean over the rows used was NaN, and nothing was guessed: the leak passed."""
    rows = np.where(np.arange(150)[:, None] % 7 == np.arange(4), np.nan, X)
    model = PACPrivate(
        make_pipeline(SimpleImputer(), Ridge()), noise=TooQuiet(), secret=Subsets(16)
    ).fit(rows, y)
    assert not run_audit(model, rows, y, attacks=["property"], n_trials=100).passed


@pytest.mark.parametrize("attack", ["quantile", "label_only", "canaries", "attribute"])
def test_a_column_without_any_number_is_no_obstacle(attack):
    """Its quantiles could not be learnt, an error of numpy; its mean warned."""
    rows = X.copy()
    rows[:, 0] = np.nan
    steps = SimpleImputer(keep_empty_features=True), RidgeClassifier()
    model = PACPrivate(make_pipeline(*steps), secret=Subsets(16)).fit(rows, y)
    assert run_audit(model, rows, y, attacks=[attack], n_trials=20).passed
