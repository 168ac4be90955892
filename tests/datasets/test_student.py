from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.datasets import load_student
from pacsklearn.datasets.storage import write_table
from pacsklearn.datasets.student import STUDENT, rows_from_archive, rows_from_semicolons

HEADER = ";".join([*STUDENT.features, "G3"])
ROW = (
    '"GP";"F";18;"U";"GT3";"A";4;4;"at_home";"teacher";"course";"mother";2;2;0;"yes";"no";'
    '"no";"no";"yes";"yes";"no";"no";4;3;4;1;1;3;6;"5";"6";6'
)


def test_original_format_in_a_nested_archive(zipped):
    inner = zipped({"student-por.csv": "no", "student-mat.csv": f"{HEADER}\r\n{ROW}\r\n"})
    rows = rows_from_archive(zipped({".student.zip_old": "no", "student.zip": inner}))
    assert len(rows) == 1
    assert rows[0][:3] == ["GP", "F", "18"]
    assert rows[0][-3:] == ["5", "6", "6"]


@pytest.mark.parametrize("text", ["", HEADER.replace("G1", "G0")])
def test_another_header_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        rows_from_semicolons(text)


def test_small_file(tmp_path):
    pytest.importorskip("pandas")
    rows = rows_from_semicolons(f"{HEADER}\n{ROW}\n")
    write_table(tmp_path / "student_mat.csv", [*STUDENT.features, "G3"], rows)
    bunch = load_student(data_home=tmp_path, download=False)
    assert bunch.target.tolist() == [6.0]
    assert bunch.target.name == "G3"
    assert tuple(bunch.data["Mjob"].cat.categories) == STUDENT.features["Mjob"]
    assert bunch.data["G2"].tolist() == [6.0]


def test_real_file(shared_data):
    pytest.importorskip("pandas")
    bunch = load_student(data_home=shared_data, download=False)
    assert bunch.data.shape == (395, 32)
    assert not bunch.data.isna().any().any()
    assert np.count_nonzero(bunch.target == 0) == 38
    assert bunch.target.max() == 20
