"""The store of answers against a dictionary, across its forms."""

from __future__ import annotations

import hashlib
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from pacsklearn.responses import stored_answers
from pacsklearn.responses.stored_answers import AnswerRun, StoredAnswers


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
