from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_publish import load_bundle, publish
from pacsklearn_publish.probe_rows import probe_rows, runtime_inputs
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from pacsklearn import PACPrivate, Subsets
from pacsklearn.tabular import Column, Schema, SchemaEncoder


def test_rows_are_made_up_and_the_same_every_time(iris):
    model = StandardScaler().fit(iris[0])
    rows = probe_rows(model, 100)
    assert rows.shape == (100, 4)
    assert np.array_equal(rows, probe_rows(model, 100))
    assert not np.isin(rows, iris[0]).any()


def test_tables_hold_every_kind_of_value():
    schema = Schema(
        [
            Column("n", low=0, high=1),
            Column("c", "category", categories=("u", "v"), missing=("?",)),
            Column("t", "text"),
            Column("d", "date", low="2000-01-01", high="2001-01-01"),
        ]
    )
    table = probe_rows(SchemaEncoder(schema))
    assert table["n"].isna().any()
    assert table["n"].max() > 1
    assert {"u", "v", "?", "none of them"} <= set(table["c"])
    inputs = runtime_inputs(table, ["n", "c", "d"], schema)
    assert inputs["n"].shape == inputs["c"].shape == (512, 1)
    assert "" in inputs["c"].ravel()
    assert np.nanmin(inputs["d"]) > 10_000


@pytest.mark.parametrize(
    ("estimator", "methods"),
    [
        (PCA(2), ["transform", "inverse_transform"]),
        (LinearDiscriminantAnalysis(), ["predict", "predict_proba", "decision_function"]),
    ],
)
def test_what_needs_numbers_that_were_not_released_is_not_listed(
    iris, tmp_path, estimator, methods
):
    """``score_samples`` and ``transform`` were listed, and raised AttributeError."""
    released = PACPrivate(estimator, secret=Subsets(16)).fit(*iris)
    path = publish(released, tmp_path / "model.pac", onnx="none")
    assert load_bundle(path, key=None).inputs["methods"] == methods
