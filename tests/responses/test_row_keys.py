"""Which queries are one and the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pacsklearn.responses.row_keys import row_keys


def keys(*containers: Any) -> list[bytes]:
    return [row_keys(container)[0] for container in containers]


@pytest.mark.parametrize(
    "rows",
    [
        np.array([[0.0, 1.0], [-0.0, 1.0]]),
        np.array([[0.0, 1.0], [-0.0, 1.0]], dtype=np.float32),
        pd.DataFrame({"a": [0.0, -0.0], "b": [1.0, 1.0]}),
        pd.DataFrame({"a": [0.0, -0.0], "b": ["x", "x"]}),
        sparse.csr_matrix((np.array([-0.0, 1.0, 1.0]), ([0, 0, 1], [0, 1, 1])), shape=(2, 2)),
    ],
)
def test_both_zeros_are_one(rows: Any) -> None:
    """Asking about -0.0 after 0.0 would have bought a second, fresh answer about one row."""
    first, second = row_keys(rows)
    assert first == second


def test_the_order_in_memory_does_not_matter() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert row_keys(X) == row_keys(np.asfortranarray(X)) == row_keys(X[::-1])[::-1]
    assert len(set(row_keys(X))) == 20


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_that_no_double_holds(dtype: Any) -> None:
    """2^53 and 2^53 + 1 had one key: the second got the first one's answer."""
    big = np.array([[2**53, 1], [2**53 + 1, 1]], dtype=dtype)
    frame = pd.DataFrame({"id": big[:, 0], "x": [0.5, 0.5]})  # as one array, a frame of doubles
    for rows in (big, frame, frame.assign(x="a"), sparse.csr_matrix(big)):
        assert len(set(row_keys(rows))) == 2


def test_types_and_names_are_part_of_a_query() -> None:
    values = [[1, 0]]
    typed = [np.array(values, dtype=kind) for kind in (bool, int, np.int32, float, np.float32)]
    frames = [
        pd.DataFrame(values, columns=names)
        for names in (["a", "b"], ["b", "a"], ["ab", ""], ["a", "b "])
    ]
    everything = keys(*typed, *frames, pd.DataFrame(values, columns=["a", "b"], dtype=float))
    assert len(set(everything)) == len(everything)


def test_columns_do_not_run_into_one_another() -> None:
    frames = [
        pd.DataFrame({"a": ["x"], "b": ["y"]}),
        pd.DataFrame({"a": ["x', 'y"], "b": [""]}),
        pd.DataFrame({"a": np.array([1], dtype=np.int8), "b": np.array([2], dtype=np.int16)}),
        pd.DataFrame({"a": np.array([1], dtype=np.int16), "b": np.array([2], dtype=np.int8)}),
    ]
    assert len(set(keys(*frames))) == 4


def test_frames_with_a_name_twice_and_rows_of_nothing() -> None:
    frame = pd.DataFrame([[1.0, 2.0], [2.0, 1.0]], columns=["a", "a"])
    assert len(set(row_keys(frame))) == 2
    assert row_keys(np.empty((0, 3))) == []
    assert len(set(row_keys(np.empty((2, 0))))) == 1
    assert row_keys(frame[:0]) == []


def test_missing_values_and_categories() -> None:
    frame = pd.DataFrame({"a": [1.0, np.nan, np.nan], "b": pd.Categorical(["x", "y", "y"])})
    first, second, third = row_keys(frame)
    assert first != second == third
