"""Estimators by name: scikit-learn's and those a plugin registered, nothing else."""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from inspect import signature
from itertools import takewhile
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.utils import all_estimators

from pacsklearn.cli.mixed_columns import column_encoder
from pacsklearn.cli.options import json_object
from pacsklearn.kernel.plugins.kinds import is_dotted_name
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.tabular.schema.encoder import SchemaEncoder
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.universe.row_rules import steps_of

_KINDS = ("canonicalizer", "batch_predictor", "subset_fitter")
_CLOSED = ("sklearn.externals", "sklearn.tests", "sklearn.conftest", "sklearn.datasets")


def named_estimator(
    text: str,
    params: str | None = None,
    schema: Schema | None = None,
    columns: dict[str, Any] | None = None,
) -> Any:
    """Return the estimator that a command names, with parameters from JSON.

    Parameters
    ----------
    text : str
        ``"sklearn.svm.LinearSVC"``, a short name (``"LinearSVC"``), or a pipeline of several
        joined by ``+``.
    params : str, optional
        JSON object for ``set_params``, with or without the step's name where the table is encoded
        first.
    schema : Schema, optional
        Given to the steps that read one; where none does, the table is encoded by it first.
    columns : dict, optional
        What :func:`mixed_columns` found; the table is encoded accordingly first.

    Raises
    ------
    ValueError
        When a name or a parameter is unknown. Nothing outside scikit-learn and the registered
        plugins is ever imported.
    """
    steps = [_made(_class(name.strip()), schema) for name in text.split("+")]
    estimator = owner = steps[0] if len(steps) == 1 else make_pipeline(*steps)
    if schema is not None and not any("schema" in step.get_params(deep=False) for step in steps):
        estimator = make_pipeline(SchemaEncoder(schema), *steps)
    # Of what was named, or of the pipeline that begins with the codebook.
    if params and not json_object(params, "params").keys() <= owner.get_params().keys():
        owner = estimator
    owner.set_params(**checked_params(owner, params))
    if columns is None:
        return estimator
    return make_pipeline(column_encoder(columns), *steps)


def name_of(estimator: Any) -> tuple[str, str | None]:
    """Return text and parameters from which :func:`named_estimator` makes an estimator again."""
    steps = steps_of(estimator)
    stated: dict[str, Any] = {}
    for step in steps:
        prefix = f"{type(step).__name__.lower()}__" if len(steps) > 1 else ""
        plain = signature(type(step)).parameters
        for name, value in step.get_params(deep=False).items():
            if name != "schema" and value != plain[name].default:
                stated[prefix + name] = list(value) if isinstance(value, tuple) else value
    text = " + ".join(type(step).__name__ for step in steps)
    return text, json.dumps(stated) if stated else None


def _made(kind: type, schema: Schema | None) -> Any:
    reads = "schema" in signature(kind).parameters
    if kind is SchemaEncoder and schema is None:
        raise ValueError("SchemaEncoder needs the codebook: give --schema.")
    return kind(schema) if reads and schema is not None else kind()


def checked_params(estimator: Any, params: str | None) -> dict[str, Any]:
    """Return the parameters of ``estimator`` from JSON."""
    if not params:
        return {}
    given = json_object(params, "params")
    known = estimator.get_params(deep=True)
    for name in given:
        if name not in known:
            raise ValueError(
                f"{type(estimator).__name__} has no parameter {name!r}; it has "
                f"{', '.join(sorted(known))}."
            )
        if name.rpartition("__")[2] == "memory":
            raise ValueError("A memory parameter would write rows to a disk cache; leave it out.")
        if hasattr(known[name], "get_params"):
            raise ValueError(f"{name} is an estimator; name the steps instead.")
    return given


def _class(name: str) -> type:
    claimed = {
        known
        for kind in _KINDS
        for record in registry().registrations(kind)
        for known in record.estimators
        if isinstance(known, str)
    }
    full = name if "." in name else _full_name(name, claimed)
    allowed = full in claimed or (
        is_dotted_name(full)
        and full.startswith("sklearn.")
        and not full.startswith(_CLOSED)
        and not any(part.startswith("_") for part in full.split("."))
    )
    if not allowed:
        raise ValueError(
            f"estimator must be a scikit-learn estimator or one that a plugin registered, got "
            f"{name!r}.{_suggested(name.rpartition('.')[2], claimed)}"
        )
    module, _, attribute = full.rpartition(".")
    try:
        named = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        raise ValueError(
            f"There is no estimator {full!r}.{_suggested(attribute, claimed)}"
        ) from None
    if not (isinstance(named, type) and issubclass(named, BaseEstimator)):
        raise ValueError(f"{full!r} is not an estimator.")
    if not hasattr(named, "fit"):
        raise ValueError(f"{full!r} has no fit.")
    return named


def _full_name(name: str, claimed: set[str]) -> str:
    """Return qualified name of a registered estimator, or of scikit-learn's, by its last part."""
    matches = sorted(known for known in claimed if known.rpartition(".")[2] == name)
    matches = matches or [known for known in _of_scikit_learn() if known.rpartition(".")[2] == name]
    if len(matches) == 1:
        return matches[0]
    what = "several estimators are" if matches else "no estimator is"
    hint = f" It is one of {', '.join(matches)}." if matches else _suggested(name, claimed)
    raise ValueError(
        f"estimator: {what} called {name!r}.{hint} Or give the qualified name, such as "
        "'sklearn.svm.LinearSVC'."
    )


def _suggested(name: str, claimed: set[str]) -> str:
    """Return the names that look like it; names of estimators are public."""
    known = sorted({full.rpartition(".")[2] for full in {*claimed, *_of_scikit_learn()}})
    by_case = {one.lower(): one for one in known}
    near = [by_case[one] for one in get_close_matches(name.lower(), by_case, n=3)]
    return f" Did you mean {' or '.join(near)}?" if near else " `pacsklearn plugins` lists names."


@cache
def _of_scikit_learn() -> tuple[str, ...]:
    """Return the qualified names of its estimators, where they are public."""
    names = []
    for name, kind in all_estimators():
        home = takewhile(lambda part: not part.startswith("_"), kind.__module__.split("."))
        names.append(".".join([*home, name]))
    return tuple(names)
