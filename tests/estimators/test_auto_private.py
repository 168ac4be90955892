"""One call from a table to the best private model of a list, or a constant, said aloud."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
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
    Student,
    Subsets,
)
from pacsklearn.exceptions import SubsetFitError, UtilityWarning
from pacsklearn.kernel.guarantee.status import Reliance
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.release.parameters import ParameterPlan
from pacsklearn.priors import Constant, Expected, Range
from pacsklearn.tabular import AdditiveClassifier, Column, Schema, StepwiseClassifier
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
def rare() -> Any:
    """One row in twenty is of the second class."""
    return make_classification(
        1200, 10, n_informative=4, weights=[0.95], flip_y=0.01, random_state=3
    )


@pytest.fixture(scope="module")
def model(cancer: Any) -> AutoPrivateClassifier:
    return AutoPrivateClassifier(families=FAMILIES, secret=Subsets(16), budget=1 / 4).fit(*cancer)


def test_the_best_of_the_list_is_released(model: AutoPrivateClassifier, cancer: Any) -> None:
    assert model.released_estimator_.alpha == 1e3
    assert model.score(*cancer) > 0.7
    assert model.verdict_.options[0].mean > model.verdict_.options[1].mean
    assert model.guarantee_.posterior_membership == pytest.approx(0.838, abs=1e-3)
    assert f"ln 3 = {math.log(3):.4g}" in dict(model.guarantee_.details)["choice"]
    assert hasattr(model, "decision_function")
    assert not hasattr(model, "predict_proba")


def test_a_threshold_by_stated_costs_decides_around_what_is_released(rare: Any) -> None:
    """A miss costs 20 alarms: alarm from 1/21 on, by a model that is fitted inside or released."""
    X, y = rare
    threshold = 1 / (1 + 20)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
    how = {"secret": Subsets(16, seed=0), "budget": 1 / 4}
    for private in (PACPrivate(logistic, **how), AutoPrivateClassifier(families=[logistic], **how)):
        decision = FixedThresholdClassifier(private, threshold=threshold).fit(X, y)
        released = decision.estimator_.released_estimator_
        alarmed = decision.predict(X)
        assert np.array_equal(alarmed, released.predict_proba(X)[:, 1] >= threshold)
        assert np.sum(alarmed) > np.sum(released.predict(X))
        published = FixedThresholdClassifier(released, threshold=threshold)  # needs no fit
        assert np.array_equal(published.predict(X), alarmed)


@pytest.mark.parametrize(
    ("families", "probable"),
    [
        (None, True),
        ([LogisticRegression()], True),
        ([LogisticRegression(), RidgeClassifier()], False),
        (Student(), False),
    ],
)
def test_before_a_fit_it_has_probabilities_where_all_that_may_be_released_has(
    families: Any, probable: bool, cancer: Any
) -> None:
    auto = AutoPrivateClassifier(families=families)
    assert hasattr(auto, "predict_proba") == probable
    if probable:
        with pytest.raises(NotFittedError):
            auto.predict_proba(cancer[0])


def test_what_is_kept_holds_no_score_and_nothing_fitted_before(cancer: Any) -> None:
    fitted = [clone(FAMILIES[0]).fit(*cancer)]
    one = AutoPrivateClassifier(families=fitted, secret=Subsets(16), budget=1 / 4).fit(*cancer)
    kept = pickle.loads(pickle.dumps(one))
    assert not hasattr(kept, "verdict_")
    assert not hasattr(kept.families[0][-1], "coef_")
    assert np.array_equal(kept.predict(cancer[0]), one.predict(cancer[0]))
    assert "verdict_" not in one._repr_html_()
    assert "verdict_" not in one._repr_mimebundle_()["text/html"]
    assert f"{one.verdict_.expected.mean:.3f}" not in repr(one) + str(one.guarantee_)


def test_a_constant_is_said_aloud_and_charges_nothing(cancer: Any) -> None:
    ledger = MemoryLedger(1.0)
    auto = AutoPrivateClassifier(families=FAMILIES, secret=Subsets(16), budget=1e-9, ledger=ledger)
    with pytest.warns(UtilityWarning, match="constant"):
        auto.fit(*cancer)
    assert ledger.spent == 0
    assert not ledger.events
    assert isinstance(auto.released_estimator_, DummyClassifier)
    assert auto.predict_proba(cancer[0][:2]).tolist() == [[0.5, 0.5]] * 2  # of no row
    assert auto.guarantee_.spent == 0
    assert auto.guarantee_.posterior_membership == pytest.approx(0.5)
    assert "ln 3" in dict(auto.guarantee_.details)["choice"]  # two models, one constant
    assert Guarantee.from_json(auto.guarantee_.to_json()) == auto.guarantee_
    assert auto.best_estimator_ is None
    assert not auto.verdict_.beats_reference
    with pytest.warns(UtilityWarning, match="constant"):
        auto.set_params(prior=Constant({0: 1, 1: 3})).fit(*cancer)
    assert auto.released_estimator_.class_prior_.tolist() == [0.25, 0.75]
    assert "ln 3" in dict(auto.guarantee_.details)["choice"]  # the same number


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"families": [Ridge()]}, "families of AutoPrivateClassifier"),
        ({"families": [LogisticRegression]}, "families"),
        ({"families": FAMILIES, "scoring": lambda *_: math.nan}, "scoring"),
        ({"families": FAMILIES, "scoring": lambda *_: math.inf}, "scoring gave no finite"),
        ({"families": FAMILIES, "scoring": lambda model, X, y: -math.inf}, "scoring gave no fin"),
        ({"families": FAMILIES, "scoring": lambda *_: 1 / 0}, "scoring"),
    ],
)
def test_what_cannot_be_chosen_is_named_before_it_is_charged(
    cancer: Any, given: dict[str, Any], said: str
) -> None:
    ledger = MemoryLedger(5.0)
    auto = AutoPrivateClassifier(Nats(1.0), secret=Subsets(16), ledger=ledger, **given)
    with pytest.raises((TypeError, ValueError, SubsetFitError), match=said):
        auto.fit(*cancer)
    assert ledger.spent == 0


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_a_target_of_names_is_not_quoted(cancer: Any) -> None:
    names = [f"person {i}" for i in range(len(cancer[0]))]
    with pytest.raises(ValueError, match="A class has 1 row") as error:
        AutoPrivateClassifier(Nats(1.0), families=FAMILIES).fit(cancer[0], names)
    assert "person" not in str(error.value)


def test_public_probabilities_must_be_beaten(rare: Any) -> None:
    """Of 5 % positives nearly every model is better than even odds, and few beat their share."""
    X, y = rare
    how = {"families": FAMILIES[:1], "secret": Subsets(16, seed=0), "budget": 1 / 256}
    against_even = AutoPrivateClassifier(**how).plan(X, y)
    stated = AutoPrivateClassifier(prior=Constant([0.95, 0.05]), **how)
    against_stated = stated.plan(X, y)
    assert against_even.verdict.reference.mean == pytest.approx(np.log(0.5))
    assert against_stated.verdict.reference.mean > -0.25
    assert against_even.verdict.beats_reference
    assert not against_stated.verdict.beats_reference
    with pytest.warns(UtilityWarning, match=r"0\.95, 0\.05"):
        stated.fit(X, y)


@pytest.mark.soak
def test_with_few_positives_the_noisier_option_does_not_win(rare: Any) -> None:
    """At one half no model says yes, and only noise does: a proper score does not fall for it."""
    X, y = rare
    steady, shaky = (
        make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=1000)) for C in (1e-3, 10)
    )
    how = {"secret": Subsets(16, seed=0), "budget": 1 / 16}
    auto = AutoPrivateClassifier(families=[shaky, steady], **how).fit(X, y)
    assert auto.best_estimator_[-1].C == 1e-3
    by_labels = AutoPrivateClassifier(
        families=[shaky, steady], scoring="matthews_corrcoef", **how
    ).fit(X, y)
    assert by_labels.best_estimator_[-1].C == 10
    log_scores = [one.plan(X, y, scoring="neg_log_loss").expected.mean for one in (auto, by_labels)]
    assert log_scores[0] > log_scores[1] + 0.1


def test_a_cap_is_another_promise(cancer: Any) -> None:
    auto = AutoPrivateClassifier(families=FAMILIES, secret=Subsets(16), budget=Membership(0.6)).fit(
        *cancer
    )
    assert auto.guarantee_.posterior_membership <= 0.6
    assert auto.guarantee_.capped


@pytest.mark.soak
def test_a_constant_under_a_cap_gives_the_adversary_nothing(cancer: Any) -> None:
    blind = [make_pipeline(StandardScaler(), LogisticRegression(C=1e-12))]
    shares = Constant(np.bincount(cancer[1]) / len(cancer[1]))
    auto = AutoPrivateClassifier(
        Identification(0.2), families=blind, prior=shares, secret=Subsets(16)
    )
    with pytest.warns(UtilityWarning, match="charged"):
        auto.fit(*cancer)
    assert auto.guarantee_.spent == pytest.approx(1 / 16)
    assert auto.guarantee_.information == 0
    assert auto.guarantee_.posterior_identification == pytest.approx(1 / 16)


def test_mixed_tables_need_no_preprocessing() -> None:
    X, y, schema = mixed()
    auto = AutoPrivateClassifier(schema=schema, secret=Subsets(16), budget=Nats(1.0)).fit(X, y)
    assert auto.score(X, y) > 0.75
    board = auto.verdict_.options
    assert len(board) == len(classifier_families(schema, 2))
    assert any(each.name.startswith("AdditiveClassifier") for each in board)
    assert auto.classes_.tolist() == ["ill", "well"]
    assert auto.feature_names_in_.tolist() == ["age", "ward"]


@pytest.mark.soak
def test_students_are_released_on_request() -> None:
    X, y, schema = mixed()
    auto = AutoPrivateClassifier(
        schema=schema, families=Student(), secret=Subsets(8), budget=0.5
    ).fit(X, y)
    assert auto.score(X, y) > 0.7
    assert "whole table" in auto.guarantee_.headline
    assert "released privately" in dict(auto.guarantee_.details)["queries"]
    assert auto.verdict_ is None


@pytest.mark.soak
def test_students_of_three_classes_learn_of_an_svm() -> None:
    X, y, schema = mixed()
    y = np.where(X["age"] > 70, "old", y)
    asked = Student(queries=X.sample(200, random_state=0))
    auto = AutoPrivateClassifier(schema=schema, families=asked, secret=Subsets(8), budget=0.5).fit(
        X, y
    )
    assert type(auto.best_estimator_[-1]) is SVC
    assert auto.score(X, y) > 0.75
    assert set(auto.predict(X)) == {"ill", "old", "well"}


def test_regressors_and_their_public_constant(iris: Any, sizes: Any) -> None:
    how = {"families": LINES, "secret": Subsets(16)}
    expected = Expected(3.5)
    auto = AutoPrivateRegressor(Nats(1.0), prior=expected, **how).fit(iris[0], sizes)
    assert auto.score(iris[0], sizes) > 0.5
    with pytest.raises(ValueError, match="prior"):
        AutoPrivateRegressor(Nats(1.0), **how).fit(iris[0], sizes)
    with pytest.warns(UtilityWarning, match=r"constant 3\.5"):
        poor = AutoPrivateRegressor(1e-9, prior=expected, **how).fit(iris[0], sizes)
    assert set(poor.predict(iris[0])) == {3.5}


def test_a_regressor_is_compared_with_the_constant_that_would_be_released() -> None:
    """It was compared with the mean of the rows, which is private, and lost to a worse constant."""
    X, y = load_diabetes(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(y)  # nothing to learn: R2 a little below 0
    how = {"budget": 1 / 16, "secret": Subsets(16, seed=0)}
    auto = AutoPrivateRegressor(prior=Range(0, 100), families=LINES, **how).fit(X, shuffled)
    assert auto.verdict_.reference.mean < -1  # 50, where the mean is 152
    assert auto.verdict_.reference.mean < auto.verdict_.expected.mean < 0
    assert auto.verdict_.beats_reference
    assert auto.best_estimator_ is not None


@pytest.mark.parametrize("prior", [Expected(150.0), Range(0.0, 300.0)], ids=repr)
def test_regressors_are_drawn_toward_what_is_publicly_expected(prior: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    how = {"budget": 1 / 64, "secret": Subsets(32, seed=0)}
    auto = AutoPrivateRegressor(prior=prior, families=[LinearRegression()], **how)
    drawn = auto.plan(X, y, n_releases=16)
    left = PACPrivate(LinearRegression(), **how).plan(X, y, n_releases=16, alternatives=False)
    assert left.expected.mean < -0.5 < 0 < drawn.expected.mean


@pytest.mark.soak
def test_the_list_has_a_regressor_for_a_small_budget_and_a_small_table() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    schema = Schema.template(X).confirm()
    auto = AutoPrivateRegressor(
        schema=schema, prior=Expected(150.0), budget=1 / 16, secret=Subsets(64)
    )
    plan = auto.plan(X, y, n_releases=24)
    assert plan.expected.mean > 0.27  # .20 without lines of few columns, without the constant


@pytest.mark.soak
def test_every_built_in_family_can_be_released(cancer: Any) -> None:
    schema = Schema(Column(f"x{i}", low=-3, high=3) for i in range(6))
    X, y = cancer[0][:100, :6], cancer[1][:100]
    for given in (None, schema):
        auto = AutoPrivateClassifier(schema=given, secret=Subsets(8), budget=Nats(1.0)).fit(X, y)
        assert len(auto.verdict_.options) == len(classifier_families(given, 6))
        line = AutoPrivateRegressor(
            schema=given, secret=Subsets(8), budget=Nats(1.0), prior=Range(-3, 3)
        ).fit(X, X[:, 0])
        assert len(line.verdict_.options) == len(regressor_families(given, 6))
    assert any(isinstance(one, AdditiveClassifier) for one in classifier_families(schema, 6))


@pytest.mark.soak
def test_plans_of_the_whole_list(cancer: Any) -> None:
    auto = AutoPrivateClassifier(families=FAMILIES, secret=Subsets(16))
    plan = auto.plan(*cancer, n_releases=2)
    assert len(plan.verdict.options) == 2
    assert plan.verdict.scoring == "neg_log_loss"
    assert auto.plan(*cancer, n_releases=2, scoring="accuracy").verdict.scoring == "accuracy"


def test_what_is_refused(cancer: Any) -> None:
    with pytest.raises(NotFittedError):
        AutoPrivateClassifier().predict(cancer[0])
    with pytest.raises(ValueError, match="families"):
        AutoPrivateClassifier(families=[]).fit(*cancer)
    with pytest.raises(ValueError, match="Constant"):
        AutoPrivateClassifier(prior=Range(0, 1)).fit(*cancer)
    with pytest.raises(ValueError, match="proba"):
        AutoPrivateClassifier(prior=Constant([1]), families=FAMILIES).fit(*cancer)
    many = [LogisticRegression(C=C) for C in range(1, 65)]
    with pytest.raises(ValueError, match="at most 63"):
        AutoPrivateClassifier(families=many).fit(*cancer)


def test_a_table_that_the_list_cannot_read_is_refused_with_its_columns() -> None:
    table = pd.DataFrame({"age": np.arange(40.0), "ward": ["north", "south"] * 20})
    y = np.arange(40) % 2
    with pytest.raises(ValueError, match="ward"):
        AutoPrivateClassifier(secret=Subsets(8)).fit(table, y)
    table["ward"] = np.nan
    with pytest.raises(ValueError, match="gaps in ward"):
        AutoPrivateClassifier(secret=Subsets(8)).plan(table, y)
    with pytest.raises(ValueError, match="gaps in x1"):
        AutoPrivateClassifier(secret=Subsets(8)).fit(table.to_numpy(), y)


@pytest.mark.parametrize(
    ("n_features", "n_classes", "left_out"),
    [(500, 30, 0), (501, 30, 4), (500, 31, 6), (501, 31, 8)],
    ids=str,
)
def test_shapes_leave_out_what_takes_minutes(
    n_features: int, n_classes: int, left_out: int
) -> None:
    listed = classifier_families(None, n_features)
    dear = [model for model in listed if too_dear(model, 5000, n_features, n_classes)]
    assert len(dear) == left_out
    kept = {type(model[-1]).__name__ for model in listed if model not in dear}
    assert "LogisticRegression" in kept
    assert ("LinearDiscriminantAnalysis" in kept) == (n_features <= 500)
    assert ("StepwiseClassifier" in kept) == (n_classes <= 30)


def test_random_features_are_for_a_few_numbers_and_nothing_else() -> None:
    numbers = [Column(f"x{i}", low=-3, high=3) for i in range(21)]
    ward = Column("ward", "category", categories=("a", "b"))

    def kernels(*columns: Column) -> int:
        listed = classifier_families(Schema(columns), len(columns))
        return sum("rbfsampler" in getattr(model, "named_steps", ()) for model in listed)

    assert [kernels(*numbers[:n]) for n in (1, 2, 20, 21)] == [0, 3, 3, 0]
    assert kernels(*numbers[:5], ward) == 0


def test_bins_narrow_near_zero_are_for_tables_where_half_of_the_numbers_start_there() -> None:
    def narrow(n_amounts: int, n_others: int) -> int:
        columns = [Column(f"a{i}", low=0, high=9) for i in range(n_amounts)]
        columns += [Column(f"x{i}", low=-3, high=3) for i in range(n_others)]
        listed = classifier_families(Schema([*columns, ward]), len(columns) + 1)
        return sum(getattr(model, "bins", "even") == "amounts" for model in listed)

    ward = Column("ward", "category", categories=("a", "b"))
    assert [narrow(2, 2), narrow(1, 2), narrow(0, 0)] == [2, 0, 0]


def test_of_few_rows_stepwise_models_solve_an_equation_for_each_row() -> None:
    listed = classifier_families(None, 7129)
    dear = {type(model[-1]).__name__ for model in listed if too_dear(model, 54, 7129, 2)}
    assert dear == {"LinearDiscriminantAnalysis"}


@pytest.mark.soak
def test_a_cap_is_certified_for_the_winner_alone(
    cancer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    laws = []
    of_option = ParameterPlan.calibrate

    def spied(plan: ParameterPlan, belief: Any) -> Any:
        laws.append(of_option(plan, belief))
        return laws[-1]

    monkeypatch.setattr(ParameterPlan, "calibrate", spied)
    families = [make_pipeline(StandardScaler(), StepwiseClassifier(n)) for n in (1, 2, 3)]
    auto = AutoPrivateClassifier(
        families=families, budget=Membership(0.7), secret=Subsets(16, seed=0)
    ).fit(*cancer)
    assert len(auto.verdict_.options) == 3
    assert len({id(law) for law in laws}) == 1
    assert laws[0].bound <= 0.7
    assert laws[0].confidence >= 1 - 1e-6
    assert auto.guarantee_.status.kind is Reliance.CONFIDENT


def test_a_public_encoding_counts_by_what_it_gives() -> None:
    codes = tuple(f"c{i}" for i in range(600))
    listed = classifier_families(Schema([Column("code", "category", categories=codes)]), 1)
    dear = {type(model[-1]).__name__ for model in listed if too_dear(model, 5000, 1, 2)}
    assert dear == {"LinearDiscriminantAnalysis", "StepwiseClassifier"}
    # Solved term by term; of another make than what solves for all columns at once.
    assert not any(
        too_dear(model, 5000, 1, 2) for model in listed if isinstance(model, AdditiveClassifier)
    )


@pytest.mark.soak
def test_what_was_left_out_stands_in_the_leaderboard(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(60, 6))
    y = (X[:, 0] > 0).astype(int)
    monkeypatch.setattr(families, "_MOST_EQUATIONS", 5)
    auto = AutoPrivateClassifier(secret=Subsets(8), budget=0.5).fit(X, y)
    out = [score for score in auto.verdict_.options if not score.scores]
    assert len(out) == 4
    assert math.isnan(out[0].mean)
    assert all(
        "each candidate would solve 6 equations, more than 5" in each.why_not for each in out
    )
    # What a shape leaves out is no option: it tells nothing of the rows.
    kept = AutoPrivateClassifier(
        families=[one for one in classifier_families(None, 6) if not too_dear(one, 60, 6, 2)],
        secret=Subsets(8),
        budget=0.5,
    ).fit(X, y)
    assert outcomes(auto) == outcomes(kept)


@pytest.mark.soak
def test_every_branch_states_the_same_number_of_outcomes(cancer: Any) -> None:
    two = [LogisticRegression(C=0.01, max_iter=1000), RidgeClassifier()]
    families = [make_pipeline(StandardScaler(), one) for one in two]
    won, lost = (
        AutoPrivateClassifier(families=families, budget=budget, secret=Subsets(16, seed=0)).fit(
            *cancer
        )
        for budget in (0.5, 1e-9)
    )
    # The two calls end in different branches, which the stated number must not tell apart.
    assert won.best_estimator_ is not None
    assert lost.best_estimator_ is None
    # Nine temperatures of the one, the other as it is, and the constant.
    assert outcomes(won) == outcomes(lost) == 9 + 1 + 1


@pytest.mark.soak
def test_a_constant_takes_a_place_among_the_64_outcomes(cancer: Any) -> None:
    with pytest.raises(ValueError, match="families"):
        AutoPrivateClassifier(families=[LogisticRegression()] * 64).fit(*cancer)
