"""Rows crossed from pairs of public ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from pacsklearn.tabular.students.student_queries import FEW_ROWS, with_crossed

TABLE = pd.DataFrame(
    {
        "age": [20, 40, 60],
        "pay": [1.5, np.nan, 9.25],
        "ward": pd.Categorical(["n", "s", "n"], categories=["n", "s", "w"]),
        "seen": pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"]),
        "text": ["a", "b", None],
        "is_new": [True, False, True],
    }
)


def test_values_are_those_of_the_same_two_rows() -> None:
    rows = np.arange(12).reshape(3, 4)
    made = with_crossed(rows)
    assert made.shape == (FEW_ROWS, 4)
    assert made.dtype == rows.dtype
    assert np.array_equal(made[:3], rows)
    sources = made[3:] // 4  # the row that each value is of
    assert np.array_equal(made[3:] % 4, np.broadcast_to(np.arange(4), sources.shape))
    parents = {frozenset(row) for row in sources.tolist()}
    assert max(map(len, parents)) == 2
    assert {frozenset(pair) for pair in ((0, 1), (0, 2), (1, 2))} <= parents
    assert np.bincount(sources.ravel()) / sources.size == pytest.approx(1 / 3, abs=0.05)


def test_a_table_keeps_its_types_and_values() -> None:
    made = with_crossed(TABLE)
    assert len(made) == FEW_ROWS
    assert (made.dtypes == TABLE.dtypes).all()
    pd.testing.assert_frame_equal(made.iloc[:3], TABLE)
    for name in TABLE:
        assert set(made[name].dropna()) == set(TABLE[name].dropna())
    assert made["pay"].isna().mean() == pytest.approx(1 / 3, abs=0.1)
    assert len(made.drop_duplicates()) > 30


def test_columns_of_one_name_stay_apart() -> None:
    rows = pd.DataFrame([[1, 20, 3], [4, 50, 6]], columns=["a", "a", "b"], index=[7, 7])
    made = with_crossed(rows)
    assert list(made.columns) == ["a", "a", "b"]
    assert set(made.iloc[:, 1]) == {20, 50}


def test_it_is_the_same_function_of_the_rows_every_time() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 3))
    assert np.array_equal(with_crossed(rows), with_crossed(rows.copy()))


@pytest.mark.parametrize(
    "rows", [np.zeros((FEW_ROWS, 2)), np.zeros((1, 2)), np.zeros((9, 1)), csr_matrix(np.eye(3))]
)
def test_what_is_left_alone(rows: object) -> None:
    assert with_crossed(rows) is rows
