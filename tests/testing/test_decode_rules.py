from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from pacsklearn.testing.decode_rules import holds_training_rows


@pytest.fixture
def data():
    return np.random.default_rng(0).normal(size=(30, 4))


def test_rows_columns_and_targets_are_found(data):
    assert holds_training_rows(pickle.dumps(data[7:8].copy()), data)
    assert holds_training_rows(pickle.dumps(np.asfortranarray(data)), data)
    assert holds_training_rows(pickle.dumps(data.astype(np.float32)), data)
    assert holds_training_rows(pickle.dumps(data[:, 0].copy()), data[:, 1:], data[:, 0])
    assert holds_training_rows(pickle.dumps(csr_matrix(data)), csr_matrix(data))


def test_other_numbers_are_not(data):
    assert not holds_training_rows(pickle.dumps(data + 1e-9), data)
    assert not holds_training_rows(pickle.dumps(np.zeros((5, 5))), np.zeros((5, 5)))


def test_public_matches_mean_nothing(data):
    given = pickle.dumps(data[:2].copy())
    assert holds_training_rows(given, data)
    assert not holds_training_rows(given, data, public=given)


def test_text_columns_are_left_out(data):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": data[:, 0], "b": data[:, 1], "c": "text"})
    assert holds_training_rows(pickle.dumps(data[3, :2].copy()), frame, np.array(["x"] * 30))
