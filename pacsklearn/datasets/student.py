"""Student: marks in mathematics at two Portuguese schools."""

from __future__ import annotations

import csv

from pacsklearn.datasets.archive import read_member
from pacsklearn.datasets.dataset import Dataset, Row, codebook
from pacsklearn.datasets.loader import loader

# Names and categories as in the public codebook student.txt.
FEATURES = codebook("""\
school: GP, MS; sex: F, M; age; address: U, R; famsize: LE3, GT3; Pstatus: T, A; Medu; Fedu;
Mjob: teacher, health, services, at_home, other;
Fjob: teacher, health, services, at_home, other; reason: home, reputation, course, other;
guardian: mother, father, other; traveltime; studytime; failures; schoolsup: no, yes;
famsup: no, yes; paid: no, yes; activities: no, yes; nursery: no, yes; higher: no, yes;
internet: no, yes; romantic: no, yes; famrel; freetime; goout; Dalc; Walc; health; absences; G1;
G2""")
TARGET = "G3"

DESCRIPTION = """\
Student performance, mathematics

395 pupils of two secondary schools in Portugal: family, habits and earlier marks. The
target `G3` is the final mark, from 0 to 20. `G1` and `G2` are the marks of the two
periods before it and nearly give it away; drop them for a harder task. No value is
missing. The categories of the nominal features are those of the published codebook, so
they are public.

school     Gabriel Pereira or Mousinho da Silveira
address    U urban, R rural
famsize    LE3 up to three people, GT3 more
Pstatus    parents living T together or A apart
Medu Fedu  education of mother and father, 0 none to 4 higher
traveltime 1 below 15 minutes to 4 above an hour
studytime  1 below 2 hours a week to 4 above 10
failures   number of classes failed before
schoolsup  extra support at school; famsup by the family; paid extra classes
famrel freetime goout Dalc Walc health
           family relations, free time, going out, alcohol on working days and at
           weekends, and health, each from 1 (low) to 5 (high)

Source: P. Cortez, Student Performance, UCI Machine Learning Repository, 2008,
https://doi.org/10.24432/C5TG7T, licence CC BY 4.0.
"""


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
    expected = [*FEATURES, TARGET]
    if header != expected:
        raise ValueError(f"expected the columns {expected}, got {header}.")
    return [[cell.strip() for cell in row] for row in rows]


STUDENT = Dataset(
    name="student",
    file_names=("student_mat.csv",),
    features=FEATURES,
    target=TARGET,
    classes=None,
    n_rows=395,
    url="https://archive.ics.uci.edu/static/public/320/student+performance.zip",
    convert=rows_from_archive,
    description=DESCRIPTION,
)

load_student = loader(
    STUDENT,
    opening="Load the student performance data set in mathematics (regression, mixed features).",
    table="""\
==============   ======================
Samples total                       395
Dimensionality                       32
Features         15 numeric, 17 nominal
Targets                real, 0 up to 20
==============   ======================""",
    data="Numeric features in float64. Categories come from the public codebook, so they do "
    "not depend on the rows.",
    target="Final mark `G3` from 0 to 20, in float64.",
    examples="""\
>>> from pacsklearn.datasets import load_student
>>> bunch = load_student()  # doctest: +SKIP
>>> X = bunch.data.drop(columns=["G1", "G2"])  # doctest: +SKIP""",
)
