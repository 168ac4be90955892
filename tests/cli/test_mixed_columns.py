"""Tables with texts and gaps, without a codebook."""

from __future__ import annotations

import gzip
import json

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from pacsklearn import PACPrivate
from pacsklearn.cli.mixed_columns import column_encoder, mixed_columns
from pacsklearn.cli.named_estimator import named_estimator
from pacsklearn.cli.table import read_table


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 200).astype(float),
            "ward": rng.choice(["north", "south", "east side"], 200),
            "job": rng.choice(["nurse", "clerk", None], 200),
        }
    )
    frame["ill"] = (frame.ward == "north").astype(int)
    return frame


@pytest.mark.soak
def test_a_mixed_table_is_released_and_audited_without_a_codebook(call, folder, people):
    people.loc[3, "age"] = np.nan
    text = people.to_csv(index=False, sep=";", na_rep="?")
    (folder / "people.csv.gz").write_bytes(gzip.compress(text.encode("cp1252")))
    said = call(
        "release", "people.csv.gz", "--target", "ill", "--estimator", "LogisticRegression",
        "--params", json.dumps({"C": 0.1}), "--subsets", 16, "--nats", 2,
        "--output", "model.joblib",
    )  # fmt: skip
    assert "the words of ward, job are hashed and missing numbers become" in said.stderr
    recipe = json.loads((folder / "model.statement.json").read_text())["recipe"]
    assert recipe["columns"] == {"hashed": ["ward", "job"], "imputed": True}
    model = joblib.load(folder / "model.joblib")
    assert model[-1].C == 0.1
    assert model.score(people.drop(columns="ill"), people.ill) > 0.6
    call(
        "audit", "people.csv.gz", "model.statement.json", "--attacks", "identification",
        "--trials", 40, "--json",
    )  # fmt: skip
    pytest.importorskip("pacsklearn_attacks")
    said = call("audit", "people.csv.gz", "model.statement.json", "--attacks", "canaries", code=2)
    assert "X must be a dense table of numbers; leave 'canaries' out" in said.stderr


def test_what_is_hashed_is_no_function_of_the_values(people):
    X = people.drop(columns="ill")
    columns = mixed_columns(X, LogisticRegression())
    assert columns == {"hashed": ["ward", "job"], "imputed": False}
    renamed = X.assign(ward=X.ward.map({"north": "a", "south": "b", "east side": "c"}))
    features = [column_encoder(columns).fit(one).get_feature_names_out() for one in (X, renamed)]
    assert features[0].tolist() == features[1].tolist()


def test_tables_of_numbers_and_estimators_that_read_texts_are_left_alone(people):
    X = people.drop(columns="ill")
    assert mixed_columns(X[["age"]], LogisticRegression()) is None
    assert mixed_columns(X, named_estimator("OneHotEncoder + LogisticRegression")) is None
    gaps = X[["age"]].where(X.age > 30)
    assert mixed_columns(gaps, LogisticRegression()) == {"hashed": [], "imputed": True}
    assert mixed_columns(gaps, named_estimator("HistGradientBoostingClassifier")) is None


def test_names_of_columns_are_suggested_where_there_is_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("Sex,school\nF,1\nM,2\n")
    with pytest.raises(ValueError, match="mean"):
        read_table(tmp_path / "a.csv", "schol")
    with pytest.raises(ValueError, match="mean"):
        read_table(tmp_path / "a.csv", "sex")
    (tmp_path / "b.csv").write_text("4711,Smithe\n4712,Jones\n")
    with pytest.raises(ValueError, match="name") as caught:
        read_table(tmp_path / "b.csv", "Smith")  # the first row is somebody, not a header
    assert "Smithe" not in str(caught.value)


def test_columns_that_are_no_numbers_are_named(people):
    with pytest.raises(ValueError, match="must hold numbers"):
        PACPrivate(LogisticRegression()).fit(people.drop(columns="ill"), people.ill)


def test_auto_asks_for_a_codebook(call, folder, people):
    people.to_csv(folder / "people.csv", index=False)
    refused = call("release", "people.csv", "--target", "ill", "--output", "m", code=2)
    said = " ".join(refused.output.split())
    assert "no numbers in ward, job" in said
    assert "'from table' looks up" in said
