from __future__ import annotations

import pytest

from pacsklearn.datasets import archive
from pacsklearn.datasets.archive import read_member


def test_finds_a_member_whatever_its_folder_and_case(zipped):
    assert read_member(zipped({"readme.txt": "no", "Data/Grains.ARFF": "yes"}), ".arff") == "yes"


def test_looks_inside_a_nested_archive(zipped):
    outer = zipped({"inner.zip": zipped({"student-mat.csv": "a;b"})})
    assert read_member(outer, "/student-mat.csv") == "a;b"


def test_a_leading_slash_asks_for_the_whole_name(zipped):
    with pytest.raises(ValueError, match="ends"):
        read_member(zipped({"old-adult.data": "no"}), "/adult.data")


def test_byte_order_mark_is_dropped(zipped):
    assert read_member(zipped({"a.csv": b"\xef\xbb\xbfage"}), ".csv") == "age"


def test_not_a_zip_archive():
    with pytest.raises(ValueError, match="readable"):
        read_member(b"<html>moved</html>", ".csv")


def test_a_member_that_unpacks_to_far_too_much_is_refused(zipped, monkeypatch):
    monkeypatch.setattr(archive, "MAX_MEMBER_BYTES", 10)
    with pytest.raises(ValueError, match="unpacks"):
        read_member(zipped({"a.csv": "x" * 11}), ".csv")
