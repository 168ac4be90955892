"""Students in one call: queries, private answers of a teacher, and a model to publish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.kernel.answers.answer_kind import LabelKind
from pacsklearn.kernel.answers.responder import Answers, Responder
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.model_digest import mark_released
from pacsklearn.kernel.outputs.frame import as_pandas, column_names
from pacsklearn.tabular.schema.queries import SchemaQueries
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.students.crossed_rows import FEW_ROWS, with_crossed
from pacsklearn.tabular.students.student_choice import best_student, listed_students
from pacsklearn.tabular.students.teaching import learned, taught, with_columns

STUDENT_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
"""What a student can be asked."""


@final
@dataclass(frozen=True, eq=False)
class StudentQueries:
    """Where a student's queries come from.

    Parameters
    ----------
    source : SchemaQueries, callable or rows
    words : str
        The same for the guarantee.
    """

    source: Any
    words: str

    @classmethod
    def of(cls, given: Any) -> StudentQueries:
        """Queries from a user's argument.

        Raises
        ------
        ValueError
            When none were given.
        """
        if given is None:
            raise ValueError(
                "release='student' needs queries=: public rows, a public Schema (rows are made up "
                "from it), SchemaQueries(schema, marginals) with public or private marginals, or a "
                "callable that makes rows from a numpy generator."
            )
        if isinstance(given, Schema):
            return cls(SchemaQueries(given), "made up, uniform over the public schema")
        if isinstance(given, SchemaQueries):
            if given.is_private:
                words = "made up from marginals that this session released privately"
            elif given.marginals is None:
                words = "made up, uniform over the public schema"
            else:
                words = "made up from public marginals"
            return cls(given, words)
        if callable(given):
            return cls(given, "made by a public generator")
        n_rows = np.shape(given)[0]
        few = n_rows < FEW_ROWS
        return cls(given, f"{n_rows:,} public rows{' and others crossed from them' * few}")

    def rows(self, like: Any, released: Callable[[SchemaQueries], Any]) -> Any:
        """Queries; ``released`` gives noisy marginals where those are private."""
        if isinstance(self.source, SchemaQueries):
            marginals = released(self.source) if self.source.is_private else None
            return self.source.rows(marginals, like)
        # A public seed: queries are no secret, and the same rows are asked when it is run again.
        queries = self.source(np.random.default_rng(0)) if callable(self.source) else self.source
        queries = as_pandas(queries)
        queries = queries if hasattr(queries, "shape") else np.asarray(queries)
        return queries if callable(self.source) else with_crossed(queries)


@final
@dataclass(frozen=True, eq=False)
class StudentRelease:
    """A student that can be published, and its promise.

    Parameters
    ----------
    estimator : estimator
    guarantee : Guarantee
    """

    estimator: Any
    guarantee: Guarantee


@final
@dataclass(frozen=True, eq=False)
class Lesson:
    """What a student learns from private answers.

    Parameters
    ----------
    student : estimator or None
        None chooses by the answers among students that suit few queries and many.
    teacher : estimator
    queries : StudentQueries
    alpha : float, optional
        Size of the test that an answer must pass to be learnt.
    """

    student: Any
    teacher: Any
    queries: StudentQueries
    alpha: float | None = None

    def choose(self, rows: Any, answers: NDArray[Any]) -> Any:
        """Student for queries and their answers, unfitted."""
        if self.student is not None:
            return self.student
        return best_student(listed_students(self.teacher, rows, answers), rows, answers)


def release_student(
    session: PrivacySession,
    teacher: Any,
    lesson: Lesson,
    *,
    budget: float,
    like: Any,
    value_range: tuple[float, float] | None = None,
    prior_mean: float | None = None,
    fit_params: Mapping[str, Any] | None = None,
) -> StudentRelease:
    """Have a teacher answer queries privately, and fit a student on the answers.

    Which queries the candidates disagree on is no secret, so each of those gets its share of all
    that is left of the budget, and nothing is kept for the others, which cost nothing. Under a
    criterion all labels are one release.

    Parameters
    ----------
    session : PrivacySession
        Nothing was released in it yet.
    teacher : estimator
    lesson : Lesson
    budget : float
        Of the session.
    like : array or table
        The rows, for names and types of made-up ones.
    value_range, prior_mean, fit_params
        As for :class:`PACPrivate`.
    """
    about: list[tuple[str, str]] = []

    def marginals(source: SchemaQueries) -> Any:
        amount = source.share * budget
        release = session.release_function(source.measured, budget=amount)
        part = [text for name, text in release.guarantee.details if name == "whole table"]
        words = f"{release.value.size} shares, released for {amount:.6g} nats"
        about.append(("marginals", "; ".join([words, *part])))
        return release.value

    rows = with_columns(column_names(like), lesson.queries.rows(like, marginals))
    n_rows = int(rows.shape[0])

    def responder(max_answers: int) -> Responder:
        return session.responder(
            teacher,
            max_answers=max_answers,
            value_range=value_range,
            prior_mean=prior_mean,
            fit_params=fit_params,
        )

    if session.ledger.unit != "nats":
        release, contested = session.respond_together(teacher, rows, fit_params=fit_params)
        labels = Answers(release.value, np.full(n_rows, np.nan))
        model, _ = learned(lesson.choose, rows, labels, LabelKind(np.unique(labels.values)), None)
        assert isinstance(release.guarantee, Guarantee)
        promised = release.guarantee
    else:
        # A preview is computed without the secret, so the price a query may depend on it.
        contested = responder(n_rows).preview(rows).n_contested
        answering = responder(max(contested, 1))
        model, _ = taught(lesson.choose, rows, answering, lesson.alpha)
        promised = answering.guarantee_
    guarantee = replace(
        promised,
        released=(f"{type(model).__name__}, fitted on private answers of a teacher",),
        details=(
            ("queries", f"{n_rows:,}, {lesson.queries.words}; {contested:,} contested"),
            *about,
            *((name, text) for name, text in promised.details if name != "answers given"),
        ),
    )
    return StudentRelease(mark_released(model, guarantee), guarantee)
