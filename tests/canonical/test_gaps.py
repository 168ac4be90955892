"""Rows with gaps stand in the columns that are imputed, and count one hundredth each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pacsklearn.canonical.gaps import rows_with_gaps

pl = pytest.importorskip("polars")
KINDS = {
    "array": lambda table: np.column_stack(list(table.values())),
    "whole numbers": lambda table: np.column_stack(list(table.values())).astype(int),
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_imputed_column_is_missing_in_four_rows(kind: str) -> None:
    table = {name: np.arange(5.0) + i for i, name in enumerate("abcd")}
    rows: Any = KINDS[kind](table)
    step = ColumnTransformer(
        [
            ("numbers", make_pipeline("passthrough", SimpleImputer(), StandardScaler()), [3, 1]),
            ("same", make_union(SimpleImputer(strategy="median")), [1]),
            ("public", SimpleImputer(strategy="constant"), [0]),
            ("codes", OneHotEncoder(), [2]),
        ]
    ).fit(rows)
    wider, share = rows_with_gaps(step, rows)
    values = np.asarray(wider if kind != "polars" else wider.to_numpy(), dtype=float)
    assert values.shape == (5 + 2 * 4, 4)
    assert np.argwhere(np.isnan(values)).tolist() == [
        *([5 + i, 1] for i in range(4)),
        *([9 + i, 3] for i in range(4)),
    ]
    assert share[:5].sum() == pytest.approx(1)
    assert share[5:].tolist() == [0.0025] * 8
    assert not np.isnan(np.asarray(rows, dtype=float)).any()  # the rows given stay whole


def test_other_marks_of_what_is_missing() -> None:
    rows = np.arange(6.0).reshape(3, 2)
    step = SimpleImputer(missing_values=-1).fit(rows)
    assert (rows_with_gaps(step, rows)[0] == -1).sum() == 8


def test_without_an_imputer_the_rows_are_those_given() -> None:
    rows = np.ones((3, 2))
    same, share = rows_with_gaps(StandardScaler().fit(rows), rows)
    assert same is rows
    assert share.tolist() == [1 / 3] * 3
