"""Plain values come back as they were, and nothing else is written or read."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from pacsklearn.estimators.plain_document import read_document, write_document


def again(value: Any) -> Any:
    content = io.BytesIO()
    write_document(content, value)
    return read_document(io.BytesIO(content.getvalue()))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(2**70),
        1.5,
        float("inf"),
        1 + 2j,
        "text \ud800 \0",
        b"bytes",
        (1, [2, (3,)], {"a": None, 4: {5, 6}, (7,): frozenset({8})}),
        [],
    ],
)
def test_values_of_python(value: Any) -> None:
    read = again(value)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.empty((0, 3), dtype=np.int8),
        np.array(["a", "bc"]),
        np.array([b"a", b"bc"]),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[s]"),
        np.array([1 + 1j]),
        np.array([[1, "a"], [None, 2.5]], dtype=object),
        np.float32(0.1),
    ],
)
def test_arrays_bit_for_bit(array: Any) -> None:
    read = again(array)
    assert type(read) is type(array)
    assert (read.dtype, read.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(read, array)


def test_lists_in_an_object_array_are_no_axes() -> None:
    array = np.empty(2, dtype=object)
    array[0], array[1] = [1, 2], [3, 4]
    assert again(array).tolist() == [[1, 2], [3, 4]]


def test_nan_stays_nan() -> None:
    assert np.isnan(again(float("nan")))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_matrices(kind: Any) -> None:
    matrix = kind(np.diag([1.0, 0.0, 2.0]))
    read = again(matrix)
    assert type(read) is kind
    np.testing.assert_array_equal(read.toarray(), matrix.toarray())


def test_indices_outside_a_sparse_matrix_are_refused() -> None:
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices[1] = 10**6
    with pytest.raises(ValueError, match=r"ind(ices|ex)"):
        again(matrix)


def test_tables_of_pandas() -> None:
    table = pd.DataFrame(
        {
            "number": [1, 2, 3],
            "text": ["x", None, "z"],
            "category": pd.Categorical(["u", "v", None], categories=["v", "u"], ordered=True),
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "mixed": np.array([1, "a", None], dtype=object),
            # pandas would read these as words of its own, without None, and fail at the last.
            "words": pd.Series(["x", None, "z"], dtype=object),
            "no text": pd.Series(["x", "\udc80", "z"], dtype=object),
            "time": pd.to_datetime(["2020-01-01"] * 3),
            "string": pd.array(["a", None, "b"], dtype="string"),
        }
    ).set_index(pd.Index([5, 6, 9], name="row"))
    pd.testing.assert_frame_equal(again(table), table)
    pd.testing.assert_series_equal(again(table["category"]), table["category"])
    assert again(table)["words"].tolist() == ["x", None, "z"]
    named = table.set_axis(pd.Index(["p1", None, "p2"], dtype=object))
    assert again(named).index.tolist() == ["p1", None, "p2"]
    twice = pd.DataFrame(np.eye(2), columns=["a", "a"])
    pd.testing.assert_frame_equal(again(twice), twice)
    assert type(again(twice).index) is pd.RangeIndex


def test_tables_of_polars() -> None:
    table = pl.DataFrame({"a": [1, 2], "b": ["x", None], "c": [1.0, 2.0], "d": [True, None]})
    read = again(table)
    assert read.schema == table.schema
    assert read.equals(table)


class Text(str):
    """A subclass is an object of its own."""

    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        print,
        lambda: None,
        object(),
        Text("a"),
        np.random.default_rng(0),
        np.ma.array([1]),
        np.zeros(2, dtype=[("a", "f8")]),
        {"deep": [Text("a")]},
        pd.DataFrame({"a": pd.to_datetime(["2020-01-01"], utc=True)}),
        sparse.lil_array((2, 2)),
    ],
)
def test_other_objects_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="code"):
        write_document(io.BytesIO(), value)
