"""Students that suit queries and answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from pacsklearn.tabular import Column, Schema, SchemaEncoder
from pacsklearn.tabular.students.student import best_student, listed_students

BOOSTED = HistGradientBoostingClassifier(min_samples_leaf=40)
ROWS = np.random.default_rng(0).normal(size=(90, 2))
LINE, RING = ROWS[:, 0] > ROWS[:, 1], (ROWS**2).sum(axis=1) > 1.4


def chosen(answers: Any, teacher: Any = BOOSTED, rows: Any = ROWS) -> str:
    best = best_student(listed_students(teacher, rows, answers), rows, answers)
    return type(best.steps[-1][1] if hasattr(best, "steps") else best).__name__


@pytest.mark.soak
def test_what_agrees_with_answers_it_has_not_seen_is_chosen() -> None:
    students = listed_students(BOOSTED, ROWS, RING)
    assert [len(getattr(student, "steps", "1")) for student in students] == [3, 4, 2, 1]
    assert best_student(students, ROWS, LINE) is students[0]
    assert best_student(students, ROWS, RING) in students[1:3]


def test_noise_that_a_flexible_student_agrees_with_does_not_decide() -> None:
    """A clone agrees with .740 of the answers, a line with .737, and .8 of them are right."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(300, 4))
    truth = rows @ [1.0, -1.0, 0.5, 0.0] > 0
    answers = np.where(rng.random(300) < 0.2, ~truth, truth)
    assert chosen(answers, SVC(), rows) == "LogisticRegression"


@pytest.mark.soak
def test_a_clone_wins_where_its_leaves_are_filled() -> None:
    rows = np.random.default_rng(1).integers(0, 9, size=(2000, 4)).astype(float)
    steps = (rows[:, 0] > 4) ^ (rows[:, 1] > 2) ^ (rows[:, 2] > 6) ^ (rows[:, 3] > 5)
    assert chosen(steps, rows=rows) == "HistGradientBoostingClassifier"


@pytest.mark.parametrize("answers", [np.zeros(90), np.arange(90) == 0], ids=["one", "rare"])
def test_answers_that_cannot_tell_take_the_first(answers: Any) -> None:
    assert chosen(answers) == "LogisticRegression"


def test_preprocessing_of_the_teacher_comes_first() -> None:
    table = pd.DataFrame({"ward": np.where(LINE, "n", "s"), "age": ROWS[:, 0]})
    table.loc[3, "age"] = np.nan
    assert len(listed_students(BOOSTED, table, LINE)) == 1  # text: only the teacher can read it
    schema = Schema(
        [Column("ward", "category", categories=("n", "s")), Column("age", low=-3, high=3)]
    )
    students = listed_students(make_pipeline(SchemaEncoder(schema), BOOSTED), table, LINE)
    assert len(students) == 5  # with one that keeps the preprocessing's scale
    assert all(student.fit(table, LINE).score(table, LINE) > 0.9 for student in students)
    assert len(listed_students(make_pipeline(SelectKBest(k=1), SVC()), ROWS, LINE)) == 5


def test_regressors_choose_too() -> None:
    teacher = HistGradientBoostingRegressor(min_samples_leaf=40)
    assert chosen(ROWS @ [1.0, 2.0], teacher) == "Ridge"
