"""Rice: two varieties told apart by the shape of the grain."""

from __future__ import annotations

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.dataset import Dataset, Row, codebook
from pacsklearn.datasets.loader import loader

FEATURES = codebook("""\
Area; Perimeter; Major_Axis_Length; Minor_Axis_Length; Eccentricity; Convex_Area; Extent""")
TARGET = "Class"

DESCRIPTION = """\
Rice (Cammeo and Osmancik)

3810 grains of two varieties of rice, each described by seven numbers measured on a
photograph: area, perimeter, the two axis lengths of the ellipse with the same moments,
its eccentricity, the area of the convex hull, and the share of the bounding box that is
covered. Areas and lengths are in pixels. No value is missing.

Source: I. Cinar and M. Koklu, Rice (Cammeo and Osmancik), UCI Machine Learning
Repository, 2019, https://doi.org/10.24432/C5MW4Z, licence CC BY 4.0.
"""


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
    expected = [*FEATURES, TARGET]
    if [name.lower() for name in attributes] != [name.lower() for name in expected]:
        raise ValueError(f"expected the attributes {expected}, got {attributes}.")
    return rows


RICE = Dataset(
    name="rice",
    file_names=("rice.csv",),
    features=FEATURES,
    target=TARGET,
    classes=("Cammeo", "Osmancik"),
    n_rows=3810,
    url="https://archive.ics.uci.edu/static/public/545/rice+cammeo+and+osmancik.zip",
    convert=rows_from_archive,
    description=DESCRIPTION,
)

load_rice = loader(
    RICE,
    opening="Load the rice data set (binary classification, all features numeric).",
    table="""\
=================   ===============
Classes                           2
Samples per class      [1630, 2180]
Samples total                  3810
Dimensionality                    7
Features             real, positive
=================   ===============""",
    data="Features, in float64.",
    target="0 for Cammeo, 1 for Osmancik.",
    examples="""\
>>> from pacsklearn.datasets import load_rice
>>> X, y = load_rice(return_X_y=True)  # doctest: +SKIP
>>> X.shape  # doctest: +SKIP
(3810, 7)""",
)
