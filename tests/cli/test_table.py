from __future__ import annotations

import pytest

from pacsklearn.cli.table import read_table

TEXT = "id,naïve,size,kind\n1,a,1.5,x\n2,b,2.5,y\n3,c,3.5,x\n"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_separators_and_encodings_are_found(tmp_path, separator, encoding):
    path = tmp_path / "rows.csv"
    path.write_bytes(TEXT.replace(",", separator).encode(encoding))
    table = read_table(path, "kind", drop=["size"], identifier="id")
    assert list(table.X.columns) == ["naïve"]
    assert table.y.tolist() == ["x", "y", "x"]


def test_a_quoted_comma_separates_nothing(tmp_path):
    (tmp_path / "rows.csv").write_text('a;b\n"1,2,3";4\n"5,6";7\n', encoding="utf-8")
    assert read_table(tmp_path / "rows.csv").X["b"].tolist() == [4, 7]


def test_one_column(tmp_path):
    (tmp_path / "rows.csv").write_text("a\n1\n2\n", encoding="utf-8")
    assert read_table(tmp_path / "rows.csv").X["a"].tolist() == [1, 2]


def test_names_of_rows_that_repeat_are_people(tmp_path):
    (tmp_path / "rows.csv").write_text("who,a\nAda,1\nAda,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="protect the person: --groups who") as caught:
        read_table(tmp_path / "rows.csv", identifier="who")
    assert "Ada" not in str(caught.value)
    assert read_table(tmp_path / "rows.csv", drop=["who"]).X.shape == (2, 1)
    for role in ({"identifier": "z"}, {"drop": ["z"]}):
        with pytest.raises(ValueError, match="has no column 'z'"):
            read_table(tmp_path / "rows.csv", **role)
