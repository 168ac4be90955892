"""What :class:`~pacsklearn.PACPrivate` learns of rows or of a table, and by which arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, NamedTuple, final

from sklearn.base import is_regressor

from pacsklearn._sklearn_compat import features_of
from pacsklearn.bigdata.table import Table
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.estimators.private_estimator import ResponseModel
from pacsklearn.estimators.stabilized import stabilized
from pacsklearn.exceptions import TableError
from pacsklearn.kernel.guarantee.model_digest import mark_released
from pacsklearn.kernel.outputs.candidates import Candidates, subset_seed
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.release.parameters import ParameterPlan
from pacsklearn.kernel.release.release import Release
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.sampled.sampled_subsets import LISTED
from pacsklearn.tabular.choosing.answers_plan import warn_of_answers, warn_of_poor_answers
from pacsklearn.tabular.choosing.simulated_releases import warn_of_poor_release
from pacsklearn.tabular.choosing.tuning import Option
from pacsklearn.tabular.students.student import STUDENT_METHODS, StudentQueries, release_student
from pacsklearn.tabular.students.student_plan import warn_of_poor_student

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


MOST_ANSWERS = 10_000
"""Answers that a budget lasts for when nothing else is said."""


@final
class PreparedRows(NamedTuple):
    """What a fit and its plan begin with: checked rows, their candidates, and the public seed.

    ``drawn`` is the law of a secret that is drawn from all balanced subsets; the candidates are
    two of its trials then, for the checks.
    """

    candidates: Candidates
    canonicalizer: Canonicalizer | None
    features: dict[str, Any]
    seed: Any
    routed: dict[str, Any]
    options: list[Option]
    drawn: DrawnSubsets | None = None


SETTINGS = ("ledger", "random_state", "verbose", "criterion", "fast_fit", "allow_exact")
"""Parameters that a session takes as they are."""

CHOICES = ("noise", "metric", "canonicalizer", "prior_mean", "value_range")
"""Parameters that one release of a session takes as they are."""

Route = Callable[[Any, PrivacySession, PreparedRows], dict[str, Any]]


def named(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Parameters by their names."""
    return {name: getattr(model, name) for name in names}


def opened_session(model: Any, rows: PreparedRows, budget: float) -> PrivacySession:
    """Session of a fit, for its checked budget."""
    return PrivacySession(
        rows.candidates.X,
        rows.candidates.y,
        space=rows.drawn or rows.candidates.space,
        secret_space=model.secret_space,
        budget=budget,
        store=model.store,
        n_jobs=model.n_jobs,
        **named(model, SETTINGS),
    )


def route_of(model: Any, rows: PreparedRows) -> Route:
    """What releases in the session, and gives the attributes of the fitted model."""
    if model.release == "student":
        return _student
    return _answers if rows.canonicalizer is None else _parameters


def learned_of(release: Release, methods: tuple[str, ...]) -> dict[str, Any]:
    """What a fit learns from released parameters."""
    return {
        "released_as_": "parameters",
        "released_estimator_": release.value,
        "released_methods_": methods,
        "_guarantee": release.guarantee,
        "noise_variances_": release.noise_variances,
        **_classes_of(release.value),
    }


def _classes_of(model: Any) -> dict[str, Any]:
    classes = getattr(model, "classes_", None)
    return {} if classes is None else {"classes_": classes}


def _parameters(model: Any, session: PrivacySession, rows: PreparedRows) -> dict[str, Any]:
    chosen = {**named(model, CHOICES), "fit_params": rows.routed}
    choice = None
    if rows.drawn is not None:
        assert rows.canonicalizer is not None
        release, methods = session.release(model.estimator, **chosen), rows.canonicalizer.methods
    else:

        def prepare(estimator: Any) -> ParameterPlan:
            return session.prepare(estimator, **chosen)

        choice = model._choice(rows, prepare)
        plan = prepare(model.estimator) if choice is None else choice.plan
        warn_of_poor_release(plan, rows.candidates, model.estimator)
        release = session.take(plan, certify=model.certify)
        methods = plan.outputs.canonicalizer.methods
    # The whole budget went into this release: nothing may be asked of its secret again.
    session.close()
    model._pass_output_config(release.value)
    learned = learned_of(release, methods)
    if choice is not None:
        stated = choice.stated(release.guarantee)
        # Anew: the statement with the choice is the one that goes with the model.
        mark_released(release.value, stated)
        learned |= {
            "_guarantee": stated,
            "best_params_": dict(choice.option.params),
            "leaderboard_": choice.leaderboard,
        }
    return learned


def _student(model: Any, session: PrivacySession, rows: PreparedRows) -> dict[str, Any]:
    release = release_student(
        session,
        stabilized(model.estimator, model.stabilize),
        model._lesson(),
        budget=session.ledger.ceiling,
        like=rows.candidates.X,
        value_range=model.value_range,
        prior_mean=model.prior_mean,
        fit_params=rows.routed,
    )
    session.close()
    warn_of_poor_student(release.estimator, rows.candidates)
    return {
        "released_as_": "student",
        "released_estimator_": release.estimator,
        "released_methods_": tuple(
            method for method in STUDENT_METHODS if hasattr(release.estimator, method)
        ),
        "_guarantee": release.guarantee,
        **_classes_of(release.estimator),
    }


def _answers(model: Any, session: PrivacySession, rows: PreparedRows) -> dict[str, Any]:
    warn_of_answers(model.estimator, model._why_answers())
    unstated = model.max_answers is None and model.query_budget is None
    responder = session.responder(
        stabilized(model.estimator, model.stabilize),
        query_budget=model.query_budget,
        max_answers=MOST_ANSWERS if unstated else model.max_answers,
        answers=model.answers,
        value_range=model.value_range,
        prior_mean=model.prior_mean,
        fit_params=rows.routed,
    )
    warn_of_poor_answers(responder, rows.candidates)
    answering = ResponseModel(responder, model)
    classes = answering.kind.classes
    return {
        "_answering": answering,
        "released_as_": "responses",
        "released_methods_": answering.kind.methods,
        **({} if classes is None else {"classes_": classes}),
    }


_ONLY = {
    "release": ("auto", "parameters"),
    "tune": (None,),
    "stabilize": (None, False),
    "debug": (False,),
    "secret_space": (LISTED,),
}


def table_release(
    model: Any, table: Table, y: Any, groups: Any, fit_params: Mapping[str, Any]
) -> dict[str, Any]:
    """Release an estimator's parameters; the attributes of the fitted model.

    Raises
    ------
    TableError
        When the model asks for what needs rows in memory.
    """
    for name, possible in _ONLY.items():
        given = getattr(model, name)
        if not isinstance(given, (str, bool, type(None))) or given not in possible:
            raise TableError(f"{name} must be {possible[0]!r} for a Table, got {given!r}.")
    refuse_ignored(model, "parameters")
    seed = subset_seed(model.subset_seed, model.random_state)
    session = PrivacySession(
        table.on(model.engine),
        y,
        budget=model.budget,
        n_subsets=model.n_subsets,
        rate=model.rate,
        stratify=model.stratify,
        groups=groups,
        subset_seed=seed,
        **named(model, SETTINGS),
    )
    plan = session.prepare(model.estimator, fit_params=fit_params, **named(model, CHOICES))
    release = session.take(plan, certify=model.certify)
    session.close()
    methods = plan.outputs.canonicalizer.methods
    return {**features_of(plan.outputs.X), "_subset_seed": seed, **learned_of(release, methods)}
