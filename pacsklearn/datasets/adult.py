"""Adult: census records and an income threshold."""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils import Bunch

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.bunch import load
from pacsklearn.datasets.dataset import Dataset, Row

__all__ = ["load_adult", "rows_from_archive", "rows_from_data"]

# Names and categories as in the public codebook adult.names; None marks a number.
FEATURES: dict[str, tuple[str, ...] | None] = {
    "age": None,
    "workclass": (
        "Private",
        "Self-emp-not-inc",
        "Self-emp-inc",
        "Federal-gov",
        "Local-gov",
        "State-gov",
        "Without-pay",
        "Never-worked",
    ),
    "fnlwgt": None,
    "education": (
        "Bachelors",
        "Some-college",
        "11th",
        "HS-grad",
        "Prof-school",
        "Assoc-acdm",
        "Assoc-voc",
        "9th",
        "7th-8th",
        "12th",
        "Masters",
        "1st-4th",
        "10th",
        "Doctorate",
        "5th-6th",
        "Preschool",
    ),
    "education-num": None,
    "marital-status": (
        "Married-civ-spouse",
        "Divorced",
        "Never-married",
        "Separated",
        "Widowed",
        "Married-spouse-absent",
        "Married-AF-spouse",
    ),
    "occupation": (
        "Tech-support",
        "Craft-repair",
        "Other-service",
        "Sales",
        "Exec-managerial",
        "Prof-specialty",
        "Handlers-cleaners",
        "Machine-op-inspct",
        "Adm-clerical",
        "Farming-fishing",
        "Transport-moving",
        "Priv-house-serv",
        "Protective-serv",
        "Armed-Forces",
    ),
    "relationship": (
        "Wife",
        "Own-child",
        "Husband",
        "Not-in-family",
        "Other-relative",
        "Unmarried",
    ),
    "race": ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
    "sex": ("Female", "Male"),
    "capital-gain": None,
    "capital-loss": None,
    "hours-per-week": None,
    "native-country": (
        "United-States",
        "Cambodia",
        "England",
        "Puerto-Rico",
        "Canada",
        "Germany",
        "Outlying-US(Guam-USVI-etc)",
        "India",
        "Japan",
        "Greece",
        "South",
        "China",
        "Cuba",
        "Iran",
        "Honduras",
        "Philippines",
        "Italy",
        "Poland",
        "Jamaica",
        "Vietnam",
        "Mexico",
        "Portugal",
        "Ireland",
        "France",
        "Dominican-Republic",
        "Laos",
        "Ecuador",
        "Taiwan",
        "Haiti",
        "Columbia",
        "Hungary",
        "Guatemala",
        "Nicaragua",
        "Scotland",
        "Thailand",
        "Yugoslavia",
        "El-Salvador",
        "Trinadad&Tobago",
        "Peru",
        "Hong",
        "Holand-Netherlands",
    ),
}

DESCRIPTION = """\
Adult (Census Income)

48842 people in the 1994 census of the United States, with six numbers and eight nominal
features. The task is to tell whether somebody earns more than 50000 dollars a year. The
32561 rows of the original training file come first, then the 16281 of its test file.

`fnlwgt` is the number of people a row stands for. `education-num` is `education` as an
ordered number. Workclass (2799 rows), occupation (2809) and native-country (857) have
missing values. The categories of the nominal features are those of the published
codebook, not those that happen to occur, so they are public. Spellings are the original's.

Source: B. Becker and R. Kohavi, Adult, UCI Machine Learning Repository, 1996,
https://doi.org/10.24432/C5XW20, licence CC BY 4.0.
"""


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


ADULT = Dataset(
    name="adult",
    file_names=("adult.csv.gz", "adult.csv"),
    features=FEATURES,
    target="income",
    classes=("<=50K", ">50K"),
    n_rows=48842,
    url="https://archive.ics.uci.edu/static/public/2/adult.zip",
    convert=rows_from_archive,
    description=DESCRIPTION,
)


def load_adult(
    *,
    return_X_y: bool = False,
    as_frame: bool = True,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> Bunch | tuple[Any, Any]:
    """Load the Adult census data set (binary classification, mixed features).

    =================   ===========================
    Classes                                       2
    Samples per class                [37155, 11687]
    Samples total                             48842
    Dimensionality                               14
    Features             6 numeric, 8 nominal; gaps
    =================   ===========================

    Needs pandas.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a bunch.
    as_frame : bool, default=True
        Return `data` as a DataFrame with nominal features as pandas categoricals, and
        `target` as a Series. If false, `data` is an array of objects.
    data_home : str or path-like, default=None
        Folder to look in first and to write a download to. After it come the folder
        named by the environment variable ``PACSKLEARN_DATA`` and
        ``~/pacsklearn_data``. Accepted there are ``adult.csv.gz``, ``adult.csv`` and the
        original archive.
    download : bool, default=True
        Fetch the original from the UCI repository when no folder has it.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch` or tuple
        With `return_X_y` the pair ``(data, target)``, else a bunch with

        - ``data``, DataFrame or ndarray of shape (48842, 14): Numeric features in
          float64; missing values are NaN. Categories come from the public codebook, so
          they do not depend on the rows.
        - ``target``, Series or ndarray of shape (48842,): 1 for an income above 50000
          dollars, else 0.
        - ``frame``, DataFrame of shape (48842, 15) or None: Both together, with
          ``as_frame=True``.
        - ``feature_names``, list of str.
        - ``target_names``, ndarray of str.
        - ``DESCR``, str: Meaning of the columns, source and licence.
        - ``filename``, str: the file that was read.

    Raises
    ------
    ImportError
        If pandas is not installed.
    FileNotFoundError
        If the file is missing and ``download=False``.
    OSError
        If the original cannot be fetched or stored; the message says how to put it in
        place by hand.

    Examples
    --------
    >>> from pacsklearn.datasets import load_adult
    >>> X, y = load_adult(return_X_y=True)  # doctest: +SKIP
    >>> list(X["sex"].cat.categories)  # doctest: +SKIP
    ['Female', 'Male']
    """
    return load(
        ADULT, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home, download=download
    )
