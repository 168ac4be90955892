"""Sources, columns and passes of a table; what is wrong with one is said by name."""

from __future__ import annotations

import io
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pacsklearn_bigdata import Table
from pacsklearn_bigdata.exceptions import TableError
from pacsklearn_bigdata.sources import ParquetSource
from pacsklearn_bigdata.table_reader import Batch, TableReader
from scipy import sparse

from pacsklearn.exceptions import DesignError

ROWS = np.random.default_rng(0).normal(size=(1000, 4))
FRAME = pd.DataFrame(ROWS, columns=list("abcd"))


def sums(batch: Batch) -> list[Any]:
    return [batch.rows.sum(axis=0), np.array([len(batch.rows)])]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c", "d"]).assign(who=np.arange(1000) // 4)
    frame["label"] = np.where(frame["a"] > 0, "yes", "no")
    for i in range(3):
        frame.iloc[i::3].to_parquet(tmp_path / f"{i}.parquet")
    return tmp_path


def sources(folder: Path) -> dict[str, Any]:
    (folder / "notes.txt").write_text("not a table")
    mapped = np.memmap(folder / "rows.bin", dtype=np.float64, mode="w+", shape=ROWS.shape)
    mapped[:] = ROWS
    return {
        "array": ROWS,
        "memmap": mapped,
        "frame": pd.DataFrame(ROWS, columns=["a", "b", "c", "d"]),
        "arrays": lambda: iter(np.array_split(ROWS, 7)),
        "frames": lambda: (pd.DataFrame(part) for part in np.array_split(ROWS, 3)),
    }


def test_every_source_gives_the_same_sums(folder: Path) -> None:
    for name, source in sources(folder).items():
        table = Table(source, batch_rows=128)
        total, count = table.total(sums)
        assert total == pytest.approx(ROWS.sum(axis=0)), name
        assert count == 1000
        assert (table.profile.n_rows, table.n_passes) == (1000, 1)
    parquet = Table(folder, features=["a", "b", "c", "d"], batch_rows=100)
    assert parquet.total(sums)[0] == pytest.approx(ROWS.sum(axis=0))
    assert parquet.feature_names == ("a", "b", "c", "d")


def test_record_batches_of_an_iterator() -> None:
    pa = pytest.importorskip("pyarrow")
    batches = pa.table({"a": ROWS[:, 0], "y": np.arange(1000) % 2}).to_batches(max_chunksize=300)
    table = Table(lambda: iter(batches), target="y")
    assert table.total(sums)[0] == pytest.approx(ROWS[:, 0].sum())
    assert table.profile.values is not None
    assert table.profile.values.tolist() == [0, 1]


def test_units_and_targets(folder: Path) -> None:
    table = Table(folder, target="label", unit="who")
    assert table.feature_names == ("a", "b", "c", "d")
    assert (table.unit, table.profile.n_units, table.profile.n_rows) == ("group", 250, 1000)
    assert table.profile.values is not None
    assert table.profile.values.tolist() == ["no", "yes"]
    rows = Table(folder, features=["a"])
    assert (rows.unit, rows.profile.n_units) == ("row", 1000)
    # Rows of several files never share a name.
    assert np.unique(rows.profile.sample.names).size == len(rows.profile.sample.names)


def test_the_sample_is_spread_over_the_table() -> None:
    rows = np.arange(400_000.0)[:, None]
    sample = Table(rows, batch_rows=5000).profile.sample.rows.ravel()
    assert 60_000 < len(sample) <= 2**17
    assert np.histogram(sample, 10, (0, 400_000))[0] == pytest.approx(len(sample) / 10, rel=0.2)


def test_a_source_that_changes_is_noticed() -> None:
    parts = [ROWS[:500], ROWS[500:]]
    table = Table(lambda: iter(parts))
    table.total(sums)
    parts.pop()
    with pytest.raises(TableError, match="pass"):
        table.total(sums)


def test_a_pass_over_units_reads_their_column_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    read = ParquetSource.read

    def seen(source: Any, part: int, rows: int, columns: Any) -> Any:
        asked.append(list(columns))
        return read(source, part, rows, columns)

    monkeypatch.setattr(ParquetSource, "read", seen)
    for unit, names in [(None, []), ("who", ["who"])]:
        table = Table(folder, features=["a", "b"], unit=unit)
        table.total(sums)
        assert asked.pop() == ["a", "b", *names]
        counts = table.total(lambda batch: [[len(batch.names), batch.rows.size]], only_units=True)
        assert counts[0].tolist() == [1000, 0]
        assert asked.pop() == names


