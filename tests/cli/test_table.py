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


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1,5", "-2,25", "3", ""], "f"),
        (["1,500", "2,250", "12,5", ""], "f"),
        (["1,500", "2,250", "3", ""], "O"),  # thousands, perhaps: nobody knows
        (["1,5", "2.5", "3", ""], "O"),
    ],
)
def test_decimal_commas_are_read_where_nothing_else_can_be_meant(tmp_path, cells, kind):
    text = "a;b\n" + "".join(f"{cell};{i}\n" for i, cell in enumerate(cells))
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    X = read_table(tmp_path / "rows.csv").X
    assert (X["a"].dtype.kind == "f") == (kind == "f")
    if kind == "f":
        assert X["a"].tolist()[:3] == [float(cell.replace(",", ".")) for cell in cells[:3]]
    assert X["b"].tolist() == [0, 1, 2, 3]


def test_one_column(tmp_path):
    (tmp_path / "rows.csv").write_text("a\n1\n2\n", encoding="utf-8")
    assert read_table(tmp_path / "rows.csv").X["a"].tolist() == [1, 2]


def test_names_of_rows_that_repeat_are_people(tmp_path):
    (tmp_path / "rows.csv").write_text("who,a\nAda,1\nAda,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="protect") as caught:
        read_table(tmp_path / "rows.csv", identifier="who")
    assert "Ada" not in str(caught.value)
    assert read_table(tmp_path / "rows.csv", drop=["who"]).X.shape == (2, 1)
    for role in ({"identifier": "z"}, {"drop": ["z"]}):
        with pytest.raises(ValueError, match="column"):
            read_table(tmp_path / "rows.csv", **role)


def test_cells_below_names_that_are_not_theirs_are_refused(tmp_path):
    """pandas took the first column for names of rows, and moved the others by one."""
    path = tmp_path / "rows.csv"
    path.write_text("kind,age,size\nx,30,1,\ny,40,2,\n", encoding="utf-8")
    with pytest.raises(ValueError, match="one cell more than the first line"):
        read_table(path, "kind")
    path.write_text(
        "kind,age\na,x,30\nb,y,40\n", encoding="utf-8"
    )  # names of rows, as R writes them
    assert read_table(path, "kind").y.tolist() == ["x", "y"]
    path.write_text("kind,age\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no rows below"):
        read_table(path, "kind")
    path.write_text("age, kind\n30, x\n40, y, 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="Expected 2 fields in line 3, saw 3"):
        read_table(path, "kind")
    path.write_text("age, kind\n30, x\n40, y\n", encoding="utf-8")
    with pytest.raises(ValueError, match="Did you mean ' kind'"):
        read_table(path, "kind")


def test_quoted_decimal_commas_are_read_where_commas_separate_too(tmp_path):
    """Google Sheets writes this in many languages, and so does pandas with decimal=','."""
    (tmp_path / "rows.csv").write_text('a,b\n"1,5",1\n"-2,25",2\n3,3\n', encoding="utf-8")
    X = read_table(tmp_path / "rows.csv").X
    assert X["a"].tolist() == [1.5, -2.25, 3.0]
    assert X["b"].tolist() == [1, 2, 3]


def test_one_person_is_one_unit_however_long_the_file(tmp_path):
    """pandas read a long file in parts, and 007 of a part without words was 7."""
    rows = [f"{i % 50:03d},{i},yes no maybe\n" for i in range(70_000)]
    text = "who,a,b\n" + "".join(rows) + "x1,0,no\n"
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    assert len(set(read_table(tmp_path / "rows.csv", groups="who").groups)) == 51


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\n", "it is empty"),
        (b'a,b\n1,"private\n2,3\n', "EOF inside string starting at row 1"),
        (b"a,b\n1,\x81\n", "save it as UTF-8"),
    ],
)
def test_why_a_file_is_no_table_is_said_without_a_cell(tmp_path, content, why):
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(ValueError, match=why) as caught:
        read_table(tmp_path / "rows.csv")
    assert "private" not in str(caught.value)
