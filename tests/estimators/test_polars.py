"""Tables of polars go in as they are, and their names come out again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from pacsklearn import Answers, Nats, PACPrivate, Parameters, Subsets

pl = pytest.importorskip("polars")


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"age": rng.normal(50, 9, 60), "dose": rng.normal(size=60)})
    return table, pl.Series(np.asarray(table["dose"]) > 0)


@pytest.mark.parametrize(
    ("estimator", "release"),
    [(LogisticRegression(), Parameters()), (KNeighborsClassifier(), Answers())],
)
def test_names_are_kept_through_predict(rows, estimator, release):
    X, y = rows
    model = PACPrivate(estimator, release=release, secret=Subsets(8), budget=Nats(2)).fit(X, y)
    assert model.feature_names_in_.tolist() == ["age", "dose"]
    assert model.predict(X[:5]).shape == (5,)
    with pytest.raises(ValueError, match="feature"):
        model.predict(X.select(["dose", "age"]))
    if release.name == "parameters":
        assert model.released_estimator_.feature_names_in_.tolist() == ["age", "dose"]


def test_transformers_name_what_comes_out(rows):
    scaler = (
        PACPrivate(StandardScaler(), secret=Subsets(8)).set_output(transform="polars").fit(rows[0])
    )
    assert scaler.get_feature_names_out().tolist() == ["age", "dose"]
    assert scaler.transform(rows[0]).columns == ["age", "dose"]


def test_a_table_that_is_not_computed_yet_is_refused(rows):
    with pytest.raises(TypeError, match="LazyFrame"):
        PACPrivate(LogisticRegression(), secret=Subsets(8)).fit(rows[0].lazy(), rows[1])
    model = PACPrivate(LogisticRegression(), release=Answers(), secret=Subsets(8)).fit(*rows)
    with pytest.raises(TypeError, match="LazyFrame"):
        model.predict(rows[0].lazy())


def test_what_arrow_has_beside_tables_of_distinct_columns_is_refused(rows):
    pa = pytest.importorskip("pyarrow")
    (batch,) = rows[0].to_arrow().to_batches()
    with pytest.raises(TypeError, match="from_batches"):
        PACPrivate(LogisticRegression(), secret=Subsets(8)).fit(batch, rows[1])
    twice = pa.table([batch.column(0), batch.column(1)], names=["age", "age"])
    with pytest.raises(ValueError, match="several columns of one name"):
        PACPrivate(LogisticRegression(), secret=Subsets(8)).fit(twice, rows[1])


def test_names_are_not_lost_where_pandas_is_missing(rows, monkeypatch):
    monkeypatch.setattr("pacsklearn.universe.row_rules.as_pandas", lambda X: X)
    with pytest.raises(TypeError, match="with names, which are read by pandas"):
        PACPrivate(LogisticRegression(), secret=Subsets(8), budget=Nats(2)).fit(*rows)
