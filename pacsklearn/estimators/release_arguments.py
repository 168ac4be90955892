"""Arguments that have an effect in some releases only, refused in the others."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from sklearn.base import is_regressor

from pacsklearn.estimators.student import StudentQueries

_ANSWERS: Final = ("responses",)
_NUMBERS: Final = ("parameters",)
_BOTH: Final = ("responses", "student")

# Where each has an effect, and what it is about.
_USED: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "max_answers": (_ANSWERS, "how many private answers the budget must last for"),
    "query_budget": (_ANSWERS, "what one private answer may reveal"),
    "store": (_ANSWERS, "where private answers are stored"),
    "answers": (_BOTH, "what is answered"),
    "stabilize": (_BOTH, "private answers"),
    "noise": (_NUMBERS, "how released parameters are noised"),
    "metric": (_NUMBERS, "how released parameters are noised"),
    "canonicalizer": (_NUMBERS, "how a model becomes the numbers that are released"),
    "value_range": (("parameters", *_BOTH), ""),
    "prior_mean": (("parameters", *_BOTH), ""),
}
_NOUNS: Final = {"parameters": "parameters", "responses": "answers", "student": "a student"}


def refuse_ignored(model: Any, released_as: str) -> None:
    """Refuse what the user stated and the release would not look at.

    Parameters
    ----------
    model : PACPrivate
    released_as : {"parameters", "responses", "student"}
        What a fit would release.

    Raises
    ------
    ValueError
        Naming the first such argument.
    """
    defaults = {field.name: field.default for field in fields(model)}
    name = type(model.estimator).__name__
    for argument, (used, about) in _USED.items():
        value = getattr(model, argument)
        if value is defaults[argument] or value is False:
            continue
        if isinstance(value, str) and value == defaults[argument]:
            continue
        if argument in ("value_range", "prior_mean") and not is_regressor(model.estimator):
            raise ValueError(
                f"{argument} is for regressors, whose predictions are numbers; {name} is none. "
                "Leave it out."
            )
        if released_as in used:
            continue
        way_out = f"leave {argument} out"
        if released_as == "parameters" and model.release == "auto":
            way_out = f"give release='responses' as well, or {way_out}"
        raise ValueError(
            f"{argument} is about {about}, and {_NOUNS[released_as]} of {name} would be released "
            f"(release={model.release!r}): it would be ignored; {way_out}."
        )


def check_student(model: Any) -> None:
    """Refuse arguments of students where none is asked for, and what a student has no use for."""
    if model.release == "student":
        StudentQueries.of(model.queries)
        if model.answers not in ("auto", "labels", "values"):
            raise ValueError(
                f"answers must be 'auto' with release='student', got {model.answers!r}: a "
                "student learns labels or values."
            )
        if model.max_answers is not None or model.query_budget is not None:
            raise ValueError(
                "max_answers and query_budget must be left out with release='student': the "
                "budget is shared among the queries that candidates disagree on."
            )
        if model.criterion is not None:
            _check_capped_student(model)
        return
    names = ["student", "queries"]
    if not is_regressor(model.estimator):  # scikit-learn's checks set alpha on any regressor
        names.append("alpha")
    given = [name for name in names if getattr(model, name) is not None]
    if given:
        raise ValueError(
            f"{given[0]} is for release='student', got release={model.release!r}; leave it out, "
            "or ask for a student."
        )


def _check_capped_student(model: Any) -> None:
    """Refuse what one release of all labels has no place for."""
    wrong = {
        "alpha": model.alpha is not None,
        "queries with private marginals": getattr(model.queries, "is_private", False),
        "a regressor": is_regressor(model.estimator),
    }
    for name in filter(wrong.get, wrong):
        raise ValueError(
            f"criterion must be None with release='student' and {name}: under a cap all labels are "
            "released at once, and nothing else. State a budget in nats."
        )
