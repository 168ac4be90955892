"""A student learns private answers: the step that distillation and students share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import clone

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import brief, is_real
from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.responder import Answers, Responder
from pacsklearn.kernel.outputs.withheld import withheld
from pacsklearn.kernel.release.procedure import ReleaseProcedure

_REHEARSED = 500

Choose = Callable[[Any, NDArray[Any]], Any]
"""Student for some rows and their answers."""


def check_alpha(alpha: Any) -> None:
    """Refuse, before anything is answered, what is no size of a test.

    Raises
    ------
    ValueError
    """
    if alpha is not None and (not is_real(alpha) or not 0 < alpha < 1):
        raise ValueError(
            f"alpha must be a number strictly between 0 and 1 or None, got {brief(alpha)}."
        )


def check_consent(procedure: ReleaseProcedure) -> None:
    """Refuse, before anything is answered, a student that would hide nothing.

    Answers are asked for one by one; a student goes to others, who are told what its status says.

    Raises
    ------
    BudgetError
        Unless the budget allows it.
    """
    # Rule 15: answers depend on each other, so that their bound is all that may be spent.
    stated = replace(procedure.guarantee(), spent=procedure.account.own.ceiling)
    if stated.uncovered and not procedure.allow_exact:
        raise BudgetError(
            f"A student of {stated.spent:.6g} nats would hide nothing: {stated.status.reason}. "
            "Nothing is charged. Give less, for instance 1/4 nat, or allow_exact=True on the "
            "budget, as in Nats(1, allow_exact=True), if that is what you want; it is never "
            "published then."
        )


def rehearse(choose: Choose, rows: Any, kind: AnswerKind) -> Any:
    """Choose and fit by made-up answers to some of the rows, before a budget buys true ones.

    Its error, whatever it is, quotes nothing: rows and answers are public.

    Raises
    ------
    ValueError
        When a student cannot learn from the rows.
    """
    few = safe_indexing(rows, np.arange(min(rows.shape[0], _REHEARSED)))
    n = few.shape[0]
    numbers = np.linspace(1.0, 2.0, n * kind.width).reshape(n, -1)
    answers = numbers[:, 0] if kind.width == 1 else numbers
    if kind.classes is not None and kind.answers == "labels":
        answers = np.resize(kind.classes, n)
    with withheld():  # warnings about made-up answers are of no use
        student = choose(few, answers)
        try:
            fitted = clone(student).fit(few, answers)
            fitted.predict(few)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"student cannot learn from the queries as they are: {type(student).__name__} said "
                f"{str(error).strip()!r}. Words, dates and gaps are read where it begins with "
                "SchemaEncoder(schema), or by schema= of PACPrivate."
            ) from None
    return fitted


def taught(choose: Choose, rows: Any, responder: Responder, alpha: float | None) -> tuple[Any, int]:
    """Have public rows answered, and a clone of a student learn the answers; how many it learnt.

    Raises
    ------
    BudgetExhaustedError, ValueError
    """
    rows = with_columns(responder.models.feature_names, rows)
    return learned(choose, rows, responder.answer(rows), responder.kind, alpha)


def learned(
    choose: Choose, rows: Any, answers: Answers, kind: AnswerKind, alpha: float | None
) -> tuple[Any, int]:
    """Return a clone of a student, fitted on answers that are sure enough, and how many those are.

    Raises
    ------
    ValueError
        When too few rows pass the test.
    """
    kept = sure_of(answers, kind, alpha)
    rows, labels = safe_indexing(rows, kept), answers.values[kept]
    return clone(choose(rows, labels)).fit(rows, labels), int(kept.size)


def sure_of(
    answers: Answers,
    kind: AnswerKind,
    alpha: float | None,
    paid: str = " What the answers cost is charged.",
) -> NDArray[np.intp]:
    """Return which answers are sure enough to be learned.

    Raises
    ------
    ValueError
        When they are too few, or of one class.
    """
    kept = np.arange(len(answers.values))
    if alpha is not None and kind.classes is not None:
        # The paper's test has size alpha for one label; any of the others may be the true one.
        others = max(kind.classes.size - 1, 1)
        kept = np.flatnonzero(answers.margins >= norm.isf(alpha / others))
    labels, n = answers.values[kept], len(answers.values)
    if kept.size == 0 or (kind.answers == "labels" and np.unique(labels).size < 2):
        passed = f" that are sure at alpha={alpha}" * (alpha is not None)
        raise ValueError(
            f"A student needs answers of two classes or more, got {np.unique(labels).size} in the "
            f"{kept.size} of {n} answers{passed}; give more public rows, a larger "
            f"{'alpha, a larger ' * bool(passed)}budget, or a teacher that says more classes.{paid}"
        )
    return kept


def with_columns(names: Sequence[str] | None, rows: Any) -> Any:
    """Return public rows with the private ones' columns, in their order.

    Refuse where one is missing.
    """
    if names is None or not hasattr(rows, "columns"):
        return rows
    absent = [name for name in names if name not in rows.columns]
    more = [str(name) for name in rows.columns if name not in names]
    if absent or more:
        what = "lack the columns" if absent else "have the columns"
        raise ValueError(
            f"The public rows {what} {', '.join(absent or more)}, which the private rows "
            f"{'have' if absent else 'do not have'}; give the public rows the same columns."
        )
    return rows if list(rows.columns) == list(names) else rows[list(names)]
