"""Cleveland: heart disease found by angiography."""

from __future__ import annotations

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.dataset import Dataset, Row, codebook
from pacsklearn.datasets.loader import loader

FEATURES = codebook("""\
age; sex; cp; trestbps; chol; fbs; restecg; thalach; exang; oldpeak; slope; ca; thal""")

DESCRIPTION = """\
Heart disease, Cleveland

303 patients who were examined by coronary angiography at the Cleveland Clinic.

age        years
sex        1 male, 0 female
cp         chest pain: 1 typical angina, 2 atypical angina, 3 non-anginal, 4 none
trestbps   resting blood pressure on admission (mm Hg)
chol       serum cholesterol (mg/dl)
fbs        fasting blood sugar above 120 mg/dl: 1 yes, 0 no
restecg    resting electrocardiogram: 0 normal, 1 ST-T abnormality, 2 hypertrophy
thalach    maximum heart rate reached
exang      angina brought on by exercise: 1 yes, 0 no
oldpeak    ST depression brought on by exercise
slope      slope of the peak exercise ST segment: 1 up, 2 flat, 3 down
ca         major vessels coloured by fluoroscopy, 0 to 3 (4 missing)
thal       3 normal, 6 fixed defect, 7 reversible defect (2 missing)

The target `num` is 0 without disease and 1 to 4 with growing extent; most studies
predict ``num > 0``.

Source: A. Janosi, W. Steinbrunn, M. Pfisterer and R. Detrano, Heart Disease, UCI
Machine Learning Repository, 1989, https://doi.org/10.24432/C52P4X, licence CC BY 4.0.
"""


def rows_from_archive(archive: bytes) -> list[Row]:
    """Return the rows of the UCI zip archive."""
    return rows_from_data(read_member(archive, "/processed.cleveland.data"))


def rows_from_data(text: str) -> list[Row]:
    """Return the rows of the original text, which has commas and no header, as cells."""
    return [
        [cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()
    ]


CLEVELAND = Dataset(
    name="cleveland",
    file_names=("cleveland_heart.csv",),
    features=FEATURES,
    target="num",
    classes=("0", "1", "2", "3", "4"),
    n_rows=303,
    url="https://archive.ics.uci.edu/static/public/45/heart+disease.zip",
    convert=rows_from_archive,
    description=DESCRIPTION,
)

load_cleveland = loader(
    CLEVELAND,
    opening="Load the Cleveland heart disease data set (classification, all features numeric).",
    table="""\
=================   ========================
Classes                                    5
Samples per class     [164, 55, 36, 35, 13]
Samples total                            303
Dimensionality                            13
Features               real; 6 cells missing
=================   ========================""",
    data="Features in float64. Four values of `ca` and two of `thal` are NaN.",
    target="Extent of the disease from 0 (none) to 4; most studies predict ``target > 0``.",
    examples="""\
>>> from pacsklearn.datasets import load_cleveland
>>> X, y = load_cleveland(return_X_y=True)  # doctest: +SKIP
>>> diseased = y > 0  # doctest: +SKIP""",
)
