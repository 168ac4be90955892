from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pacsklearn.datasets import storage
from pacsklearn.datasets.storage import find, folders, read_table, write_table


def test_order_of_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PACSKLEARN_DATA", str(tmp_path / "environment"))
    assert folders(tmp_path / "argument") == [
        tmp_path / "argument",
        tmp_path / "environment",
        Path.home() / "pacsklearn_data",
    ]


def test_an_empty_variable_and_a_repeated_folder_count_once(monkeypatch):
    monkeypatch.setenv("PACSKLEARN_DATA", "")
    assert folders("~/pacsklearn_data") == [Path.home() / "pacsklearn_data"]


@pytest.mark.parametrize("data_home", [3, True, b"folder"])
def test_data_home_of_the_wrong_type(data_home):
    with pytest.raises(TypeError, match="data_home"):
        folders(data_home)


def test_find_prefers_the_earlier_folder(tmp_path):
    first, second = tmp_path / "1", tmp_path / "2"
    first.mkdir()
    second.mkdir()
    (second / "a.csv").touch()
    (first / "b.csv").touch()
    assert find([first, second], ["a.csv", "b.csv"]) == first / "b.csv"
    assert find([first], ["c.csv"]) is None


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_round_trip(tmp_path, name):
    path = tmp_path / "new" / name
    rows = [["1", "a, quoted"], ["2", ""]]
    write_table(path, ["x", "y"], rows)
    assert read_table(path, ["x", "y"]) == rows
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert [p.name for p in path.parent.iterdir()] == [name]


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.csv"
    write_table(path, ["x"], [["old"]])

    def cut_off():
        yield ["new"]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_table(path, ["x"], cut_off())
    assert read_table(path, ["x"]) == [["old"]]
    assert list(tmp_path.glob(".t.csv*")) == []


def test_wrong_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="columns"):
        read_table(path, ["x"])


def test_empty_file(tmp_path):
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wt"):
        pass
    with pytest.raises(ValueError, match=r"got \[\]"):
        read_table(path, ["x"])


def test_cut_off_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n3\n")
    with pytest.raises(ValueError, match="row 2 has 1"):
        read_table(path, ["x", "y"])


def test_files_of_a_shared_cache_follow_the_umask(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    storage.write_table(tmp_path / "t.csv", ["x"], [])
    assert (tmp_path / "t.csv").stat().st_mode == plain.stat().st_mode
