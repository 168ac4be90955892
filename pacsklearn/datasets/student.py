"""Student: marks in mathematics at two Portuguese schools."""

from __future__ import annotations

import csv

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.dataset import Row, described
from pacsklearn.datasets.loader import loader


def rows_from_archive(archive: bytes) -> list[Row]:
    """Return the rows of the UCI zip archive, which holds another zip archive."""
    return rows_from_semicolons(read_member(archive, "/student-mat.csv"))


def rows_from_semicolons(text: str) -> list[Row]:
    """Return the rows of the original text, separated by semicolons, as cells.

    Raises
    ------
    ValueError
        If the header is not the 32 features and the final mark.
    """
    header, *rows = [row for row in csv.reader(text.splitlines(), delimiter=";") if row] or [[]]
    expected = STUDENT.columns
    if header != expected:
        raise ValueError(f"expected the columns {expected}, got {header}.")
    return [[cell.strip() for cell in row] for row in rows]


STUDENT = described("student", rows_from_archive)

load_student = loader(STUDENT)
