"""Estimators by name: scikit-learn's and those a plugin registered, nothing else."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from pacsklearn.plugin import registry
from pacsklearn.plugin.qualified_name import is_dotted_name

__all__ = ["checked_params", "named_estimator"]

_KINDS = ("canonicalizer", "batch_predictor", "subset_fitter")
_CLOSED = ("sklearn.externals", "sklearn.tests", "sklearn.conftest", "sklearn.datasets")


def named_estimator(text: str, params: str | None = None) -> Any:
    """Estimator that a command names, with parameters from JSON.

    Parameters
    ----------
    text : str
        ``"sklearn.svm.LinearSVC"``, a short name that is registered (``"LinearSVC"``), or a
        pipeline of several joined by ``+``.
    params : str, optional
        JSON object for ``set_params``.

    Raises
    ------
    ValueError
        When a name or a parameter is unknown. Nothing outside scikit-learn and the registered
        plugins is ever imported.
    """
    names = [name.strip() for name in text.split("+")]
    steps = [_class(name)() for name in names]
    estimator = steps[0] if len(steps) == 1 else make_pipeline(*steps)
    return estimator.set_params(**checked_params(estimator, params))


def checked_params(estimator: Any, params: str | None) -> dict[str, Any]:
    """Parameters of ``estimator`` from JSON."""
    if not params:
        return {}
    try:
        given = json.loads(params)
    except json.JSONDecodeError:
        raise ValueError(
            "params must be a JSON object such as '{\"C\": 0.01}', got text that is no JSON."
        ) from None
    if not isinstance(given, dict):
        raise ValueError(f"params must be a JSON object, got {type(given).__name__}.")
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
        for record in registry().records(kind)
        for known in getattr(record, "estimators", ())
        if isinstance(known, str)
    }
    full = name
    if "." not in name:
        found = sorted(known for known in claimed if known.rpartition(".")[2] == name)
        if len(found) != 1:
            what = "several estimators are" if found else "no registered estimator is"
            raise ValueError(
                f"estimator: {what} called {name!r}; give the qualified name, such as "
                "'sklearn.svm.LinearSVC'."
            )
        full = found[0]
    allowed = full in claimed or (
        is_dotted_name(full)
        and full.startswith("sklearn.")
        and not full.startswith(_CLOSED)
        and not any(part.startswith("_") for part in full.split("."))
    )
    if not allowed:
        raise ValueError(
            f"estimator must be a scikit-learn estimator or one that a plugin registered, got "
            f"{name!r}."
        )
    module, _, attribute = full.rpartition(".")
    try:
        found_class = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        raise ValueError(f"There is no estimator {full!r}; check the name.") from None
    if not (isinstance(found_class, type) and issubclass(found_class, BaseEstimator)):
        raise ValueError(f"{full!r} is not an estimator.")
    if not hasattr(found_class, "fit"):
        raise ValueError(f"{full!r} has no fit.")
    return found_class
