"""Refuse estimators and parameters of ``fit`` that would bring in rows of other candidates."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from pacsklearn._sklearn_compat import check_tags, routing_enabled


def check_is_estimator(estimator: Any) -> None:
    """Refuse what is no estimator: a class, a name, a function.

    Raises
    ------
    TypeError
    """
    is_class = isinstance(estimator, type)
    if is_class or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        name = (estimator if is_class else type(estimator)).__name__
        given = (
            f"the class; give an instance, {name}()" if is_class else f"an object of type {name}"
        )
        raise TypeError(
            f"estimator must be a scikit-learn estimator, with fit and get_params, got {given}."
        )


def check_wrapped(estimator: Any) -> None:
    """Refuse an estimator that cannot be fitted on candidates, before any row is looked at.

    Parts that are no usable estimators are refused in scikit-learn's own words, and parts that keep
    what they learned elsewhere because every candidate would publish it.
    """
    parts = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    for path, part in [("estimator", estimator), *parts.items()]:
        if hasattr(part, "get_params") and not isinstance(part, type):
            check_tags(part)
        if getattr(part, "draws_its_own_secret", False) and not isinstance(part, type):
            raise ValueError(
                f"{path} is private itself ({type(part).__name__}): fitted on each candidate it "
                "would draw a secret and spend a budget of its own. Wrap the plain estimator, "
                "once."
            )
        frozen = isinstance(part, FrozenEstimator)
        if frozen or (path.split("__")[-1] == "cv" and isinstance(part, str) and part == "prefit"):
            what = "a FrozenEstimator" if frozen else "cv='prefit'"
            raise ValueError(
                f"{path} is {what}: it keeps a model that was fitted outside the candidate "
                "subsets, and whatever that model learned would be published as it is. Fit it "
                "inside the estimator; if it was fitted on public data, say so by using its "
                "function, as in FunctionTransformer(fitted.transform)."
            )


def check_fit_params(estimator: Any, params: Mapping[str, Any], n_rows: int) -> None:
    """Refuse parameters of ``fit`` that a subset's fit would not take.

    Whatever has a length must have one entry a row: it is cut to the subset's rows, and anything
    else (a validation set, a warm start) would bring in rows of other subsets.
    """
    name = type(estimator).__name__
    known = inspect.signature(estimator.fit).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for param, value in params.items():
        if not routing_enabled() and not takes_all and param not in known:
            raise TypeError(f"fit of {name} takes no parameter {param!r}; leave it out.")
        if not routing_enabled() and hasattr(estimator, "steps") and "__" not in param:
            raise ValueError(
                f"fit of {name} takes no parameter {param!r}; name the step it is for, as in "
                f"{estimator.steps[-1][0]}__{param}."
            )
        if value is None or isinstance(value, (str, bytes, Mapping, Number, np.generic)):
            continue
        if not hasattr(value, "__len__"):
            raise ValueError(
                f"{param} must be a number, a string, a dictionary or one entry a row, got an "
                f"object of type {type(value).__name__}: what was fitted or computed elsewhere (a "
                "warm start) would bring in rows of other subsets."
            )
        shape = np.shape(value) if hasattr(value, "shape") else (len(value),)
        if shape[:1] != (n_rows,):
            raise ValueError(
                f"{param} must have one entry for each of the {n_rows} rows of X, got shape "
                f"{shape}: a subset's fit sees the entries of its own rows and nothing else."
            )
