"""Students in one call: queries, private answers of a teacher, and a model to publish."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from pacsklearn.estimators.answer_request import answer_kind
from pacsklearn.estimators.joint_labels import answer_together
from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.estimators.release_kind import about, classes_of
from pacsklearn.estimators.released_answers import AnsweringKind
from pacsklearn.kernel.answers.answer_kind import LabelKind
from pacsklearn.kernel.answers.responder import Answers
from pacsklearn.kernel.budget.nats import as_budget
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.model_digest import mark_released
from pacsklearn.kernel.outputs.frame import column_names
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.kernel.release.function import FunctionPlan
from pacsklearn.tabular.schema.queries import SchemaQueries
from pacsklearn.tabular.students.student_choice import best_student, listed_students
from pacsklearn.tabular.students.student_queries import StudentQueries
from pacsklearn.tabular.students.teaching import learned, taught, with_columns

_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
_ABOUT = "students of private answers (release='student')"


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Student(AnsweringKind):
    """A student of private answers to queries, which can be published.

    Which queries the candidates disagree on is no secret, so each of those gets its share of all
    that is left of the budget, and nothing is kept for the others, which cost nothing. Under a
    criterion all labels are one release.

    Parameters
    ----------
    student, queries, alpha, answers, stabilize, value_range, prior_mean
        As for :class:`~pacsklearn.PACPrivate`.
    """

    name: ClassVar[str] = "student"
    released_as: ClassVar[str] = "student"
    noun: ClassVar[str] = "a student"
    spelling: ClassVar[str] = "release='student'"

    student: Any = field(default=None, metadata=about(_ABOUT))
    queries: Any = field(default=None, metadata=about(_ABOUT))
    alpha: float | None = field(default=None, metadata=about(_ABOUT, set_by_checks=True))

    def check(self, model: Any) -> None:
        """Refuse what a student has no use for, and what one release of all labels has none for."""
        StudentQueries.of(self.queries)
        if self.answers not in ("auto", "labels", "values"):
            raise ValueError(
                f"answers must be 'auto' with release='student', got {self.answers!r}: a student "
                "learns labels or values."
            )
        wrong = {
            "alpha": self.alpha is not None,
            "queries with private marginals": getattr(self.queries, "is_private", False),
            "a regressor": is_regressor(model.estimator),
        }
        adds = as_budget(model.budget, warn=False).adds
        for name in filter(wrong.get, () if adds else wrong):
            raise ValueError(
                f"budget must be in nats with release='student' and {name}, got {model.budget!r}: "
                "under a cap all labels are released at once, and nothing else."
            )
        super().check(model)

    def offered(self, estimator: Any) -> Iterable[str]:
        """Methods of the student."""
        return _offered(estimator if self.student is None else self.student)

    def choose(self, teacher: Any, rows: Any, answers: NDArray[Any]) -> Any:
        """Student for queries and their answers, unfitted.

        Where none is stated, one is chosen by the answers among students that suit few queries and
        many.
        """
        if self.student is not None:
            return self.student
        return best_student(listed_students(teacher, rows, answers), rows, answers)

    def prepare(self, fit: OpenFit) -> None:
        """Nothing is prepared: what is asked may itself be released for a part of the budget."""

    def take(self, model: Any, fit: OpenFit, plan: None) -> dict[str, Any]:
        """Have the estimator answer queries privately, and fit a student on the answers."""
        student, guarantee = self._released(fit)
        fit.close()
        return {
            "released_as_": self.released_as,
            "released_estimator_": mark_released(student, guarantee),
            "released_methods_": _offered(student),
            "_guarantee": guarantee,
            **classes_of(student),
        }

    def _released(self, fit: OpenFit) -> tuple[Any, Guarantee]:
        """Student, and what is promised about it."""
        about: list[tuple[str, str]] = []
        procedure, known, queries = (
            fit.procedure,
            fit.rows.candidates,
            StudentQueries.of(self.queries),
        )
        choose = partial(self.choose, fit.estimator)

        def marginals(source: SchemaQueries) -> Any:
            amount = source.share * procedure.account.own.ceiling
            target = procedure.check(amount)
            plan = FunctionPlan.of(source.measured, known.space, known.X, known.y, target)
            release = procedure.release(plan)[0]
            part = [text for name, text in release.guarantee.details if name == "whole table"]
            words = f"{release.value.size} shares, released for {amount:.6g} nats"
            about.append(("marginals", "; ".join([words, *part])))
            return release.value

        rows = with_columns(column_names(known.X), queries.rows(known.X, marginals))
        n_rows = int(rows.shape[0])
        if procedure.terms.criterion is not None:
            target = procedure.check(None)
            teacher = fit.candidates(self.answering(fit.estimator))
            kind = answer_kind(teacher.estimator, teacher.y, "labels", None)
            assert isinstance(kind, LabelKind)
            release, contested = answer_together(
                procedure, candidate_models(teacher), kind, rows, target
            )
            labels = Answers(release.value, np.full(n_rows, np.nan))
            model, _ = learned(choose, rows, labels, LabelKind(np.unique(labels.values)), None)
            assert isinstance(release.guarantee, Guarantee)
            promised = release.guarantee
        else:
            # A preview is computed without the secret, so the price a query may depend on it.
            contested = self.responder(fit, None, n_rows).preview(rows).n_contested
            answering = self.responder(fit, None, max(contested, 1))
            model, _ = taught(choose, rows, answering, self.alpha)
            promised = answering.guarantee_
        return model, replace(
            promised,
            released=(f"{type(model).__name__}, fitted on private answers of a teacher",),
            details=(
                ("queries", f"{n_rows:,}, {queries.words}; {contested:,} contested"),
                *about,
                *((name, text) for name, text in promised.details if name != "answers given"),
            ),
        )


def _offered(student: Any) -> tuple[str, ...]:
    return tuple(method for method in _METHODS if hasattr(student, method))
