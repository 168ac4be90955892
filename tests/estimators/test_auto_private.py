"""One call from a table to the best private model of a list, or a constant, said aloud."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pacsklearn import (
    AutoPrivateClassifier,
    AutoPrivateRegressor,
    Guarantee,
    Identification,
    Membership,
    Nats,
    PACPrivate,
    Parameters,
    Student,
    Subsets,
)
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.priors import Expected, Range
from pacsklearn.tabular import AdditiveClassifier, Column, Schema
from pacsklearn.tabular.choosing import families
from pacsklearn.tabular.choosing.families import classifier_families, regressor_families, too_dear

FAMILIES = [make_pipeline(StandardScaler(), RidgeClassifier(alpha)) for alpha in (1e-2, 1e3)]
LINES = [make_pipeline(StandardScaler(), Ridge(alpha)) for alpha in (1.0, 100.0)]


def mixed(n: int = 300) -> tuple[pd.DataFrame, Any, Schema]:
    rng = np.random.default_rng(0)
    wards = rng.choice(["north", "south"], n)
    ages = rng.uniform(0, 100, n).round()
    y = np.where(ages + 40 * (wards == "north") + 10 * rng.normal(size=n) > 70, "ill", "well")
    ages[::9] = np.nan
    schema = Schema(
        [Column("age", low=0, high=100), Column("ward", "category", categories=("north", "south"))]
    )
    return pd.DataFrame({"age": ages, "ward": wards}), y, schema


def outcomes(auto: Any) -> int:
    """Number of possible outcomes that a guarantee states."""
    return int(dict(auto.guarantee_.details)["choice"].split()[2])


@pytest.fixture(scope="module")
def model(cancer: Any) -> AutoPrivateClassifier:
    return AutoPrivateClassifier(families=FAMILIES, n_subsets=16, budget=1 / 4).fit(*cancer)


def test_the_best_of_the_list_is_released(model: AutoPrivateClassifier, cancer: Any) -> None:
    assert model.released_estimator_.alpha == 1e3
    assert model.score(*cancer) > 0.85
    assert model.leaderboard_[0].mean > model.leaderboard_[1].mean
    assert model.guarantee_.posterior_membership == pytest.approx(0.838, abs=1e-3)
    assert f"ln 4 = {math.log(4):.4g}" in dict(model.guarantee_.details)["choice"]
    assert hasattr(model, "decision_function")
    assert not hasattr(model, "predict_proba")


def test_what_is_kept_holds_no_score_and_nothing_fitted_before(cancer: Any) -> None:
    fitted = [clone(FAMILIES[0]).fit(*cancer)]
    one = AutoPrivateClassifier(families=fitted, n_subsets=16, budget=1 / 4).fit(*cancer)
    kept = pickle.loads(pickle.dumps(one))
    assert not hasattr(kept, "leaderboard_")
    assert not hasattr(kept.families[0][-1], "coef_")
    assert np.array_equal(kept.predict(cancer[0]), one.predict(cancer[0]))
    assert f"{one.leaderboard_[0].mean:.3f}" not in repr(one) + str(one.guarantee_)


def test_a_constant_is_said_aloud_and_charges_nothing(cancer: Any) -> None:
    ledger = MemoryLedger(1.0)
    auto = AutoPrivateClassifier(families=FAMILIES, n_subsets=16, budget=1e-9, ledger=ledger)
    with pytest.warns(UtilityWarning, match="constant"):
        auto.fit(*cancer)
    assert ledger.spent == 0
    assert not ledger.events
    assert isinstance(auto.released_estimator_, DummyClassifier)
    assert np.all(auto.predict(cancer[0]) == 1)
    assert auto.released_estimator_.class_prior_.tolist() == [0.5, 0.5]  # of no row
    assert auto.guarantee_.spent == 0
    assert auto.guarantee_.posterior_membership == pytest.approx(0.5)
    assert "ln 4" in dict(auto.guarantee_.details)["choice"]  # two models, two classes
    assert Guarantee.from_json(auto.guarantee_.to_json()) == auto.guarantee_
    assert auto.leaderboard_[0].name == "a constant"
    with pytest.warns(UtilityWarning, match="constant"):
        auto.set_params(constant=0).fit(*cancer)
    assert "ln 3" in dict(auto.guarantee_.details)["choice"]  # that class was public


def test_a_doubtful_model_is_simulated_again_before_a_constant_is_released(cancer: Any) -> None:
    how = {"families": FAMILIES[1:], "n_subsets": 16, "subset_seed": 2}
    auto = AutoPrivateClassifier(budget=2e-4, **how).fit(*cancer)
    (score,) = auto.leaderboard_
    assert score.mean < 2 * score.standard_error  # a constant has 0: 32 releases leave it open
    assert auto.best_estimator_ is not None
    assert auto.plan(*cancer, n_releases=400).expected.mean > 0.05


def test_a_cap_is_another_promise(cancer: Any) -> None:
    auto = AutoPrivateClassifier(families=FAMILIES, n_subsets=16, budget=Membership(0.6)).fit(
        *cancer
    )
    assert auto.guarantee_.posterior_membership <= 0.6
    assert auto.guarantee_.capped


def test_a_constant_under_a_cap_gives_the_adversary_nothing(cancer: Any) -> None:
    blind = [make_pipeline(StandardScaler(), LogisticRegression(C=1e-12))]
    auto = AutoPrivateClassifier(families=blind, n_subsets=16, budget=Identification(0.2))
    with pytest.warns(UtilityWarning, match="charged"):
        auto.fit(*cancer)
    assert auto.guarantee_.spent == pytest.approx(1 / 16)
    assert auto.guarantee_.information == 0
    assert auto.guarantee_.posterior_identification == pytest.approx(1 / 16)


def test_mixed_tables_need_no_preprocessing() -> None:
    X, y, schema = mixed()
    auto = AutoPrivateClassifier(schema, n_subsets=16, budget=Nats(1.0)).fit(X, y)
    assert auto.score(X, y) > 0.75
    assert len(auto.leaderboard_) == len(classifier_families(schema, 2))
    assert any(score.name.startswith("AdditiveClassifier") for score in auto.leaderboard_)
    assert auto.classes_.tolist() == ["ill", "well"]
    assert auto.feature_names_in_.tolist() == ["age", "ward"]


def test_students_are_released_on_request() -> None:
    X, y, schema = mixed()
    auto = AutoPrivateClassifier(schema, students=True, n_subsets=8, budget=Nats(1.0)).fit(X, y)
    assert auto.score(X, y) > 0.7
    assert "whole table" in auto.guarantee_.headline
    assert "released privately" in dict(auto.guarantee_.details)["queries"]
    assert auto.leaderboard_ == ()


def test_students_of_three_classes_learn_of_an_svm() -> None:
    X, y, schema = mixed()
    y = np.where(X["age"] > 70, "old", y)
    auto = AutoPrivateClassifier(schema, students=True, n_subsets=8, budget=Nats(1.0))
    auto.set_params(release=Student(queries=X.sample(200, random_state=0))).fit(X, y)
    assert type(auto.best_estimator_[-1]) is SVC
    assert auto.score(X, y) > 0.75
    assert set(auto.predict(X)) == {"ill", "old", "well"}


def test_regressors_and_their_public_constant(iris: Any, sizes: Any) -> None:
    how = {"families": LINES, "n_subsets": 16}
    auto = AutoPrivateRegressor(budget=Nats(1.0), **how).fit(iris[0], sizes)
    assert auto.score(iris[0], sizes) > 0.5
    with pytest.raises(ValueError, match="constant"):
        AutoPrivateRegressor(budget=1e-9, **how).fit(iris[0], sizes)
    with pytest.warns(UtilityWarning, match="constant"):
        poor = AutoPrivateRegressor(budget=1e-9, constant=3.5, **how).fit(iris[0], sizes)
    assert set(poor.predict(iris[0])) == {3.5}


@pytest.mark.parametrize("given", [{}, {"value_range": (25.0, 325.0)}])
def test_regressors_are_drawn_toward_their_public_constant(given: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    how = {"budget": 1 / 64, "families": [LinearRegression()], "n_subsets": 32}
    drawn = AutoPrivateRegressor(constant=150.0, **how, **given).plan(X, y, n_releases=16)
    left = AutoPrivateRegressor(**how).plan(X, y, n_releases=16)
    within = Range(*given["value_range"]) if given else None
    same = PACPrivate(
        LinearRegression(),
        budget=1 / 64,
        release=Parameters(prior=Expected(150.0, within)),
        secret=Subsets(32),
    ).plan(X, y, n_releases=16, alternatives=False)
    assert left.expected.mean < -0.5 < 0 < drawn.expected.mean
    assert drawn.expected.mean == pytest.approx(same.expected.mean, abs=1e-9)


def test_the_list_has_a_regressor_for_a_small_budget_and_a_small_table() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    schema = Schema.template(X).confirm()
    auto = AutoPrivateRegressor(schema, constant=150.0, budget=1 / 16, n_subsets=64)
    plan = auto.plan(X, y, n_releases=24)
    assert plan.leaderboard[0].mean > 0.27  # .20 without lines of few columns, without the constant


def test_every_built_in_family_can_be_released(cancer: Any) -> None:
    schema = Schema(Column(f"x{i}", low=-3, high=3) for i in range(6))
    X, y = cancer[0][:100, :6], cancer[1][:100]
    for given in (None, schema):
        auto = AutoPrivateClassifier(given, n_subsets=8, budget=Nats(1.0)).fit(X, y)
        assert len(auto.leaderboard_) == len(classifier_families(given, 6))
        line = AutoPrivateRegressor(given, n_subsets=8, budget=Nats(1.0), constant=0.0)
        assert len(line.fit(X, X[:, 0]).leaderboard_) >= len(regressor_families(given, 6))
    assert any(isinstance(one, AdditiveClassifier) for one in classifier_families(schema, 6))


def test_plans_of_the_whole_list(cancer: Any) -> None:
    auto = AutoPrivateClassifier(families=FAMILIES, n_subsets=16)
    plan = auto.plan(*cancer, n_releases=2)
    assert len(plan.leaderboard) == 2
    assert plan.scoring == "matthews_corrcoef"


def test_what_is_refused(cancer: Any) -> None:
    with pytest.raises(NotFittedError):
        AutoPrivateClassifier().predict(cancer[0])
    with pytest.raises(ValueError, match="families"):
        AutoPrivateClassifier(families=[]).fit(*cancer)
    with pytest.raises(ValueError, match="students"):
        AutoPrivateClassifier(queries=cancer[0]).fit(*cancer)
    many = [LogisticRegression(C=C) for C in range(1, 66)]
    with pytest.raises(ValueError, match="at most 63"):
        AutoPrivateClassifier(families=many).fit(*cancer)


def test_a_table_that_the_list_cannot_read_is_refused_with_its_columns() -> None:
    table = pd.DataFrame({"age": np.arange(40.0), "ward": ["north", "south"] * 20})
    y = np.arange(40) % 2
    with pytest.raises(ValueError, match="AutoPrivateClassifier"):
        AutoPrivateClassifier(n_subsets=8).fit(table, y)
    table["ward"] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        AutoPrivateClassifier(n_subsets=8).plan(table, y)


@pytest.mark.parametrize(
    ("n_features", "n_classes", "left_out"),
    [(500, 30, 0), (501, 30, 3), (500, 31, 5), (501, 31, 6)],
    ids=str,
)
def test_shapes_leave_out_what_takes_minutes(
    n_features: int, n_classes: int, left_out: int
) -> None:
    listed = classifier_families(None, n_features)
    dear = [model for model in listed if too_dear(model, n_features, n_classes)]
    assert len(dear) == left_out
    kept = {type(model[-1]).__name__ for model in listed[:-1] if model not in dear}
    assert "LogisticRegression" in kept
    assert ("LinearDiscriminantAnalysis" in kept) == (n_features <= 500)
    assert ("StepwiseClassifier" in kept) == (n_classes <= 30)


def test_a_public_encoding_counts_by_what_it_gives() -> None:
    codes = tuple(f"c{i}" for i in range(600))
    listed = classifier_families(Schema([Column("code", "category", categories=codes)]), 1)
    dear = {type(model[-1]).__name__ for model in listed if too_dear(model, 1, 2)}
    assert dear == {"LinearDiscriminantAnalysis", "StepwiseClassifier"}
    # Solved term by term; of another make than what solves for all columns at once.
    assert not any(
        too_dear(model, 1, 2) for model in listed if isinstance(model, AdditiveClassifier)
    )


def test_what_was_left_out_stands_in_the_leaderboard(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(60, 6))
    y = (X[:, 0] > 0).astype(int)
    monkeypatch.setattr(families, "_MOST_EQUATIONS", 5)
    auto = AutoPrivateClassifier(n_subsets=8, budget=0.5, constant=0).fit(X, y)
    out = [score for score in auto.leaderboard_ if not score.scores]
    assert len(out) == 3
    assert math.isnan(out[0].mean)
    assert all(
        "each candidate would solve 6 equations, more than 5" in each.why_not for each in out
    )
    # What a shape leaves out is no option: it tells nothing of the rows.
    board = [score for score in auto.leaderboard_ if score.name != "a constant"]
    assert outcomes(auto) == len(board) - len(out) + 1  # and the constant


@pytest.mark.parametrize(("constant", "expected"), [(None, 2 + 2), (0, 2 + 1)])
def test_every_branch_states_the_same_number_of_outcomes(
    cancer: Any, constant: Any, expected: int
) -> None:
    two = [LogisticRegression(C=0.01, max_iter=1000), RidgeClassifier()]
    families = [make_pipeline(StandardScaler(), one) for one in two]
    won, lost = (
        AutoPrivateClassifier(
            families=families, constant=constant, budget=budget, n_subsets=16, subset_seed=0
        ).fit(*cancer)
        for budget in (0.5, 1e-9)
    )
    # The two calls end in different branches, which the stated number must not tell apart.
    assert won.best_estimator_ is not None
    assert lost.best_estimator_ is None
    assert outcomes(won) == outcomes(lost) == expected


def test_a_constant_takes_a_place_among_the_64_outcomes(cancer: Any) -> None:
    with pytest.raises(ValueError, match="families"):
        AutoPrivateClassifier(families=[LogisticRegression()] * 64).fit(*cancer)


def test_of_too_many_classes_one_constant_can_be_released() -> None:
    X = np.random.default_rng(0).normal(size=(140, 2))
    y = np.r_[np.repeat(np.arange(63), 2), np.full(14, 5)]
    auto = AutoPrivateClassifier(families=[GaussianNB()] * 2, n_subsets=8, budget=1e-9).fit(X, y)
    assert outcomes(auto) == 2 + 1
    assert set(auto.predict(X)) == {0}  # the most frequent class would tell which of 63 it is
