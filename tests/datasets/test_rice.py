from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.datasets import load_rice
from pacsklearn.datasets.rice import RICE, rows_from_archive, rows_from_arff
from pacsklearn.datasets.storage import write_table

ORIGINAL = """\
% two grains

@RELATION Rice

@ATTRIBUTE Area\tREAL
@attribute 'PERIMETER' REAL
@ATTRIBUTE Major_Axis_Length REAL
@ATTRIBUTE Minor_Axis_Length REAL
@ATTRIBUTE Eccentricity REAL
@ATTRIBUTE Convex_Area INTEGER
@ATTRIBUTE Extent REAL
@ATTRIBUTE Class {Cammeo, Osmancik}

@DATA
15231,525.57,229.74,85.09,0.92,15617,0.57,Cammeo
% a remark
13226, 421.8, 173.1, 98.4, 0.82, 13500, 0.64, Osmancik
"""
ROWS = [
    ["15231", "525.57", "229.74", "85.09", "0.92", "15617", "0.57", "Cammeo"],
    ["13226", "421.8", "173.1", "98.4", "0.82", "13500", "0.64", "Osmancik"],
]


def test_original_format():
    assert rows_from_arff(ORIGINAL) == ROWS


def test_original_format_with_windows_line_ends(zipped):
    content = ORIGINAL.replace("\n", "\r\n")
    assert rows_from_archive(zipped({"rice/Rice_Cammeo_Osmancik.arff": content})) == ROWS


def test_other_attributes_are_refused():
    with pytest.raises(ValueError, match="expected"):
        rows_from_arff(ORIGINAL.replace("Extent", "Colour"))


@pytest.fixture
def small(tmp_path):
    write_table(tmp_path / "rice.csv", [*RICE.features, "Class"], ROWS)
    return tmp_path


def test_arrays(small):
    X, y = load_rice(return_X_y=True, data_home=small, download=False)
    np.testing.assert_array_equal(X, [[float(cell) for cell in row[:-1]] for row in ROWS])
    np.testing.assert_array_equal(y, [0, 1])
    assert X.dtype == np.float64


def test_bunch(small):
    bunch = load_rice(data_home=small, download=False)
    assert bunch.feature_names == list(RICE.features)
    assert list(bunch.target_names) == ["Cammeo", "Osmancik"]
    assert bunch.filename == str(small / "rice.csv")
    assert bunch.frame is None
    assert "CC BY" in bunch.DESCR


def test_frame(small):
    pytest.importorskip("pandas")
    bunch = load_rice(as_frame=True, data_home=small, download=False)
    assert list(bunch.frame.columns) == [*RICE.features, "Class"]
    assert list(bunch.data.columns) == list(RICE.features)
    assert bunch.target.name == "Class"
    assert list(bunch.target) == [0, 1]


def test_text_where_a_number_belongs(small):
    write_table(small / "rice.csv", [*RICE.features, "Class"], [["large", *ROWS[0][1:]]])
    with pytest.raises(ValueError, match="column"):
        load_rice(data_home=small)


def test_unknown_class(small):
    write_table(small / "rice.csv", [*RICE.features, "Class"], [[*ROWS[0][:-1], "Basmati"]])
    with pytest.raises(ValueError, match="Class"):
        load_rice(data_home=small)


def test_real_file(shared_data):
    X, y = load_rice(return_X_y=True, data_home=shared_data, download=False)
    assert X.shape == (3810, 7)
    np.testing.assert_array_equal(np.bincount(y), [1630, 2180])
    assert np.isfinite(X).all()
