"""A session's state as numbers, texts, arrays and tables, each field by its noun."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import fields
from importlib.util import find_spec
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.model_digest import model_digest
from pacsklearn.estimators.session_state import SessionState
from pacsklearn.estimators.stored_answers import AnswerRun, ResponderState
from pacsklearn.exceptions import BundleError, SessionFileError
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.caps import Success
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion
from pacsklearn.kernel.ledger.event import Event, Provenance
from pacsklearn.kernel.ledger.row import Position, event_class
from pacsklearn.kernel.outputs.models import CandidateModels, stack
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.row_rules import RowRules

_FORMAT: Final = 7
_MOST: Final = 2**20
# Their states are whole numbers, which NumPy checks; others hold a place in a buffer, which not.
_GENERATORS: Final = ("PCG64", "PCG64DXSM", "SFC64")


def state_document(state: SessionState, *, models: bool) -> dict[str, Any]:
    """Return the document of a state.

    Parameters
    ----------
    state : SessionState
    models : bool
        Whether it may hold fitted models: whoever reads it must know that nobody else wrote it.

    Raises
    ------
    SessionFileError
        When the session holds what is code.
    """
    index, log_belief = state.drawn
    return {
        "format": _FORMAT,
        "X": state.X,
        "y": state.y,
        "space": {each.name: getattr(state.space, each.name) for each in fields(state.space)},
        "generator": _generator(state.generator),
        "secret": index,
        "log_belief": log_belief,
        "ceiling": state.ceiling,
        "events": [event.to_dict() for event in state.events],
        "session": state.session,
        "n_charged": state.n_charged,
        "ledger": dict(state.ledger),
        "position": str(state.position),
        "models": models_without_code(state.models) if models else {},
        "responders": {name: _responder(each) for name, each in state.responders.items()},
        "certificate": state.certificate,
        "options": {**state.options, "budget": _stated(state.options["budget"])},
    }


def document_state(document: Any, *, models: bool) -> SessionState:
    """Return the state that :func:`state_document` described.

    Only what the package itself would have written is taken over: sizes agree and numbers lie in
    their ranges, so that compiled code which does not look finds no other memory.

    Raises
    ------
    Exception
        Of any class when the document is something else.
    """
    _demand(document["format"] == _FORMAT)
    space, X, y = _space_from(document["space"]), document["X"], document["y"]
    if space.has_members:
        n_rows = space.row_subsets().n_rows
        _demand(_length(X) == n_rows and (y is None or _length(y) == n_rows))
    else:
        _demand(X is None and y is None)
    m, index, log_belief = space.n_candidates, document["secret"], document["log_belief"]
    _demand(type(index) is int and 0 <= index < m)
    _check(log_belief, np.float64, (m,))
    _demand(not np.isnan(log_belief).any() and log_belief[index] > -np.inf)
    n_charged, ceiling = document["n_charged"], document["ceiling"]
    _demand(type(n_charged) is int and n_charged >= 0 and type(ceiling) is float)
    ledger, session, certificate = document["ledger"], document["session"], document["certificate"]
    texts = session, ledger["uri"], ledger["dataset"]
    _demand(all(type(text) is str for text in texts))
    _demand(not ledger["uri"] or ledger["uri"].startswith("sqlite:"))
    _demand(all(type(ledger[name]) in (str, type(None)) for name in ("user", "project")))
    first, shared = certificate
    _demand(type(shared) is int)
    _demand(first is None or [type(one) for one in first] == [float, float])
    options = _options_from(document["options"], space)
    _demand(options["budget"].amount == ceiling)
    return SessionState(
        X=X,
        y=y,
        space=space,
        generator=_generator_from(document["generator"]),
        drawn=(index, log_belief),
        ceiling=ceiling,
        events=tuple(event_of(event) for event in document["events"]),
        session=session,
        n_charged=n_charged,
        ledger=ledger,
        position=Position.parse(document["position"]),
        models=_models_from(document["models"], m) if models else {},
        responders={name: _responder_from(one) for name, one in document["responders"].items()},
        certificate=certificate,
        options=options,
    )


def _demand(holds: bool) -> None:
    if not holds:
        raise ValueError("a field is not as it was written")


def _check(array: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    _demand(type(array) is np.ndarray and array.dtype == dtype and array.shape == shape)


def _length(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def event_of(facts: dict[str, Any]) -> Event:
    """Return the event that :meth:`Event.to_dict` wrote, its values checked."""
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()
    }
    given["provenance"] = tuple(Provenance(**plugin) for plugin in facts["provenance"])
    return event_class(given.pop("type"))(**given)


def _space_from(facts: dict[str, Any]) -> SecretSpace | CandidateSpace:
    m = len(facts["candidates"]) if "candidates" in facts else facts["n_subsets"]
    _demand(type(m) is int and 2 <= m <= _MOST)
    weights = facts["weights"]
    _check(weights, np.float64, (m,))
    _demand(bool(np.all(weights > 0)) and bool(abs(weights.sum() - 1) < 1e-9))
    if "candidates" in facts:
        _demand(type(facts["candidates"]) is tuple)
        _check_numbers(facts["numbers"], m)
        return CandidateSpace(**facts)
    packed, units = facts["packed"], facts["unit_of_row"]
    _check(packed, np.uint8, (len(packed), -(-m // 8)))
    _demand(type(facts["is_listed"]) is bool and type(facts["dealt"]) is str)
    _demand(len(facts["dealt"]) < 100 and facts["dealt"].isprintable())
    for numbers in (units, facts.get("mates")):
        if numbers is not None:
            _check_numbers(numbers, len(packed))
    space = SecretSpace(**facts)
    _demand(space.n_subsets == m)  # they were distinct
    return space


def _check_numbers(numbers: Any, end: int) -> None:
    _check(numbers, np.int64, (len(numbers),))
    _demand(bool(((numbers >= 0) & (numbers < end)).all()))


def _generator(generator: np.random.Generator | None) -> dict[str, Any] | None:
    if generator is None:
        return None
    state = dict(generator.bit_generator.state)
    if state["bit_generator"] not in _GENERATORS:
        raise SessionFileError(
            f"A session whose random_state is a generator of the kind {state['bit_generator']} "
            f"cannot be saved; give an integer, or one of {', '.join(_GENERATORS)}."
        )
    return state


def _generator_from(state: dict[str, Any] | None) -> np.random.Generator | None:
    if state is None:
        return None
    _demand(state["bit_generator"] in _GENERATORS)
    made = getattr(np.random, state["bit_generator"])(0)
    made.state = state
    return np.random.Generator(made)


def _models_from(contents: dict[str, Any], n_candidates: int) -> dict[str, CandidateModels]:
    models = {name: models_from(content) for name, content in contents.items()}
    _demand(all(each is None or each.n_models == n_candidates for each in models.values()))
    return {name: each for name, each in models.items() if each is not None}


def _responder(state: ResponderState) -> dict[str, Any]:
    runs = [[run.high, run.low, run.values, run.margins] for run in state.stored]
    return {
        "step_budget": state.step_budget,
        "n_answered": state.n_answered,
        "n_contested": state.n_contested,
        "answers": runs,
    }


def _responder_from(facts: dict[str, Any]) -> ResponderState:
    runs = tuple(AnswerRun(*run) for run in facts["answers"])
    for run in runs:
        for half in (run.high, run.low):
            _check(half, np.uint64, (len(run),))
        _check(run.margins, np.float64, (len(run),))
        _demand(len(run.values) == len(run) and run.values.dtype.kind in "if")
    counts = facts["n_answered"], facts["n_contested"]
    step = facts["step_budget"]
    _demand(type(step) is float and 0 < step < np.inf)
    _demand(all(type(count) is int and count >= 0 for count in counts))
    return ResponderState(step, *counts, runs)


def _stated(budget: Budget) -> dict[str, Any]:
    facts = budget.to_dict()
    if isinstance(budget, Success) and isinstance(made := budget.of, GuessCriterion):
        return {**facts, "of": [made.table, made.name, made.statement, made.aim]}
    if not all(isinstance(value, Real) for value in budget.get_params().values()):
        raise SessionFileError(
            f"budget is a {type(budget).__name__} that holds code and cannot be saved; a session "
            "is saved whose budget holds numbers, or a GuessCriterion."
        )
    return facts


def _budget_from(facts: dict[str, Any], space: SecretSpace | CandidateSpace) -> Budget:
    params = {name: value for name, value in facts.items() if name != "name"}
    if facts["name"] == Success.name:
        table, *words = params.pop("of")
        _demand(all(type(word) is str for word in words))
        _demand(np.shape(table)[1:] == (space.n_candidates,))
        params["of"] = GuessCriterion(table, *words[:2])
    kinds = {each.name: each.made for each in registry().registrations("budget")}
    _demand(all(isinstance(value, Real) for name, value in params.items() if name != "of"))
    made: Budget = {**kinds, Success.name: Success}[facts["name"]](**params)
    made.criterion(space)  # or says that it cannot be capped
    return made


def _options_from(
    options: dict[str, Any], space: SecretSpace | CandidateSpace
) -> Mapping[str, Any]:
    n_jobs, verbose, key = options["n_jobs"], options["verbose"], options["answers_key"]
    _demand(n_jobs is None or type(n_jobs) is int)
    _demand(type(verbose) in (int, bool) and type(options["fast_fit"]) is bool)
    _demand(key is None or type(key) is bytes)
    return {
        # Of the machine it was saved on: not more processes than this one has places for.
        "n_jobs": n_jobs if n_jobs is None else min(n_jobs, os.cpu_count() or 1),
        "verbose": verbose,
        "fast_fit": options["fast_fit"],
        "answers_key": key,
        "budget": _budget_from(options["budget"], space),
    }


def models_without_code(models: Mapping[str, CandidateModels]) -> dict[str, NDArray[np.uint8]]:
    """Return those models that skops can write, by name, as bytes; others are fitted again.

    Nothing is returned that would not be read back as the same models, bit for bit.
    """
    if find_spec("skops") is None:
        return {}
    written = {name: _without_code(each) for name, each in models.items()}
    return {
        name: np.frombuffer(content, np.uint8)
        for name, content in written.items()
        if content is not None
    }


def _without_code(models: CandidateModels) -> bytes | None:
    from skops.io.exceptions import UnsupportedTypeException

    from pacsklearn.estimators.model_file import from_file, skops_file

    try:
        content = skops_file({"models": list(models.models), "n_jobs": models.n_jobs})
        # Read back and compared: a writer that drops a digit would change answers after loading.
        again = from_file(content)["models"]
    except (UnsupportedTypeException, AttributeError, TypeError, ValueError, BundleError):
        return None
    pairs = zip(models.models, again, strict=True)
    return (
        content if all(model_digest(ours) == model_digest(read) for ours, read in pairs) else None
    )


def models_from(content: NDArray[np.uint8]) -> CandidateModels | None:
    """Return models that :func:`models_without_code` wrote; calls only classes on a list of ours.

    None where skops is not installed, or another version of scikit-learn wrote them: they are
    fitted again.

    Raises
    ------
    BundleError
        When the content asks for anything else.
    """
    if find_spec("skops") is None:
        return None
    from sklearn.exceptions import InconsistentVersionWarning

    from pacsklearn.estimators.model_file import from_file

    with warnings.catch_warnings():
        warnings.simplefilter("error", InconsistentVersionWarning)
        read: Any = from_file(content.tobytes())
    models = tuple(read["models"])
    names = tuple(getattr(models[0], "feature_names_in_", ())) or None
    return CandidateModels(models, RowRules.of(models[0]), stack(models), read["n_jobs"], names)
