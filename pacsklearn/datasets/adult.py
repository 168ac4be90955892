"""Adult: census records and an income threshold."""

from __future__ import annotations

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.dataset import Row, described
from pacsklearn.datasets.loader import loader


def rows_from_archive(archive: bytes) -> list[Row]:
    """Return the rows of the UCI zip archive, the training file first."""
    return rows_from_data(read_member(archive, "/adult.data")) + rows_from_data(
        read_member(archive, "/adult.test")
    )


def rows_from_data(text: str) -> list[Row]:
    """Return the rows of ``adult.data`` or ``adult.test`` as cells.

    The test file starts with a line that is not data and ends its labels with a full
    stop; both are dropped.
    """
    rows = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("|"):
            continue
        row = [cell.strip() for cell in line.split(",")]
        row[-1] = row[-1].removesuffix(".")
        rows.append(row)
    return rows


ADULT = described("adult", rows_from_archive)

load_adult = loader(ADULT)
