from __future__ import annotations

import numpy as np

from pacsklearn.datasets import load_cleveland
from pacsklearn.datasets.cleveland import CLEVELAND, rows_from_archive, rows_from_data
from pacsklearn.datasets.storage import write_table

ORIGINAL = """\
63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,0.0,6.0,0
53.0,0.0,3.0,128.0,216.0,0.0,2.0,115.0,0.0,0.0,1.0,0.0,?,2

"""


def test_original_format():
    rows = rows_from_data(ORIGINAL)
    assert [len(row) for row in rows] == [14, 14]
    assert rows[1][-2:] == ["?", "2"]


def test_other_hospitals_in_the_archive_are_not_read(zipped):
    archive = zipped(
        {
            "processed.hungarian.data": "no",
            "cleveland.data": "no",
            "new/reprocessed.cleveland.data": "no",
            "processed.cleveland.data": ORIGINAL,
        }
    )
    assert rows_from_archive(archive) == rows_from_data(ORIGINAL)


def test_missing_values_are_nan(tmp_path):
    write_table(
        tmp_path / "cleveland_heart.csv", [*CLEVELAND.features, "num"], rows_from_data(ORIGINAL)
    )
    bunch = load_cleveland(data_home=tmp_path, download=False)
    assert np.argwhere(np.isnan(bunch.data)).tolist() == [
        [1, list(CLEVELAND.features).index("thal")]
    ]
    np.testing.assert_array_equal(bunch.target, [0, 2])
    assert list(bunch.target_names) == ["0", "1", "2", "3", "4"]


def test_real_file(shared_data):
    X, y = load_cleveland(return_X_y=True, data_home=shared_data, download=False)
    assert X.shape == (303, 13)
    np.testing.assert_array_equal(np.bincount(y), [164, 55, 36, 35, 13])
    assert np.isnan(X).sum(axis=0).tolist() == [0] * 11 + [4, 2]
