"""Rows one by one: figures against the audit's own, outliers that make a model expensive."""

from __future__ import annotations

import json

import numpy as np
import pytest
from pacsklearn_attacks.record_report import record_report
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import Answers, AutoPrivateClassifier, PACPrivate, Subsets, Tuned
from pacsklearn.audit.replay import replay_fit
from pacsklearn.plots import privacy_report
from pacsklearn.tabular import Column, Schema

generator = np.random.default_rng(0)
X = generator.standard_normal((60, 2))
y = X @ [1.0, -1.0] + 0.3 * generator.standard_normal(60)
OUTLIERS = (7, 30, 51)
# Far out, and each pulling its own way.
X[list(OUTLIERS)] = [[9.0, 0.0], [0.0, 9.0], [7.0, 7.0]]
y[list(OUTLIERS)] = [-40.0, 40.0, 60.0]


@pytest.fixture(scope="module")
def fitted():
    return PACPrivate(
        LinearRegression(), budget=1 / 4, secret=Subsets(64, blocks=None, seed=3)
    ).fit(X, y)


@pytest.fixture(scope="module")
def report(fitted):
    return record_report(fitted, X, y, n_lines=60, n_trials=300, n_without=4)


@pytest.mark.soak
def test_the_three_outliers_are_those_that_make_the_model_expensive(report):
    assert {line.unit for line in report.costly[:3]} == set(OUTLIERS)
    # Two of them are what more than half of the noise is for.
    assert [line.noise_without < 0.6 for line in report.costly[:3]] == [True, True, False]
    assert {line.unit for line in report.lines[:3]} == set(OUTLIERS)
    by_influence = sorted(report.lines, key=lambda line: -line.influence)
    assert {line.unit for line in by_influence[:3]} == set(OUTLIERS)


def test_figures_stand_in_the_order_they_must(report, fitted):
    assert report.n_units == len(report.lines) == 60
    guarantee = fitted.guarantee_
    for line in report.lines:
        assert line.bound == pytest.approx(guarantee.posterior_membership)
        assert 0.5 <= line.certified <= line.bound
        assert line.attack_low <= line.attack <= line.attack_high
        assert line.attack_low <= line.certified
    assert [line.certified for line in report.lines] == sorted(
        (line.certified for line in report.lines), reverse=True
    )


def test_influence_is_the_regression_of_the_outputs_on_membership(report, fitted):
    """Against least squares, unit by unit."""
    game = replay_fit(fitted, X, y)
    centres = game.plans[0].calibrate(game.prior).centres.astype(float)
    centres -= centres.mean(axis=0)
    for line in report.lines[:5]:
        design = np.column_stack([game.members[:, line.unit], np.ones(64)])
        fitted_values = design @ np.linalg.lstsq(design, centres, rcond=None)[0]
        assert line.influence == pytest.approx((fitted_values**2).sum() / (centres**2).sum())


def test_it_is_marked_as_the_curators_and_in_nothing_that_is_published(report, fitted):
    assert "CURATOR ONLY" in str(report)
    assert "CURATOR ONLY" in json.loads(report.to_json())["curator_only"]
    assert "influence" not in privacy_report(fitted, for_publication=True).to_json()


def test_groups_are_taken_out_as_a_whole():
    groups = np.arange(60) // 3
    model = PACPrivate(Ridge(), secret=Subsets(16)).fit(X, y, groups=groups)
    report = record_report(model, X, y, groups=groups, n_trials=20, n_without=2, n_lines=5)
    assert report.n_units == 20
    assert len(report.costly) == 2
    assert all(line.noise_without > 0 for line in report.costly)


@pytest.mark.parametrize("estimator", [Ridge(), Tuned(Ridge(), {"alpha": [1, 10]})])
def test_what_reads_a_table_by_a_schema_is_reported_on(estimator):
    words = np.where(X[:, :1] > 0, "high", "low").astype(object)
    schema = Schema([Column("x0", "category", categories=("high", "low"))])
    model = PACPrivate(estimator, secret=Subsets(8), schema=schema).fit(words, y)
    report = record_report(model, words, y, n_lines=2, n_trials=20, n_without=1)
    assert len(report.costly) == 1


def test_what_has_no_law_is_refused():
    labels = (y > 0).astype(int)
    model = PACPrivate(KNeighborsClassifier(3), release=Answers(5), secret=Subsets(16)).fit(
        X, labels
    )
    with pytest.raises(ValueError, match="parameters"):
        record_report(model, X, labels)
    model = PACPrivate(Ridge(), secret=Subsets(16)).fit(X, y)
    with pytest.raises(ValueError, match="value"):
        record_report(model, X, y, fit_params={"sample_weight": np.ones(60)})
    with pytest.raises(ValueError, match="level"):
        record_report(model, X, y, level=0)
    with pytest.raises(TypeError, match="PACPrivate"):
        record_report(Ridge().fit(X, y), X, y)


def test_what_chose_is_reported_on_by_what_it_released():
    X, y = load_iris(return_X_y=True)
    few = {"n_lines": 2, "n_trials": 20, "n_without": 0}
    how = {"families": [LinearDiscriminantAnalysis()], "secret": Subsets(16)}
    chose = AutoPrivateClassifier(budget=2.0, **how).fit(X, y)
    report = record_report(chose, X, y, **few)
    assert report == record_report(chose.private_, X, y, **few)
    constant = AutoPrivateClassifier(budget=1e-9, **how).fit(X, y)
    with pytest.raises(TypeError, match="public constant"):
        record_report(constant, X, y)


def test_a_sparse_table_is_reported_on():
    rows = csr_array(np.abs(X))
    model = PACPrivate(Ridge(), secret=Subsets(16)).fit(rows, y)
    assert len(record_report(model, rows, y, n_lines=2, n_trials=20, n_without=0).lines) == 2
