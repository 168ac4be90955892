from __future__ import annotations

import gzip
import inspect
import pickle
import re
import sys
import tomllib
from importlib import resources
from urllib.error import URLError

import numpy as np
import pytest

import pacsklearn.datasets
from pacsklearn.datasets import load_adult, load_cleveland, load_rice, load_student, loader

NAMES = pacsklearn.datasets.__all__
PATIENT = "63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,?,6.0,0"
GRAINS = """\
% a remark
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
"""
GRAIN = "13226, 421.8, 173.1, 98.4, 0.82, 13500, 0.64, 'Osmancik'"
PERSON = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, "
    "40, Cuba, "
)
PUPIL = (
    '"GP";"F";18;"U";"GT3";"A";4;4;"at_home";"teacher";"course";"mother";2;2;0;"yes";"no";"no";'
    '"no";"yes";"yes";"no";"no";4;3;4;1;1;3;6;"5";"6";6'
)
FACTS = resources.files("pacsklearn.datasets") / "facts" / "student.toml"
HEADER = ";".join(tomllib.loads(FACTS.read_text("utf-8"))["features"])


@pytest.fixture
def original(tmp_path, zipped):
    """Folder with the originals, as the repository packs them."""
    people = [f"{PERSON}{'>' if n % 2 else '<='}{'50K'}" for n in range(48842)]
    files = {
        "adult.zip": {
            "adult.data": "\n".join(people[:32561]),
            "adult.test": "|1x3 Cross validator\n" + "".join(f"{p}.\r\n" for p in people[32561:]),
        },
        "heart+disease.zip": {"processed.cleveland.data": f"{PATIENT}\n" * 303},
        "rice+cammeo+and+osmancik.zip": {"R/Rice.arff": GRAINS + f"{GRAIN}\r\n" * 3810},
        "student+performance.zip": {
            "student.zip": zipped({"student-mat.csv": f"{HEADER};G3\n" + f"{PUPIL}\n" * 395})
        },
    }
    for name, members in files.items():
        (tmp_path / name).write_bytes(zipped(members))
    return tmp_path


@pytest.mark.soak
def test_originals_are_read_as_they_are_packed(original):
    X, y = load_adult(return_X_y=True, data_home=original, download=False)
    assert X.shape == (48842, 14)
    assert y.sum() == 24421
    assert X["occupation"].isna().all()
    assert X["sex"].cat.categories.tolist() == ["Female", "Male"]
    X, y = load_cleveland(return_X_y=True, data_home=original, download=False)
    np.testing.assert_array_equal(X[0], [*map(float, PATIENT.replace("?", "nan").split(","))][:-1])
    X, y = load_rice(return_X_y=True, data_home=original, download=False)
    np.testing.assert_array_equal(X[-1], [float(cell) for cell in GRAIN.split(",")[:-1]])
    assert set(y) == {1}
    bunch = load_student(data_home=original, download=False)
    assert bunch.frame["school"].tolist() == ["GP"] * 395
    assert set(bunch.target) == {6.0}
    assert bunch.filename.endswith("student+performance.zip")


def test_a_table_of_ours_comes_before_the_original(original):
    features = [
        "Area,Perimeter,Major_Axis_Length,Minor_Axis_Length,Eccentricity,Convex_Area,Extent"
    ]
    rows = "\n".join([*features, "1,2,3,4,5,6,?,Cammeo"]).replace("Extent", "Extent,Class")
    (original / "rice.csv").write_text(rows)
    X, y = load_rice(return_X_y=True, as_frame=True, data_home=original, download=False)
    assert (X.shape, y.tolist(), y.name) == ((1, 7), [0], "Class")
    assert np.isnan(X.iloc[0, 6])
    array = load_adult(return_X_y=True, as_frame=False, data_home=original, download=False)[0]
    assert array.dtype == object
    assert array[0, 13] == "Cuba"


@pytest.mark.soak
def test_packed_tables_and_the_folder_of_the_environment(original, tmp_path, monkeypatch):
    monkeypatch.setenv("PACSKLEARN_DATA", str(tmp_path))
    names = list(load_adult(data_home=original).feature_names)
    cells = [cell.strip() for cell in PERSON.split(",")[:-1]]
    text = "\n".join([",".join([*names, "income"]), ",".join([*cells, ">50K"])])
    (tmp_path / "adult.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert load_adult().target.tolist() == [1]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("Area,Class\n1,Cammeo\n", "must have the columns"),
        ("{header}\n1,2,3\n", "8 cells in every row; row 1 has 3"),
        ("{header}\n1,2,3,4,5,6,big,Cammeo\n", "'Extent' must hold numbers"),
        ("{header}\n1,2,3,4,5,6,7,Basmati\n", "must hold only"),
    ],
)
def test_another_file_is_refused_by_what_is_wrong_with_it(tmp_path, content, match):
    header = ",".join(re.findall(r"(?i)@attribute '?(\w+)", GRAINS))
    (tmp_path / "rice.csv").write_text(content.replace("{header}", header))
    with pytest.raises(ValueError, match=match):
        load_rice(data_home=tmp_path)


def test_another_archive_is_refused(tmp_path, zipped):
    for content, match in (
        (b"<html>sign in</html>", "readable zip"),
        (zipped({"other.txt": ""}), "no file 'processed.cleveland.data'"),
        (zipped({"processed.cleveland.data": f"{PATIENT}\n"}), "hold 303 rows; got 1"),
    ):
        (tmp_path / "heart+disease.zip").write_bytes(content)
        with pytest.raises(ValueError, match=match):
            load_cleveland(data_home=tmp_path)


def test_what_is_missing_is_fetched_once(tmp_path, original, private_home, monkeypatch):
    asked = []

    def fetch(url, folder, name, n_retries):
        asked.append(url)
        (folder / name).write_bytes((original / name).read_bytes())
        return folder / name

    monkeypatch.setattr(loader, "fetch_file", fetch)
    for _ in range(2):
        load_cleveland()
    assert asked == ["https://archive.ics.uci.edu/static/public/45/heart+disease.zip"]
    assert (private_home / "pacsklearn_data" / "heart+disease.zip").is_file()


@pytest.mark.parametrize("download", [False, True])
def test_what_cannot_be_had_says_how_to_put_it_in_place(tmp_path, monkeypatch, download):
    def fetch(*_, **__):
        raise URLError("no route")

    monkeypatch.setattr(loader, "fetch_file", fetch)
    advice = r"by hand and put 'heart\+disease\.zip' into .*PACSKLEARN_DATA"
    with pytest.raises(OSError, match=advice) as info:
        load_cleveland(data_home=tmp_path / "new", download=download)
    assert ("no route" in str(info.value)) == download


def test_numbers_need_no_pandas(original, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert load_rice(data_home=original).data.shape == (3810, 7)
    with pytest.raises(ImportError, match="load_rice"):
        load_rice(as_frame=True, data_home=original)


@pytest.mark.parametrize("name", NAMES)
def test_a_loader_is_a_function_with_words_of_its_own(name):
    load = getattr(pacsklearn.datasets, name)
    assert pickle.loads(pickle.dumps(load)) is load
    assert (load.__name__, load.__module__) == (name, "pacsklearn.datasets")
    text = inspect.getdoc(load)
    headings = re.findall(r"^(\w+)\n-+$", text, flags=re.MULTILINE)
    assert headings == ["Parameters", "Returns", "Raises", "Examples"]
    parameters = inspect.signature(load).parameters
    assert list(parameters) == ["return_X_y", "as_frame", "data_home", "download"]
    assert f"as_frame : bool, default={parameters['as_frame'].default}" in text
