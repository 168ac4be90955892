"""Students in one call: queries, private answers, and the model that learns from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone, is_regressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.estimators.answer_kinds import LabelKind, answer_kind
from pacsklearn.estimators.cost_preview import preview
from pacsklearn.estimators.joint_labels import answer_together
from pacsklearn.estimators.model_digest import mark_released
from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.estimators.release_kind import classes_of
from pacsklearn.estimators.released_answers import AnsweringKind
from pacsklearn.kernel.answers.responder import Answers
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.kernel.release.function import FunctionPlan
from pacsklearn.priors import Prior
from pacsklearn.tabular.schema.queries import SchemaQueries
from pacsklearn.tabular.students.student_queries import StudentQueries
from pacsklearn.tabular.students.teaching import (
    check_alpha,
    check_consent,
    learned,
    rehearse,
    taught,
    with_columns,
)
from pacsklearn.universe.frame import column_names
from pacsklearn.universe.row_rules import RowRules, check_is_estimator
from pacsklearn.universe.stated_budget import as_budget

_FOLDS = 3
_COMPONENTS = 200


def listed_students(teacher: Any, rows: Any, answers: NDArray[Any]) -> list[Any]:
    """Return the students that suit few queries and many, simplest first.

    The last is a clone of the teacher.

    A linear model, smooth ones, trees with small leaves: what needs many rows in a leaf or has
    no limits learns nothing, or noise, from few queries. They stand behind the teacher's own
    preprocessing; where that does not give numbers, only the clone is listed.

    Parameters
    ----------
    teacher : estimator
    rows : array or DataFrame of shape (n, n_columns)
        Queries.
    answers : ndarray of shape (n,) or (n, width)
    """
    before = Pipeline(teacher.steps[:-1]) if isinstance(teacher, Pipeline) else None
    encoded = clone(before).fit_transform(rows, answers) if before and len(before) else rows
    if not _are_numbers(encoded):
        return [clone(teacher)]
    steps = [clone(step) for _, step in before.steps] if before else []
    steps.append(SimpleImputer(keep_empty_features=True))
    kernel = Nystroem(n_components=min(_COMPONENTS, rows.shape[0] // 2), random_state=0)
    smooth = [[StandardScaler(), kernel]]
    spread = float(np.nanvar(np.asarray(encoded, dtype=np.float64))) if before else 0.0
    if spread > 0:  # the preprocessing's scale may say more than one of each column's own
        smooth.append([clone(kernel).set_params(gamma=1 / (encoded.shape[1] * spread))])
    linear: Any
    if is_regressor(teacher):
        trees: Any = ExtraTreesRegressor(min_samples_leaf=3, random_state=0)
        linear, curved = Ridge(10.0), Ridge(0.1)
    else:
        trees = ExtraTreesClassifier(min_samples_leaf=3, random_state=0)
        linear, curved = (LogisticRegression(C=C, max_iter=1000) for C in (0.1, 10.0))
    heads = [[StandardScaler(), linear], *([*each, curved] for each in smooth), [trees]]
    return [*(make_pipeline(*steps, *head) for head in heads), clone(teacher)]


def best_student(students: list[Any], rows: Any, answers: NDArray[Any]) -> Any:
    """Return simplest student that agrees with answers it has not seen about as well as the best.

    By cross-validation and the one-standard-error rule (Breiman et al., 1984): private answers are
    in part noise, which the students that agree with them best have learned too. A choice by the
    released answers alone, so it reveals nothing more.

    Parameters
    ----------
    students : list of estimators
        Simplest first.
    rows : array or DataFrame of shape (n, n_columns)
    answers : ndarray of shape (n,) or (n, width)

    Returns
    -------
    estimator
        Unfitted; the first one where too few answers are of a second class to tell.
    """
    if len(students) == 1:
        return students[0]
    folds: Any = KFold(_FOLDS, shuffle=True, random_state=0)
    kept = np.arange(len(answers))
    if not is_regressor(students[0]):
        _, codes, counts = np.unique(answers, return_inverse=True, return_counts=True)
        kept = np.flatnonzero(counts[codes] >= _FOLDS)
        if np.unique(codes[kept]).size < 2:
            return students[0]
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    elif len(answers) < 2 * _FOLDS:
        return students[0]
    rows, answers = safe_indexing(rows, kept), answers[kept]
    predicted = [cross_val_predict(student, rows, answers, cv=folds) for student in students]
    if is_regressor(students[0]):
        agreed = [
            -np.sum(np.square(each - answers).reshape(len(kept), -1), axis=1) for each in predicted
        ]
    else:
        agreed = [(each == answers).astype(np.float64) for each in predicted]
    best = agreed[int(np.argmax(np.mean(agreed, axis=1)))]
    behind = best - np.array(agreed)
    error = behind.std(axis=1, ddof=1) / np.sqrt(len(kept))
    return students[int(np.argmax(behind.mean(axis=1) <= error))]


def _are_numbers(encoded: Any) -> bool:
    if issparse(encoded) or len(encoded.shape) != 2:
        return False
    types = encoded.dtypes if hasattr(encoded, "columns") else [encoded.dtype]
    return all(getattr(kind, "kind", "O") in "fiub" for kind in types)


_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


@final
@dataclass(eq=False, repr=False)
class Student(AnsweringKind):
    """Release a student of private answers to queries, which can be published.

    For ``release`` of :class:`PACPrivate`. Which queries the candidates disagree on is no secret,
    so each of those gets its share of all that is left of the budget, and nothing is kept for the
    others, which cost nothing. Under a cap all labels are one release. What all candidates agree on
    is in the student without noise, and the guarantee says so in its title.

    Parameters
    ----------
    student : estimator, optional
        What learns the answers; ``schema`` of the model has it read rows as its teacher does. None
        chooses a linear model, a smooth one, trees with small leaves or a clone of the teacher:
        what agrees best with released answers it has not seen. A published bundle holds no trees:
        state a linear student where it is to be published.
    queries : rows, Schema, SchemaQueries or callable
        What the teacher is asked: public rows, and where those are fewer than 2,000 others crossed
        from pairs of them (``lambda generator: rows`` asks no others); a public :class:`Schema`,
        to draw from its ranges and categories; :class:`SchemaQueries`, with public marginals or
        ones released for a part of the budget; or a function of a NumPy generator.
    alpha : float, optional
        Learn only answers that are the true model's with confidence ``1 - alpha``; None learns all,
        which nothing beat: over nine tables (two splits, 1/64 and 1/4 nat) 0.1 changes AUC by
        -.0005 +- .0033 (boosted student) and -.0001 +- .0016 (logistic), 0.01 by -.012 +- .009 and
        -.010 +- .007.
    stabilize : None, bool or int, default=None
        Of the teacher, as for :class:`Answers`.
    prior : Range or Expected, default=None
        For regressors, as for :class:`Answers`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from pacsklearn import Student
    >>> Student(LogisticRegression(C=0.1), alpha=0.1)
    Student(alpha=0.1, student=LogisticRegression(C=0.1))
    """

    student: Any = None
    queries: Any = None
    _: KW_ONLY
    alpha: float | None = None
    stabilize: bool | int | None = None
    prior: Prior | None = None

    name: ClassVar[str] = "student"

    def check(self, model: Any) -> None:
        """Refuse what one release of all labels has no use for."""
        StudentQueries.of(self.queries)
        check_alpha(self.alpha)
        if self.student is not None:
            check_is_estimator(self.student, "student")
            if get_tags(self.student).estimator_type != get_tags(model.estimator).estimator_type:
                raise ValueError(
                    "student must be a classifier or a regressor as its teacher is, got "
                    f"{type(self.student).__name__} for {type(model.estimator).__name__}."
                )
        wrong = {
            "alpha": self.alpha is not None,
            "queries with private marginals": getattr(self.queries, "is_private", False),
            "a regressor": is_regressor(model.estimator),
        }
        adds = as_budget(model.budget, warn=False).adds
        for name in filter(wrong.get, () if adds else wrong):
            raise ValueError(
                f"budget must be in nats with release=Student(...) and {name}, got "
                f"{model.budget!r}: under a cap all labels are released at once, and nothing else."
            )
        super().check(model)

    def offered(self, estimator: Any) -> Iterable[str]:
        """List the methods of the student."""
        return _offered(estimator if self.student is None else self.student)

    def choose(self, teacher: Any, rows: Any, answers: NDArray[Any]) -> Any:
        """Choose a student for queries and their answers, unfitted.

        Where none is stated, one is chosen by the answers among students that suit few queries and
        many.
        """
        if self.student is not None:
            return self.student
        return best_student(listed_students(teacher, rows, answers), rows, answers)

    def prepare(self, fit: OpenFit) -> None:
        """Prepare nothing: what is asked may itself be released for a part of the budget."""

    def take(self, fit: OpenFit, plan: None) -> dict[str, Any]:
        """Have the estimator answer queries privately, and fit a student on the answers."""
        student, guarantee = self._released(fit)
        fit.close()
        return {
            "released_estimator_": mark_released(student, guarantee),
            "released_methods_": _offered(student),
            "_guarantee": guarantee,
            **classes_of(student),
        }

    def _released(self, fit: OpenFit) -> tuple[Any, PACGuarantee]:
        """Return the student, and what is promised about it."""
        about: list[tuple[str, str]] = []
        procedure, known = fit.procedure, fit.rows.candidates
        if procedure.terms.criterion is None:
            check_consent(procedure)
        queries = StudentQueries.of(self.queries)
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
        RowRules.of(fit.estimator).check(rows)  # says what is wrong with them better than a student
        rehearse(choose, rows, self.kind_of(self.answering(fit.estimator), known.y))
        if procedure.terms.criterion is not None:
            target = procedure.check(None)
            teacher = fit.candidates(self.answering(fit.estimator))
            kind = answer_kind(teacher.estimator, teacher.y, "labels", None)
            release, contested = answer_together(
                procedure, candidate_models(teacher), kind, rows, target
            )
            labels = Answers(release.value, np.full(n_rows, np.nan))
            model, _ = learned(choose, rows, labels, LabelKind(np.unique(labels.values)), None)
            assert isinstance(release.guarantee, PACGuarantee)
            promised = release.guarantee
        else:
            # A preview is computed without the secret, so the price a query may depend on it.
            contested = preview(self.responder(fit, None, n_rows), rows).n_contested
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
