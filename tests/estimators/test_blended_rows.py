"""Rows between pairs of public ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from pacsklearn.estimators.blended_rows import FEW_ROWS, with_blended

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


def test_numbers_lie_between_those_of_the_same_two_rows() -> None:
    rows = np.array([[0.5, 1.5], [10.5, 101.5]])
    made = with_blended(rows)
    assert made.shape == (FEW_ROWS, 2)
    assert np.array_equal(made[:2], rows)
    assert np.allclose(made[:, 1] - 1.5, 10 * (made[:, 0] - 0.5))
    assert 3 < made[2:, 0].mean() < 8


def test_a_table_keeps_its_types_and_values() -> None:
    made = with_blended(TABLE)
    assert len(made) == FEW_ROWS
    assert (made.dtypes == TABLE.dtypes).all()
    pd.testing.assert_frame_equal(made.iloc[:3], TABLE)
    assert made["age"].between(20, 60).all()
    assert made["age"].nunique() > 10
    for name in ("ward", "seen", "text", "is_new"):
        assert set(made[name].dropna()) == set(TABLE[name].dropna())
    assert made["pay"].isna().mean() == pytest.approx(1 / 3, abs=0.1)


def test_whole_numbers_stay_whole_and_integers_integers() -> None:
    made = with_blended(np.array([[0.0], [16.0]]))
    assert np.array_equal(made, np.rint(made))
    assert with_blended(np.array([[0], [9]])).dtype.kind == "i"


def test_it_is_the_same_function_of_the_rows_every_time() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 3))
    assert np.array_equal(with_blended(rows), with_blended(rows.copy()))


@pytest.mark.parametrize("rows", [np.zeros((FEW_ROWS, 1)), np.zeros((1, 2)), csr_matrix(np.eye(3))])
def test_what_is_left_alone(rows: object) -> None:
    assert with_blended(rows) is rows
