"""Rice: two varieties told apart by the shape of the grain."""

from __future__ import annotations

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.dataset import Row, described
from pacsklearn.datasets.loader import loader


def rows_from_archive(archive: bytes) -> list[Row]:
    """Return the rows of the UCI zip archive."""
    return rows_from_arff(read_member(archive, ".arff"))


def rows_from_arff(text: str) -> list[Row]:
    """Return the rows of the original ARFF text as cells, the class last.

    Raises
    ------
    ValueError
        If the declared attributes are not the seven features and the class.
    """
    attributes: list[str] = []
    rows: list[Row] = []
    in_data = False
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            rows.append([cell.strip().strip("'\"") for cell in line.split(",")])
        elif line.lower().startswith("@attribute"):
            attributes.append(line.split(maxsplit=2)[1].strip("'\""))
        elif line.lower().startswith("@data"):
            in_data = True
    expected = RICE.columns
    if [name.lower() for name in attributes] != [name.lower() for name in expected]:
        raise ValueError(f"expected the attributes {expected}, got {attributes}.")
    return rows


RICE = described("rice", rows_from_archive)

load_rice = loader(RICE)
