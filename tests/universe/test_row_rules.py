"""Rows as an estimator takes them: a table of doubles is taken as it is, the rest is checked."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from pacsklearn.universe.row_rules import RowRules

TABLE = np.arange(6.0).reshape(3, 2)


def test_a_table_of_doubles_is_no_copy() -> None:
    assert RowRules.of(SVC()).check(TABLE) is TABLE


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.where(TABLE == 3, np.nan, TABLE), "NaN"),
        (np.where(TABLE == 3, np.inf, TABLE), "infinity"),
        (TABLE[:1], "minimum"),
        (TABLE[:, :0], "feature"),
        (TABLE[0], "Reshape"),
        (TABLE[None], "Found"),
        (TABLE + 0j, "Complex"),
        (np.array([["a", "b"]] * 3), "hold"),
    ],
)
def test_anything_else_is_refused_in_the_same_words(rows: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RowRules.of(SVC()).check(rows, at_least=2)


def test_a_gap_passes_where_a_step_fills_it() -> None:
    rows = np.where(TABLE == 3, np.nan, TABLE)
    checked = RowRules.of(make_pipeline(SimpleImputer(), SVC())).check(rows)
    assert np.array_equal(checked, rows, equal_nan=True)
