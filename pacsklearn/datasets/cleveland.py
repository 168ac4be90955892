"""Cleveland: heart disease found by angiography."""

from __future__ import annotations

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.dataset import Row, described
from pacsklearn.datasets.loader import loader


def rows_from_archive(archive: bytes) -> list[Row]:
    """Return the rows of the UCI zip archive."""
    return rows_from_data(read_member(archive, "/processed.cleveland.data"))


def rows_from_data(text: str) -> list[Row]:
    """Return the rows of the original text, which has commas and no header, as cells."""
    return [
        [cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()
    ]


CLEVELAND = described("cleveland", rows_from_archive)

load_cleveland = loader(CLEVELAND)
