"""``release=Student(...)``: one call, one guarantee, one model, and what it says of itself."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import (
    Answers,
    Guarantee,
    Membership,
    Nats,
    PACPrivate,
    PrivacySession,
    Student,
    Subsets,
)
from pacsklearn.estimators.cost_preview import preview
from pacsklearn.exceptions import BudgetExhaustedError, UtilityWarning
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.priors import Range
from pacsklearn.tabular import Column, Schema, SchemaEncoder, SchemaQueries, distill
from pacsklearn.tabular.students.student_queries import StudentQueries, with_crossed

STUDENT = LogisticRegression()
CAPPED = {"budget": Membership(0.7)}
SCHEMA = Schema(Column(f"x{i}", low=-3, high=3) for i in range(30))


def private(queries: Any, budget: float = 1 / 16, **params: Any) -> PACPrivate:
    release = Student(params.pop("student", STUDENT), queries)
    return PACPrivate(SVC(), budget, release=release, **{"secret": Subsets(16), **params})


@pytest.fixture(scope="module")
def halves(cancer: Any) -> Any:
    X, y = cancer
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def model(halves: Any) -> PACPrivate:
    return private(halves[2]).fit(*halves[:2])


def test_a_student_predicts_for_nothing(model: PACPrivate, halves: Any) -> None:
    assert type(model.released_estimator_) is LogisticRegression
    assert model.score(*halves[2:]) > 0.9
    spent = model.guarantee_.metered
    for _ in range(2):
        assert model.predict_proba(halves[2]).shape == (len(halves[3]), 2)
    assert model.guarantee_.metered == spent


def test_the_whole_budget_is_spent_on_what_is_contested(model: PACPrivate, halves: Any) -> None:
    with PrivacySession(*halves[:2], budget=Nats(1), secret=Subsets(16)) as session:
        teacher = session.responder(SVC(), max_answers=100)
        contested = preview(teacher, with_crossed(halves[2])).n_contested
    assert model.guarantee_.spent <= 1 / 16
    assert model.guarantee_.metered == pytest.approx(1 / 16, rel=1e-6)
    queries = dict(model.guarantee_.details)["queries"]
    assert queries.startswith("2,000, 284 public rows and others crossed from them; ")
    told = int(queries.rpartition("; ")[2].split()[0])
    assert abs(told - contested) < 0.4 * contested  # other secret subsets
    step = dict(model.guarantee_.details)["step budget"]
    assert float(step.split()[0]) == pytest.approx(1 / 16 / told, rel=1e-4)


def test_the_guarantee_says_first_what_no_budget_buys(model: PACPrivate) -> None:
    title = str(model.guarantee_).partition("\n\n")[0]
    assert "function of the whole table" in " ".join(title.split())
    assert Guarantee.from_json(model.guarantee_.to_json()) == model.guarantee_
    answers = PACPrivate(SVC(), secret=Subsets(16))
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    assert answers.fit(X, y).guarantee_.headline == model.guarantee_.headline


def test_a_student_of_no_budget_is_as_good_and_its_plan_says_so(halves: Any) -> None:
    null = private(halves[2], 1e-9).fit(*halves[:2])
    assert null.score(*halves[2:]) > 0.9  # what the headline warns of
    plan = private(halves[2]).plan(*halves[:2], n_releases=3, scoring="accuracy")
    assert plan.route == "student"
    assert plan.at_null_budget.mean > 0.9
    assert plan.expected.mean == pytest.approx(plan.at_null_budget.mean, abs=0.05)
    assert math.isnan(plan.noise)


def test_a_student_is_what_distill_gives(halves: Any) -> None:
    X, y, queries, _ = halves
    params: Any = {"secret": Subsets(16, seed=0), "random_state": 3}
    one = private(lambda _: queries, **params)
    with pytest.warns(UserWarning, match="random_state"):
        one.fit(X, y)
    contested = int(dict(one.guarantee_.details)["queries"].rpartition("; ")[2].split()[0])
    teacher = PACPrivate(SVC(), release=Answers(contested), **params)
    with pytest.warns(UserWarning, match="random_state"):
        teacher.fit(X, y)
    other = distill(teacher, STUDENT, queries, alpha=None).estimator
    assert np.array_equal(one.released_estimator_.coef_, other.coef_)


@pytest.mark.product(only=2)
@pytest.mark.parametrize(
    "queries",
    [
        SchemaQueries(SCHEMA, n_queries=300),
        SchemaQueries(SCHEMA, {"x0": [1, 2]}, n_bins=2, n_queries=300),
        SchemaQueries(SCHEMA, "private", n_bins=4, n_queries=300),
        lambda generator: generator.normal(size=(300, 30)),
    ],
    ids=["uniform", "public marginals", "private marginals", "generator"],
)
def test_queries_without_any_public_row(queries: Any, halves: Any) -> None:
    model = private(queries, student=SVC()).fit(*halves[:2])
    assert type(model.released_estimator_) is SVC
    assert model.guarantee_.spent <= 1 / 16
    assert model.guarantee_.metered == pytest.approx(1 / 16, rel=1e-6)


def test_a_column_that_the_schema_lacks_is_named(halves: Any) -> None:
    known = SCHEMA.drop("x28", "x29")
    model = make_pipeline(SchemaEncoder(known), SVC())
    private = PACPrivate(model, release=Student(model, known), secret=Subsets(8))
    table = pd.DataFrame(halves[0], columns=[column.name for column in SCHEMA])
    with pytest.warns(UtilityWarning, match="lacks the columns x28, x29,"):
        private.fit(table, halves[1])


def test_a_schema_alone_makes_uniform_queries() -> None:
    queries = StudentQueries.of(SCHEMA)
    assert queries.words == "made up, uniform over the public schema"
    rows = queries.rows(np.zeros((1, 30)), lambda source: pytest.fail("nothing is released"))
    assert rows.shape == (5000, 30)


def test_private_marginals_are_charged_and_stated(halves: Any) -> None:
    ledger = MemoryLedger(1.0)
    queries = SchemaQueries(SCHEMA, "private", n_bins=4, n_queries=300, share=0.25)
    model = private(queries, ledger=ledger).fit(*halves[:2])
    first, second = ledger.events
    assert first.charge == pytest.approx(1 / 64, rel=1e-3)
    assert second.charge == pytest.approx(3 / 64, rel=1e-3)
    words = dict(model.guarantee_.details)["marginals"]
    assert words.startswith("120 shares, released for 0.015625 nats; 105 of 120 directions")
    assert "released privately" in dict(model.guarantee_.details)["queries"]


@pytest.mark.soak
def test_a_student_under_a_cap_learns_labels_of_one_release(halves: Any) -> None:
    model = private(halves[2], **CAPPED).fit(*halves[:2])
    assert model.score(*halves[2:]) > 0.9
    promised = model.guarantee_
    assert promised.criterion == "membership"
    assert 0.5 < promised.spent <= 0.7
    assert "function of the whole table" in promised.headline
    assert promised.released[0].startswith("LogisticRegression, fitted on private answers")
    assert dict(promised.details)["queries"].startswith("2,000, 284 public rows and others")
    plan = private(halves[2], **CAPPED).plan(*halves[:2], n_releases=2, scoring="accuracy")
    assert plan.expected.mean > 0.9
    assert plan.at_null_budget.mean > 0.9
    assert plan.promise.startswith("whoever wants to tell whether any one unit was used succeeds")
    with pytest.raises(ValueError, match="regressor"):
        PACPrivate(SVR(), release=Student(queries=SCHEMA, prior=Range(0, 1)), **CAPPED).fit(
            *halves[:2]
        )


@pytest.mark.soak
def test_a_student_of_few_rows_is_no_constant(halves: Any) -> None:
    teacher = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=40)
    few = halves[2][:38]
    model = PACPrivate(teacher, release=Student(queries=few), secret=Subsets(16)).fit(*halves[:2])
    # 0.934 +- 0.014 over fits; a clone of the teacher cannot split 38 rows, and is constant.
    assert model.score(*halves[2:]) > 0.8


def test_regressors_have_students(iris: Any, sizes: Any) -> None:
    model = PACPrivate(
        SVR(),
        release=Student(student=Ridge(), queries=iris[0], prior=Range(-5, 10)),
        budget=0.5,
    ).fit(iris[0][::2], sizes[::2])
    assert np.isfinite(model.predict(iris[0])).all()


def test_a_student_holds_no_row_and_no_secret(model: PACPrivate) -> None:
    kept = pickle.loads(pickle.dumps(model))
    assert np.array_equal(kept.released_estimator_.coef_, model.released_estimator_.coef_)
    assert not {"_answering", "_responder"} & set(vars(model))


def test_too_little_left_is_refused_before_anything_is_fitted(halves: Any) -> None:
    ledger = MemoryLedger(1 / 64)
    with pytest.raises(BudgetExhaustedError):
        private(halves[2], ledger=ledger).fit(*halves[:2])
    assert ledger.spent == 0


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"release": Student()}, "queries must be .*; got none"),
        ({"release": Student(queries=SCHEMA, alpha=0.1), **CAPPED}, "budget"),
        ({"release": Student(queries=SchemaQueries(SCHEMA, "private")), **CAPPED}, "budget"),
        ({"release": Student(queries=SCHEMA, alpha=2)}, "alpha"),
        ({"release": Student(queries=SCHEMA), "budget": Nats(1)}, "would hide nothing"),
        ({"release": Student(queries=[1.0, 2.0])}, "queries"),
        ({"release": Student(Ridge(), SCHEMA)}, "student"),
        ({"release": Student(LogisticRegression, SCHEMA)}, "student"),
        ({"release": Student(LogisticRegression(C=-1), SCHEMA)}, "'C' parameter"),
        # Nothing was fitted to made-up answers where no student was named.
        ({"release": Student(queries=lambda g: 1e300 * g.normal(size=(50, 30)))}, "Input X"),
        ({"release": Student(queries=lambda g: g.normal(size=(1, 30)))}, "2 classes"),
        ({"release": Student(queries=lambda g: g.normal(size=30))}, "queries"),
        ({"release": Student(queries=lambda g: None)}, "queries must be public rows"),
    ],
)
def test_what_students_refuse_is_refused_before_a_charge(
    params: Any, match: str, halves: Any
) -> None:
    ledger = MemoryLedger(1)
    private = PACPrivate(DecisionTreeClassifier(), secret=Subsets(16), ledger=ledger, **params)
    with pytest.raises((ValueError, TypeError), match=match):
        private.fit(*halves[:2])
    assert ledger.spent == 0


def test_a_teacher_of_one_class_is_named_as_such(halves: Any) -> None:
    teacher = DummyClassifier()
    message = r"two classes or more, got 1 in the 2000 of 2000 answers; .* larger budget, or"
    with pytest.raises(ValueError, match=message):
        PACPrivate(teacher, release=Student(queries=halves[2]), secret=Subsets(8)).fit(*halves[:2])


def test_a_student_reads_the_table_by_the_same_codebook() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"ward": rng.choice(["north", "south"], 90), "age": rng.normal(size=90)})
    y = (X["ward"] == "north").astype(int)
    schema = Schema(
        [
            Column("ward", "category", categories=("north", "south")),
            Column("age", low=-4, high=4),
        ]
    )
    how: Any = {"budget": 0.5, "secret": Subsets(8)}
    release = Student(LogisticRegression(), X[:30])
    model = PACPrivate(LogisticRegression(), release=release, schema=schema, **how).fit(X, y)
    assert model.score(X, y) == 1
    assert type(release.student) is LogisticRegression
    # Without, plan and fit say alike what the student cannot read.
    teacher = make_pipeline(SchemaEncoder(schema), LogisticRegression())
    alone = PACPrivate(teacher, release=release, **how)
    for ask in (alone.plan, alone.fit):
        with pytest.raises(ValueError, match="student cannot learn from the queries"):
            ask(X, y)


def test_queries_are_made_up_for_times_in_a_zone() -> None:
    days = pd.to_timedelta(np.arange(90), unit="D")
    seen = pd.Series(pd.Timestamp("2020-01-01") + days).dt.tz_localize("Europe/Berlin")
    schema = Schema([Column("seen", "date", low="2020-01-01", high="2020-03-31")])
    release = Student(LogisticRegression(), schema)
    model = PACPrivate(LogisticRegression(), 0.5, schema=schema, release=release)
    model.set_params(secret=Subsets(8)).fit(seen.to_frame("seen"), np.arange(90) > 40)
    assert model.predict(seen.to_frame("seen")).shape == (90,)
