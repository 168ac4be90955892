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

from pacsklearn.responses import stored_answers
from pacsklearn.responses.stored_answers import AnswerRun, StoredAnswers, row_keys


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
    lengths = [len(run) for run in store._runs]
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
