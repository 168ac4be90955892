"""``plan``: what it says, and that it stays with the curator."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import (
    Answers,
    Membership,
    Nats,
    PACPrivate,
    Parameters,
    PrivacySession,
    Student,
    Subsets,
    Tuned,
)
from pacsklearn.exceptions import BudgetExhaustedError, FewCandidatesWarning, UtilityWarning
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.priors import Range
from pacsklearn.tabular import StepwiseClassifier
from pacsklearn.tabular.choosing.verdict import Utility

pytestmark = pytest.mark.usefixtures("all_rehearsals")
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())


@pytest.fixture(scope="module")
def model() -> PACPrivate:
    return PACPrivate(LOGISTIC, secret=Subsets(16, seed=0))


@pytest.fixture(scope="module")
def plan(model: PACPrivate, cancer: Any) -> Any:
    return model.plan(*cancer, n_releases=8)


def test_a_plan_says_what_fit_would_release(model: PACPrivate, plan: Any, cancer: Any) -> None:
    fitted = copy.copy(model).fit(*cancer)
    assert plan.route == "parameters"
    assert set(fitted.guarantee_.public) <= set(plan.public)
    assert plan.n_numbers == 31 + 1
    assert plan.n_noised == 15  # sixteen candidates span no more
    assert plan.verdict.reference.mean == pytest.approx(math.log(0.5))
    assert plan.verdict.beats_reference
    assert plan.expected.mean < plan.without_noise
    assert plan.noise > 0 < plan.signal
    for words in ("67.50 %", "noise in 15 directions", "curator", f"{plan.expected.mean:.3f}"):
        assert words in str(plan)


def test_the_alternative_is_better_or_is_not_there(plan: Any, cancer: Any) -> None:
    assert plan.alternative is not None
    assert plan.alternative.mean > plan.expected.mean
    assert plan.alternative.name in plan.advice[0]
    steady = make_pipeline(StandardScaler(), LogisticRegression(C=1e-5))
    best = PACPrivate(steady, secret=Subsets(16), budget=1e-6).plan(*cancer, n_releases=4)
    assert best.alternative is None or best.alternative.mean > best.expected.mean


@pytest.mark.soak
def test_a_plan_shows_what_blocks_save_and_tell(cancer: Any) -> None:
    stated = PACPrivate(LOGISTIC, secret=Subsets(64, seed=0))
    plan = stated.plan(*cancer, n_releases=4)
    names = [each.utility.name for each in plan.lists]
    assert names == [
        "as stated",
        "Subsets(blocks=None)",
        "Subsets(blocks=32)",
        "Subsets(blocks=4)",
    ]
    as_stated, unblocked, _, in_fours = plan.lists
    assert as_stated.utility.scores == plan.expected.scores
    assert as_stated.noise == plan.noise < unblocked.noise
    assert unblocked.known < in_fours.known < 1
    assert str(unblocked) in " ".join(str(plan).split())
    without = PACPrivate(LOGISTIC, secret=Subsets(64, blocks=None, seed=0))
    unblocked_plan = without.plan(*cancer, n_releases=4)
    assert unblocked_plan.noise == pytest.approx(unblocked.noise)
    assert stated.plan(*cancer, n_releases=2, alternatives=False).lists == ()


@pytest.mark.soak
def test_sparse_rows_have_a_plan(cancer: Any) -> None:
    """Steadier models that centre rows, or take none that are sparse, are left out of it."""
    X, y = cancer
    for stated in (LogisticRegression(), make_pipeline(MaxAbsScaler(), LogisticRegression())):
        model = PACPrivate(stated, secret=Subsets(8, seed=0))
        plan = model.plan(sparse.csr_matrix(X), y, n_releases=4)
        assert plan.route == "parameters"
    columns = make_column_transformer((OneHotEncoder(categories=[[0.0, 1.0]]), [0]))
    model = PACPrivate(make_pipeline(columns, LogisticRegression()), secret=Subsets(8, seed=0))
    assert model.plan(np.c_[y, y], y, n_releases=4).route == "parameters"


def test_a_plan_stays_with_the_curator(model: PACPrivate, plan: Any, cancer: Any) -> None:
    ledger = MemoryLedger(1.0)
    asked = PACPrivate(LOGISTIC, secret=Subsets(16), ledger=ledger)
    before = dict(vars(asked))
    asked.plan(*cancer, n_releases=2, alternatives=False)
    assert vars(asked) == before
    assert ledger.spent == 0
    assert not any(character.isdigit() for character in repr(plan))
    for leave in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="curator"):
            leave(plan)


def test_a_plan_of_answers_shows_their_score_at_no_budget(cancer: Any) -> None:
    tree = DecisionTreeClassifier(min_samples_leaf=20)
    planned = PACPrivate(tree, secret=Subsets(16)).plan(*cancer, n_releases=4)
    assert planned.route == "responses"
    assert "shape of its trees is learned from the rows" in planned.why
    agreed_on = planned.at_null_budget.mean
    assert agreed_on > planned.verdict.reference.mean
    assert math.isnan(planned.noise)
    assert "function of the whole table" in " ".join(str(planned).split())


def test_unsteady_answers_are_told_what_would_help(cancer: Any) -> None:
    X, y = cancer
    booster = HistGradientBoostingClassifier(max_iter=3, learning_rate=1.0, min_samples_leaf=2)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(y)) < 0.3, 1 - y, y)
    planned = PACPrivate(booster, secret=Subsets(16)).plan(X[:, :5], noisy, n_releases=2)
    assert planned.n_noised > 0.15 * planned.n_numbers
    assert any("Steadier models" in text for text in planned.advice)


def test_answers_no_better_than_a_constant_are_told_what_would_help() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.random(200) < 0.2
    lookup = DecisionTreeClassifier(random_state=0)
    planned = PACPrivate(lookup, secret=Subsets(16)).plan(X, y, n_releases=2)
    assert not planned.verdict.beats_reference
    assert any("not sure to beat the public constant" in text for text in planned.advice)


@pytest.mark.soak
def test_clusterings_and_regressors_have_plans(cancer: Any, iris: Any, sizes: Any) -> None:
    clusters = PACPrivate(KMeans(3), secret=Subsets(16)).plan(iris[0], n_releases=2)
    assert not clusters.verdict.reference.scores
    assert clusters.alternative is None
    line = PACPrivate(Ridge(), secret=Subsets(16), budget=Nats(1.0)).plan(
        iris[0], sizes, n_releases=4
    )
    assert line.verdict.scoring == "R²"
    assert not line.verdict.reference.scores  # nothing is publicly expected


def test_fit_warns_of_what_is_no_better_than_a_constant(cancer: Any, recwarn: Any) -> None:
    with pytest.warns(UtilityWarning, match="better"):
        PACPrivate(LOGISTIC, budget=1e-6, secret=Subsets(16)).fit(*cancer)
    recwarn.clear()
    PACPrivate(make_pipeline(StandardScaler(), LogisticRegression(C=1e-3)), budget=Nats(1)).fit(
        *cancer
    )
    assert not [each for each in recwarn if each.category is UtilityWarning]


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "kind",
    [
        RidgeClassifier,
        Ridge,
        *(pytest.param(kind, marks=pytest.mark.soak) for kind in (GaussianNB, LinearSVC)),
    ],
    ids=repr,
)
def test_more_columns_than_rows_are_advised_on(kind: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1], [50, 30]))
    X = rng.standard_normal((80, 200))
    X[:, :2] += 2 * y[:, None]
    # Few candidates and one number for each of many columns: both are said.
    with pytest.warns(UtilityWarning, match="columns") as told:
        PACPrivate(kind(), budget=1e-4, secret=Subsets(32)).fit(X, y)
    advised = "StepwiseRegressor" if kind is Ridge else "StepwiseClassifier"
    assert any(f"{advised}(n_terms=2), needs least" in str(each.message) for each in told)
    assert any(each.category is FewCandidatesWarning for each in told)
    if kind is not Ridge:
        plan = PACPrivate(StepwiseClassifier(2), budget=1 / 2, secret=Subsets(32)).plan(X, y)
        assert plan.expected.mean > plan.verdict.reference.mean


def test_what_a_plan_refuses(cancer: Any) -> None:
    tree = PACPrivate(DecisionTreeClassifier(), secret=Subsets(16))
    with pytest.raises(ValueError, match="n_releases"):
        tree.plan(*cancer, n_releases=1)
    with pytest.raises(ValueError, match="alternatives"):
        tree.plan(*cancer, alternatives="no")
    with pytest.raises(ValueError, match="scoring"):
        tree.plan(*cancer, scoring="accuracy")


def test_a_session_takes_only_its_own_plans(cancer: Any) -> None:
    with PrivacySession(*cancer, budget=Nats(1), secret=Subsets(16)) as one:
        plan = one.prepare(LOGISTIC, budget=1 / 4)
        assert one.ledger.spent == 0
        with (
            PrivacySession(*cancer, budget=Nats(1), secret=Subsets(16)) as other,
            pytest.raises(ValueError, match="prepared"),
        ):
            other.take(plan)
        assert one.take(plan).guarantee.spent == pytest.approx(one.ledger.spent)


def test_means_and_spreads_by_hand() -> None:
    score = Utility("a", (0.5, 0.7, 0.9))
    assert score.mean == pytest.approx(0.7)
    assert score.spread == pytest.approx(0.2)
    assert score.standard_error == pytest.approx(0.2 / 3**0.5)


@pytest.mark.parametrize("answers", [Answers(query_budget=5.0), Answers(query_budget=-1.0)])
def test_a_plan_refuses_the_query_budgets_that_fit_refuses(answers: Answers, table: Any) -> None:
    model = PACPrivate(KNeighborsClassifier(), 1 / 4, release=answers, secret=Subsets(16, seed=0))
    assert words_of(model.plan, *table) == words_of(model.fit, *table)


@pytest.mark.parametrize("budget", [1 / 4, Membership(0.6)])
def test_a_plan_of_a_student_of_one_class_says_what_fit_says(budget: Any, table: Any) -> None:
    """It said that a message was withheld because it may quote rows."""
    student = Student(queries=table[0][:50])
    model = PACPrivate(DummyClassifier(), budget, release=student, secret=Subsets(16, seed=0))
    said = words_of(model.plan, *table)
    assert "answers of two classes or more" in said
    assert words_of(model.fit, *table) == f"{said} What the answers cost is charged."


@pytest.mark.parametrize("estimator", [LogisticRegression(), KNeighborsClassifier()])
def test_a_plan_lists_what_was_looked_up(estimator: Any, table: Any) -> None:
    frame = pd.DataFrame(table[0], columns=["a", "b"])
    options = {"schema": "from table", "secret": Subsets(16, seed=0)}
    model = PACPrivate(estimator, 1 / 4, release="auto", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = model.plan(frame, table[1], n_releases=2, alternatives=False)
        public = model.fit(frame, table[1]).guarantee_.public
    assert {each for each in public if "looked up" in each} <= set(plan.public)
    assert any("looked up: a" in each for each in plan.public)
    assert "classes_" in plan.public


def test_a_plan_without_noise_says_so(table: Any) -> None:
    budget, secret = Nats(9, allow_exact=True), Subsets(16, seed=0)
    plan = PACPrivate(LogisticRegression(), budget, secret=secret).plan(*table, alternatives=False)
    assert "coef_, without noise" in plan.public
    assert plan.n_noised == 0


def test_a_plan_of_a_choice_names_it_under_any_scoring(table: Any) -> None:
    model = PACPrivate(Tuned(Ridge(), {"alpha": [1.0, 1e3]}), secret=Subsets(16, seed=0))
    plan = model.plan(table[0], table[0][:, 0], scoring="r2", n_releases=2, alternatives=False)
    assert plan.expected.name.startswith("alpha=")
    assert plan.expected.name in str(plan)


def words_of(call: Any, *rows: Any) -> str:
    with pytest.raises((ValueError, BudgetExhaustedError)) as refused:
        call(*rows)
    return f"{type(refused.value).__name__}: {refused.value}"


@pytest.fixture(scope="module")
def table() -> Any:
    X = np.random.default_rng(0).normal(size=(200, 2))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("names", ["alone", "steps"])
def test_a_plan_takes_the_weights_that_fit_takes(names: str, table: Any) -> None:
    steps = Pipeline([("scale", StandardScaler()), ("last", LogisticRegression())])
    estimator, prefix = (LogisticRegression(), "") if names == "alone" else (steps, "last__")
    model = PACPrivate(estimator, Nats(1 / 4), secret=Subsets(16, seed=0))
    plain = model.plan(*table, n_releases=2)
    weighted = {f"{prefix}sample_weight": np.ones(len(table[1]))}
    plan = model.plan(*table, n_releases=2, **weighted)
    assert plan.expected.mean == pytest.approx(plain.expected.mean, abs=1e-3)
    assert (plan.alternative is None) == (plain.alternative is None)


@pytest.mark.parametrize(
    ("estimator", "scoring", "word"),
    [
        (Ridge(), "roc_auc", "predict_proba"),
        (Ridge(), "accuracy", "continuous"),
        (LogisticRegression(), "f1", "pos_label"),
        (LogisticRegression(), "neg_brier_score", "pos_label"),
    ],
)
def test_a_scoring_that_does_not_suit_is_named(
    estimator: Any, scoring: str, word: str, table: Any
) -> None:
    X, y = table
    y = X[:, 0] if isinstance(estimator, Ridge) else np.array(["no", "yes"])[y]
    student = Student(clone(estimator), X[:50], prior=Range(0, 1) if y.dtype == float else None)
    for release in (Parameters(), student):
        model = PACPrivate(estimator, Nats(1 / 4), release=release, secret=Subsets(16, seed=0))
        said = words_of(lambda *data, m=model: m.plan(*data, scoring=scoring), X, y)
        assert f"scoring={scoring!r}" in said
        assert word in said
        assert "yes" not in said  # a label of the table


def test_a_cap_says_why_there_would_be_answers(table: Any) -> None:
    """The reason was in a warning alone."""
    model = PACPrivate(KNeighborsClassifier(), Membership(0.6), secret=Subsets(16, seed=0))
    assert "its model holds rows" in words_of(model.fit, *table)
    assert words_of(model.plan, *table) == words_of(model.fit, *table)
