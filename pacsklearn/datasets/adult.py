"""Adult: census records and an income threshold."""

from __future__ import annotations

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.dataset import Dataset, Row, codebook
from pacsklearn.datasets.loader import loader

# Names and categories as in the public codebook adult.names.
FEATURES = codebook("""\
age;
workclass: Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov,
    Without-pay, Never-worked;
fnlwgt;
education: Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th,
    7th-8th, 12th, Masters, 1st-4th, 10th, Doctorate, 5th-6th, Preschool;
education-num;
marital-status: Married-civ-spouse, Divorced, Never-married, Separated, Widowed,
    Married-spouse-absent, Married-AF-spouse;
occupation: Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty,
    Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving,
    Priv-house-serv, Protective-serv, Armed-Forces;
relationship: Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried;
race: White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black;
sex: Female, Male; capital-gain; capital-loss; hours-per-week;
native-country: United-States, Cambodia, England, Puerto-Rico, Canada, Germany,
    Outlying-US(Guam-USVI-etc), India, Japan, Greece, South, China, Cuba, Iran, Honduras,
    Philippines, Italy, Poland, Jamaica, Vietnam, Mexico, Portugal, Ireland, France,
    Dominican-Republic, Laos, Ecuador, Taiwan, Haiti, Columbia, Hungary, Guatemala, Nicaragua,
    Scotland, Thailand, Yugoslavia, El-Salvador, Trinadad&Tobago, Peru, Hong, Holand-Netherlands""")

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

load_adult = loader(
    ADULT,
    opening="Load the Adult census data set (binary classification, mixed features).",
    table="""\
=================   ===========================
Classes                                       2
Samples per class                [37155, 11687]
Samples total                             48842
Dimensionality                               14
Features             6 numeric, 8 nominal; gaps
=================   ===========================""",
    data="Numeric features in float64; missing values are NaN. Categories come from the public "
    "codebook, so they do not depend on the rows.",
    target="1 for an income above 50000 dollars, else 0.",
    examples="""\
>>> from pacsklearn.datasets import load_adult
>>> X, y = load_adult(return_X_y=True)  # doctest: +SKIP
>>> list(X["sex"].cat.categories)  # doctest: +SKIP
['Female', 'Male']""",
)
