"""Columns of odd types, and sources that change or fail between two passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pacsklearn_bigdata import Table
from pacsklearn_bigdata.exceptions import TableError
from sklearn.linear_model import LogisticRegression

from pacsklearn import PACPrivate
from pacsklearn.exceptions import DesignError

pl = pytest.importorskip("polars", reason="polars is not installed")

N = 200
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
WORDS = np.where(Y, "yes", "no").tolist()
UNITS = np.arange(N) // 2
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y, "u": UNITS})


def fitted(source: Any, **roles: Any) -> Table:
    table = Table(source, **{"target": "y", **roles})
    PACPrivate(LogisticRegression(), budget=0.25).fit(table)
    return table


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (pd.Series([None, *WORDS[1:]], dtype="string"), "target misses a value"),
        (pd.Series([None, *(Y[1:] > 0)], dtype="boolean"), "target misses a value"),
        (pd.Series([[1]] * N), "target must hold numbers or texts, got objects of the type list"),
        (pd.Series([{"k": 1}] * N), "target must hold numbers or texts, got objects of the type d"),
        (X[:, 0], "floating-point numbers that are not whole"),
        (np.where(np.arange(N) == 3, np.inf, Y), "floating-point numbers that are not whole"),
    ],
)
def test_what_names_no_class(target: Any, words: str) -> None:
    with pytest.raises(TableError, match=words):
        fitted(FRAME.assign(y=target))


@pytest.mark.parametrize("kind", ["string", "Int64", "float64"])
def test_a_unit_that_is_missing_is_called_missing(kind: str) -> None:
    units = pd.Series([None, *UNITS[1:]], dtype="Int64").astype(kind)
    with pytest.raises(DesignError, match="unit must name a unit for every row, got a missing"):
        fitted(FRAME.assign(u=units), unit="u")


@pytest.mark.parametrize("kind", [int, str])
def test_targets_are_the_same_in_every_pass(kind: type) -> None:
    passes = []

    def batches() -> Iterator[Any]:
        passes.append(None)
        changed = (len(passes) > 2) * (np.arange(N) < 2)
        yield FRAME.assign(y=np.where(changed, 1 - Y, Y).astype(kind))

    with pytest.raises(TableError, match="other rows in this pass than in another one"):
        fitted(batches, features=["a", "b"])


@pytest.mark.parametrize("fails_at", [1, 3])
def test_what_a_source_raises_may_quote_rows_and_is_withheld(fails_at: int) -> None:
    passes = []

    def batches() -> Iterator[Any]:
        passes.append(None)
        if len(passes) == fails_at:
            raise KeyError(f"row 7 is {X[7].tolist()}")
        yield FRAME

    with pytest.raises(TableError, match="source raised KeyError") as caught:
        fitted(batches)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert str(X[7, 0]) not in str(caught.value)


@pytest.mark.parametrize(
    "source", [pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME), lambda: iter([pl.DataFrame()])]
)
def test_tables_of_other_libraries_are_called_by_their_name(source: Any) -> None:
    with pytest.raises(TableError, match=r"data frame of pandas.*got (polars\.Data|pyarrow\.Tab)"):
        fitted(source)


def test_two_columns_of_one_name_in_a_file(tmp_path: Path) -> None:
    pq.write_table(pa.table([X[:, 0], X[:, 1], Y], names=["a", "a", "y"]), tmp_path / "0.parquet")
    with pytest.raises(
        TableError, match=r"two columns have one name|columns of the source are nam"
    ):
        fitted(tmp_path)


@pytest.mark.parametrize(
    ("meddle", "words"),
    [
        (Path.unlink, "cannot be read as Parquet"),
        (lambda path: path.write_bytes(b"PAR1"), "cannot be read as Parquet"),
        (lambda path: pq.write_table(pa.table({"a": X[:, 0]}), path), "has no column 'b'"),
        (
            lambda path: pq.write_table(pa.Table.from_pandas(FRAME.assign(y=1 - Y)), path),
            "other rows in th",
        ),
        (lambda path: pq.write_table(pa.Table.from_pandas(FRAME[:-1]), path), "has 199 rows in th"),
    ],
)
def test_a_file_that_changes_between_two_passes(
    meddle: Callable[[Path], None], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME), path)
    table = Table(path, target="y", unit="u")
    assert table.profile.n_rows == N
    meddle(path)
    with pytest.raises(TableError, match=words):
        PACPrivate(LogisticRegression(), budget=0.25).fit(table)
