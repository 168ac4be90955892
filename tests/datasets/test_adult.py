from __future__ import annotations

import sys

import numpy as np
import pytest

from pacsklearn.datasets import load_adult
from pacsklearn.datasets.adult import ADULT, rows_from_archive, rows_from_data
from pacsklearn.datasets.storage import write_table

TRAIN = """\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, \
2174, 0, 40, United-States, <=50K

"""
TEST = """\
|1x3 Cross validator
40, Private, 121772, Assoc-voc, 11, Married-civ-spouse, Craft-repair, Husband, \
Asian-Pac-Islander, Male, 0, 0, 40, ?, >50K.

"""


def test_original_format():
    assert rows_from_data(TRAIN)[0][-2:] == ["United-States", "<=50K"]
    assert [row[-2:] for row in rows_from_data(TEST)] == [["?", ">50K"]]


def test_training_rows_come_first(zipped):
    archive = zipped({"adult.test": TEST, "old.adult.names": "no", "adult.data": TRAIN})
    assert rows_from_archive(archive) == rows_from_data(TRAIN) + rows_from_data(TEST)


@pytest.fixture
def small(tmp_path):
    write_table(
        tmp_path / "adult.csv",
        [*ADULT.features, "income"],
        rows_from_data(TRAIN) + rows_from_data(TEST),
    )
    return tmp_path


def test_categories_are_the_codebooks(small):
    pytest.importorskip("pandas")
    X, y = load_adult(return_X_y=True, data_home=small, download=False)
    for name, categories in ADULT.features.items():
        if categories is None:
            assert X[name].dtype == np.float64
        else:
            assert tuple(X[name].cat.categories) == categories
    assert list(X["sex"]) == ["Male", "Male"]
    assert list(X["native-country"].isna()) == [False, True]
    assert list(y) == [0, 1]


def test_array_of_objects(small):
    pytest.importorskip("pandas")
    X, y = load_adult(return_X_y=True, as_frame=False, data_home=small, download=False)
    assert X[0, :2].tolist() == [39.0, "State-gov"]
    assert X.dtype == object
    np.testing.assert_array_equal(y, [0, 1])


def test_a_category_outside_the_codebook(small):
    pytest.importorskip("pandas")
    row = ["39", "Pirate", *rows_from_data(TRAIN)[0][2:]]
    write_table(small / "adult.csv", [*ADULT.features, "income"], [row])
    with pytest.raises(ValueError, match="hold"):
        load_adult(data_home=small)


def test_without_pandas(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="load_adult"):
        load_adult(as_frame=False, data_home=small)


def test_real_file(shared_data):
    pytest.importorskip("pandas")
    bunch = load_adult(data_home=shared_data, download=False)
    assert bunch.frame.shape == (48842, 15)
    np.testing.assert_array_equal(np.bincount(bunch.target), [37155, 11687])
    missing = bunch.data.isna().sum()
    assert missing[missing > 0].to_dict() == {
        "workclass": 2799,
        "occupation": 2809,
        "native-country": 857,
    }
    # The test file starts at row 32561, so both parts can be told apart again.
    assert bunch.data["age"].iloc[32561] == 25
