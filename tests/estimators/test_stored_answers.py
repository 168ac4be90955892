"""The store of answers against a dictionary, across its forms; which queries are identical."""

from __future__ import annotations

import hashlib
import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pacsklearn.estimators import stored_answers
from pacsklearn.estimators.stored_answers import AnswerRun, StoredAnswers, row_keys


def keys_of(numbers):
    return [hashlib.blake2b(str(i).encode(), digest_size=16).digest() for i in numbers]


@pytest.mark.parametrize("width", [None, 3])
def test_it_is_a_dictionary(monkeypatch, width):
    monkeypatch.setattr(stored_answers, "_RECENT", 32)
    generator = np.random.default_rng(0)
    store, plain = StoredAnswers(), {}
    for _ in range(60):
        keys = keys_of(generator.integers(0, 1500, size=40).tolist())
        missing = store.missing(keys)
        first = list(dict.fromkeys(key for key in keys if key not in plain))
        assert [keys[i] for i in missing] == first
        values = list(generator.integers(0, 9, len(missing), dtype=np.uint8))
        if width is not None:
            values = list(generator.normal(size=(len(missing), width)))
        margins = generator.normal(size=len(missing)).tolist()
        store.add(first, values, margins)
        plain |= dict(zip(first, zip(values, margins, strict=True), strict=True))
        told, sure = store.answers(keys)
        np.testing.assert_array_equal(told, [plain[key][0] for key in keys])
        assert sure == [plain[key][1] for key in keys]
        assert len(store) == len(plain)
    # The last one may be of recent answers, which are no run yet.
    lengths = [len(run) for run in store.export()][:-1]
    assert all(left >= 2 * right for left, right in pairwise(lengths))
    again = StoredAnswers()
    again.restore(store.export())
    everything = list(plain)
    np.testing.assert_array_equal(again.answers(everything)[0], store.answers(everything)[0])
    assert again.missing(everything) == []


def test_digests_that_share_a_half_are_told_apart():
    same = bytes(8)
    keys = [same + bytes([0] * 7 + [i]) for i in range(5)]
    run = AnswerRun.of({key: (i, float(i)) for i, key in enumerate(keys[:4])})
    high = np.zeros(5, dtype=np.uint64)
    places = run.places(high, np.arange(5, dtype=np.uint64))
    assert run.values[places[:4]].tolist() == [0, 1, 2, 3]
    assert places[4] == -1


@pytest.mark.soak
def test_older_answers_take_less_than_a_hundred_bytes(monkeypatch):
    monkeypatch.setattr(stored_answers, "_RECENT", 2**12)
    tracemalloc.start()
    store = StoredAnswers()
    for start in range(0, 40 * 2**12, 2**12):
        keys = keys_of(range(start, start + 2**12))
        store.add(keys, list(np.zeros(len(keys), dtype=np.int32)), [1.0] * len(keys))
    del keys
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / len(store) < 60


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


def digest(header: str, content: bytes) -> bytes:
    size = len(header.encode()).to_bytes(8, "little")
    return hashlib.blake2b(size + header.encode() + content, digest_size=16).digest()


def test_keys_are_those_of_earlier_versions() -> None:
    """Answers in a ledger or a session file are found by them: another key buys a new answer."""
    dense = np.array([[1.5, -2.0], [0.0, 3.0]])
    header = repr([("", "<f8")])
    assert row_keys(dense) == [digest(header, row.tobytes()) for row in dense]
    frame = pd.DataFrame({"a": np.array([1, 2], dtype=np.int16), "b": [0.5, -0.0]})
    header = repr([("a", "int16"), ("b", "float64")])
    halves = [np.int16(1).tobytes() + np.float64(0.5).tobytes()]
    halves += [np.int16(2).tobytes() + np.float64(0).tobytes()]
    assert row_keys(frame) == [digest(header, half) for half in halves]
    mixed = pd.DataFrame({"a": [1.0, 2.0], "b": np.array(["x", 7], dtype=object)})
    header = repr([("a", "float64"), ("b", "object")])
    assert row_keys(mixed) == [digest(header, text) for text in (b"(1.0, 'x')", b"(2.0, 7)")]
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array):
        held = kind(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))
        contents = [np.int64(1).tobytes() + np.float64(2).tobytes()]
        contents += [np.array([0, 2]).tobytes() + np.array([1.0, 3.0]).tobytes()]
        assert row_keys(held) == [digest("sparse <f8 3", each) for each in contents]


def test_a_row_of_many_columns_is_one_key() -> None:
    """Also in an array of bytes and of truths, and where entries of a sparse row came twice."""
    for kind in ("u1", "i8", "f4", "?"):
        table = np.arange(12).reshape(4, 3).astype(kind)
        header = repr([("", np.dtype(kind).str)])
        assert row_keys(table) == [digest(header, row.tobytes()) for row in table]
    twice = sparse.csr_matrix((np.array([1.0, 1.0, 0.0]), [1, 1, 2], [0, 3]), shape=(1, 3))
    once = sparse.csr_matrix(np.array([[0.0, 2.0, 0.0]]))
    assert row_keys(twice) == row_keys(once)
    assert twice.nnz == 3, "the caller's matrix is as it was"


class Interchanged:
    """A table of another library: columns, but not by number of a frame of pandas."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame, self.columns, self.shape = frame, list(frame.columns), frame.shape

    def __getitem__(self, at: Any) -> Any:
        return self.frame.iloc[at]


def test_tables_of_other_libraries_have_the_same_keys() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert row_keys(Interchanged(frame)) == row_keys(frame)


def test_an_answer_is_kept_once_whatever_form_it_is_in(monkeypatch: Any) -> None:
    """At the very number of recent ones they become a run; runs grow by halves."""
    monkeypatch.setattr(stored_answers, "_RECENT", 4)
    store, sizes = StoredAnswers(), []
    for start in range(0, 28, 2):
        asked = keys_of(range(start, start + 2))
        assert store.missing([*asked, *asked]) == [0, 1]
        store.add(asked, [start, start + 1], [0.5, 1.5])
        sizes.append([len(run) for run in store.export()])
        assert len(store) == start + 2
    assert sizes[:4] == [[2], [4], [4, 2], [8]]
    assert sizes[5:8:2] == [[8, 4], [16]]
    store.add(keys_of([99]), [7], [2.5])
    assert [len(run) for run in store.export()] == [*sizes[-1], 1]
    again = StoredAnswers()
    again.restore(store.export())
    assert again.answers(keys_of([99, 0, 27])) == ([7, 0, 27], [2.5, 0.5, 1.5])
    assert all("array" not in repr(run) for run in store.export())
