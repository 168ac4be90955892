"""Rice: two varieties told apart by the shape of the grain."""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils import Bunch

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.bunch import load
from pacsklearn.datasets.dataset import Dataset, Row

__all__ = ["load_rice", "rows_from_archive", "rows_from_arff"]

FEATURES = (
    "Area",
    "Perimeter",
    "Major_Axis_Length",
    "Minor_Axis_Length",
    "Eccentricity",
    "Convex_Area",
    "Extent",
)
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
    features=dict.fromkeys(FEATURES),
    target=TARGET,
    classes=("Cammeo", "Osmancik"),
    n_rows=3810,
    url="https://archive.ics.uci.edu/static/public/545/rice+cammeo+and+osmancik.zip",
    convert=rows_from_archive,
    description=DESCRIPTION,
)


def load_rice(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> Bunch | tuple[Any, Any]:
    """Load the rice data set (binary classification, all features numeric).

    =================   ===============
    Classes                           2
    Samples per class      [1630, 2180]
    Samples total                  3810
    Dimensionality                    7
    Features             real, positive
    =================   ===============

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a bunch.
    as_frame : bool, default=False
        Return `data` as a DataFrame and `target` as a Series. Needs pandas.
    data_home : str or path-like, default=None
        Folder to look in first and to write a download to. After it come the folder
        named by the environment variable ``PACSKLEARN_DATA`` and
        ``~/pacsklearn_data``. Accepted there are ``rice.csv`` and the original archive.
    download : bool, default=True
        Fetch the original from the UCI repository when no folder has it.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch` or tuple
        With `return_X_y` the pair ``(data, target)``, else a bunch with

        - ``data``, ndarray or DataFrame of shape (3810, 7): Features, in float64.
        - ``target``, ndarray or Series of shape (3810,): 0 for Cammeo, 1 for Osmancik.
        - ``frame``, DataFrame of shape (3810, 8) or None: Both together, with
          ``as_frame=True``.
        - ``feature_names``, list of str.
        - ``target_names``, ndarray of str.
        - ``DESCR``, str: Meaning of the columns, source and licence.
        - ``filename``, str: the file that was read.

    Raises
    ------
    FileNotFoundError
        If the file is missing and ``download=False``.
    OSError
        If the original cannot be fetched or stored; the message says how to put it in
        place by hand.

    Examples
    --------
    >>> from pacsklearn.datasets import load_rice
    >>> X, y = load_rice(return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (3810, 7)
    """
    return load(
        RICE, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home, download=download
    )
