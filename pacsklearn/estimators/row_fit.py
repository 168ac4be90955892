"""What :class:`~pacsklearn.PACPrivate` learns from rows in memory, and in passes over a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pacsklearn._sklearn_compat import features_of
from pacsklearn.candidates.candidates import subset_seed
from pacsklearn.core.model_digest import mark_released
from pacsklearn.core.release import Release
from pacsklearn.core.sampled_subsets import LISTED
from pacsklearn.estimators.answers_plan import warn_of_answers, warn_of_poor_answers
from pacsklearn.estimators.planned_fit import MOST_ANSWERS, PreparedRows
from pacsklearn.estimators.planning import warn_of_poor_release
from pacsklearn.estimators.private_estimator import ResponseModel
from pacsklearn.estimators.release_arguments import refuse_ignored
from pacsklearn.estimators.stabilized import stabilized
from pacsklearn.estimators.student import STUDENT_METHODS, release_student
from pacsklearn.estimators.student_plan import warn_of_poor_student
from pacsklearn.exceptions import TableError
from pacsklearn.release.parameters import ParameterPlan
from pacsklearn.session.privacy_session import PrivacySession
from pacsklearn.tables.table import Table

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
