"""From an argument to the value object that it states."""

from __future__ import annotations

from typing import Any, TypeVar

from sklearn.base import BaseEstimator, clone

from pacsklearn._sklearn_compat import check_parameters

Value = TypeVar("Value", bound=BaseEstimator)


def stated(kind: type[Value], value: Any, name: str) -> Value:
    """Return the value object that an argument states: a bare value is its first parameter.

    Parameters
    ----------
    kind : class
        Of the value object.
    value : object
        One of that kind, which is copied, or its first parameter.
    name : str
        Of the argument.

    Raises
    ------
    InvalidParameterError
        Names the argument, what is wrong in it, and what it must be.
    """
    made: Value = clone(value) if isinstance(value, kind) else kind(value)
    check_parameters(made, within=f"{name}: ")
    return made
