from __future__ import annotations

import numpy as np
import pandas as pd
from pacsklearn_publish.inputs import model_inputs, model_schema
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from pacsklearn.tabular import AdditiveClassifier, Column, Schema, SchemaEncoder

SCHEMA = Schema([Column("age", low=0, high=99), Column("ward", "category", categories=("n", "s"))])
TABLE = pd.DataFrame({"age": [20.0, 50, 70, 33], "ward": ["n", "s", "n", "s"]})


def test_names_of_features_where_there_is_no_codebook():
    rows = np.arange(8.0).reshape(4, 2)
    found = model_inputs(StandardScaler().fit(rows))
    assert [field["name"] for field in found["columns"]["fields"]] == ["x0", "x1"]
    assert found["methods"] == ["transform", "inverse_transform"]
    assert "classes" not in found
    named = LogisticRegression().fit(TABLE[["age"]], [0, 1, 0, 1])
    found = model_inputs(make_pipeline("passthrough", named))
    assert [field["name"] for field in found["columns"]["fields"]] == ["age"]
    assert found["classes"] == [0, 1]


def test_columns_whose_listed_categories_are_texts_are_texts():
    encoder, numbers = OneHotEncoder(categories=[["n", "s"]]), StandardScaler()
    several = make_pipeline(FunctionTransformer(), OneHotEncoder(categories=[["n", "s"]]))
    for table, parts in (
        (TABLE, [("a", numbers, ["age"]), ("w", encoder, ["ward"])]),
        (TABLE.assign(ward=["n", "s", "s", "n"]), [("w", several, [1]), ("a", numbers, [0])]),
        (TABLE[["ward"]], None),
    ):
        first = encoder if parts is None else ColumnTransformer(parts)
        model = make_pipeline(first, LogisticRegression()).fit(table, [0, 1, 0, 1])
        found = {each["name"]: each["type"] for each in model_inputs(model)["columns"]["fields"]}
        assert found.pop("ward") == "string"
        assert set(found.values()) <= {"number"}


def test_the_codebook_where_there_is_one():
    for model in (
        make_pipeline(SchemaEncoder(SCHEMA), LogisticRegression()),
        AdditiveClassifier(SCHEMA),
    ):
        model.fit(TABLE, [0, 1, 0, 1])
        assert model_schema(model) == SCHEMA
        columns = model_inputs(model)["columns"]
        assert Schema.from_table_schema(columns) == SCHEMA
