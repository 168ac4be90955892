from __future__ import annotations

import numpy as np
from pacsklearn_publish.probe_rows import probe_rows, runtime_inputs
from sklearn.preprocessing import StandardScaler

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