def test_units_that_change_in_a_pass_over_them_are_noticed() -> None:
    passes = iter([FRAME.assign(who=np.arange(1000) // k) for k in (4, 4, 5)])
    table = Table(lambda: [next(passes)], unit="who")
    table.total(sums)
    table.total(None, only_units=True)
    with pytest.raises(TableError, match="order"):
        table.total(None, only_units=True)


def test_rows_that_change_places_are_noticed() -> None:
    # A row named by its place would be in other candidates than in the pass before.
    rows = np.random.default_rng(3).integers(3, size=(1000, 2)).astype(float)
    rows[:2] = [[0.0, 1.0], [1.0, 0.0]]
    passes = iter([rows, rows, rows[np.r_[1, 0, 2:1000]]])
    table = Table(lambda: np.array_split(next(passes), 3))
    table.total(sums)
    table.total(sums)
    with pytest.raises(TableError, match="order"):
        table.total(sums)


def test_units_may_come_in_another_order() -> None:
    frame = FRAME.assign(who=np.arange(1000) // 5)
    passes = iter([frame, frame.iloc[::-1]])
    table = Table(lambda: [next(passes)], unit="who")
    assert table.total(sums)[0] == pytest.approx(table.total(sums)[0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Table("/nowhere.parquet"), "folder"),
        (lambda: Table(iter([ROWS])), "once"),
        (lambda: Table([1, 2]), "source"),
        (lambda: Table(ROWS[0]), "array"),
        (lambda: Table(pd.DataFrame({"a": [1.0]}), target="b"), "target"),
        (lambda: Table(ROWS, target="b"), "positions"),
        (lambda: Table(ROWS, batch_rows=0), "batch_rows"),
        (lambda: Table(ROWS, engine="spark"), "engine"),
        (lambda: Table(lambda: iter([])), "rows"),
        (lambda: Table(lambda: iter([[1, 2]])), "batch"),
        (lambda: Table(np.where(ROWS > 3, np.nan, ROWS)), "missing"),
        (lambda: Table(pd.DataFrame({"a": ["x"]})), "hold"),
    ],
)
def test_what_is_wrong_is_named(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make().total(sums)


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("not parquet")
    with pytest.raises(TableError, match="Parquet"):
        Table(tmp_path / "x.parquet").total(sums)


def test_a_reader_can_be_sent(folder: Path) -> None:
    made = TableReader(ParquetSource(folder), None, None, ["a"], 100)
    reader = pickle.loads(pickle.dumps(made))
    assert sum(len(batch.rows) for part in range(3) for batch in reader.batches(part)) == 1000


def test_rows_a_second_are_shown() -> None:
    table, shown = Table(lambda: iter(np.array_split(ROWS, 4))), io.StringIO()
    table.show(shown)
    for number in (1, 2):
        table.total(sums)
        assert re.search(rf"pass {number}: 1,000 rows, [\d,]+ rows a second", shown.getvalue())
    table.show(None)
    before = shown.getvalue()
    table.total(sums)
    assert shown.getvalue() == before
    assert "Table(IterableSource, n_rows=1000)" in repr(table)


def test_a_position_from_the_end() -> None:
    """Taken as it was, the target of column -1 was also a feature."""
    table = Table(FRAME.assign(who=np.arange(1000) // 2)[["who", *"abcd"]], target=-1, unit=-5)
    assert table.feature_names == ("a", "b", "c")
    assert table.profile.n_units == 500
    assert Table(ROWS, target=-1).profile.sample.rows.shape == (1000, 3)
    assert np.array_equal(table.profile.sample.target, ROWS[:, -1])
    assert Table(ROWS, features=[-1]).total(sums)[0] == pytest.approx(ROWS[:, -1:].sum(axis=0))


def masked() -> Any:
    return np.ma.masked_array(ROWS, ROWS > 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Table(ROWS, target=4), "target"),
        (lambda: Table(ROWS, features=[0, -5]), "features"),
        (lambda: Table(FRAME, target="a", features=["b", "a"]), "target"),
        (lambda: Table(FRAME, unit="a", features=["b", "a"]), "unit"),
        (lambda: Table(FRAME, target="a", unit=0), "column"),
        (lambda: Table(FRAME, features=["b", "b"]), "once"),
        (lambda: Table(FRAME, features="ab"), "features"),
        (lambda: Table(FRAME, features=[]), "features"),
        (lambda: Table(FRAME[["a"]], target="a"), "beside"),
        (lambda: Table(FRAME.set_axis(list("aabc"), axis=1)), "Several"),
        (lambda: Table(lambda: iter([FRAME, FRAME[["b", "a", "c", "d"]]])), "other"),
        (lambda: Table(lambda: iter([FRAME, FRAME.rename(columns={"a": "q"})])), "'q', 'b'"),
        (lambda: Table(lambda: iter([ROWS, ROWS[:, :3]])), "columns"),
        (
            lambda: Table(lambda: iter([FRAME.assign(u=1), FRAME.assign(u="p1")]), unit="u"),
            "numbers",
        ),
        (
            lambda: Table(lambda: iter([FRAME.assign(y=1), FRAME.assign(y="no")]), target="y"),
            "target holds numbers",
        ),
        (lambda: Table(lambda: 5), "iterator"),
        (lambda: Table(lambda: iter([FRAME["a"]])), "batch"),
        (lambda: Table(sparse.csr_matrix(ROWS)), "sparse"),
        (lambda: Table(masked()), "misses"),
        (lambda: Table(FRAME.assign(e=["x", *ROWS[1:, 0]])), "hold"),
        (
            lambda: Table(FRAME.assign(y=["no", None] * 500), target="y"),
            "target",
        ),
        (lambda: Table(FRAME.assign(y=["no", 1] * 500), target="y"), "kinds"),
        (
            lambda: Table(FRAME.assign(a=FRAME["a"].where(FRAME.index > 0)), target="a"),
            "target",
        ),
    ],
)
def test_unusual_columns_and_batches(make: Any, words: str) -> None:
    with pytest.raises(TableError, match=words):
        make().total(sums)


def test_a_batch_without_rows_has_no_types() -> None:
    """A frame made of no rows holds objects, whatever the others hold."""
    batches = [pd.DataFrame(columns=list(FRAME)), FRAME, pd.DataFrame(columns=list(FRAME))]
    table = Table(lambda: iter(batches), target="d")
    assert table.profile.n_rows == len(FRAME)


def test_a_masked_name_is_missing() -> None:
    units = np.ma.masked_array(np.repeat(np.arange(500), 2), np.arange(1000) == 7)
    rows = np.ma.column_stack([units, np.zeros(1000)])
    table = Table(lambda: iter([rows.astype(np.int64)]), unit=0)
    with pytest.raises(DesignError, match="missing"):
        table.total(sums)


def test_files_of_a_folder_that_differ_change_or_hide(folder: Path) -> None:
    frame = pd.read_parquet(folder / "0.parquet")
    (folder / "_tmp").mkdir()
    for hidden in (".1.parquet", "_2.parquet", "_tmp/3.parquet"):
        (folder / hidden).write_bytes(b"still being written")
    table = Table(folder, target="label")
    assert table.profile.n_rows == 1000
    whole = (folder / "2.parquet").read_bytes()
    (folder / "2.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TableError, match="read"):
        table.total(sums)
    # The end of the file says where its columns are; these are gone.
    (folder / "2.parquet").write_bytes(b"PAR1" + bytes(len(whole) // 2) + whole[-len(whole) // 2 :])
    with pytest.raises(TableError, match="read"):
        table.total(sums)
    (folder / "2.parquet").unlink()
    with pytest.raises(TableError, match="read"):
        table.total(sums)
    frame.drop(columns="b").to_parquet(folder / "2.parquet")
    with pytest.raises(TableError, match="parquet"):
        table.total(sums)
    frame.head(3).to_parquet(folder / "2.parquet")
    with pytest.raises(TableError, match="rows"):
        table.total(sums)


def test_an_iterator_that_is_exhausted_changed() -> None:
    once = iter([ROWS])
    table = Table(lambda: once)
    table.total(sums)
    with pytest.raises(TableError, match="pass"):
        table.total(sums)
