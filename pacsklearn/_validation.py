"""Checks of arguments, whose messages name what was wrong, and warnings at the user's own line."""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeGuard

from pacsklearn.exceptions import BudgetError

_LEAST_BUDGET = 1e-15
_LONGEST_SHOWN = 2**64
_LIBRARIES = ("pacsklearn", "sklearn.", "joblib.")
_FIGURES = re.compile(r"[\d.,]+")

_shown: set[tuple[type[Warning], str, str, int]] = set()


def is_real(value: object) -> TypeGuard[float]:
    """Return whether this is a number, and neither True nor False."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether this is a whole number, and neither True nor False."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_word(value: object, word: str) -> bool:
    """Return whether this is one word; arrays and tables would compare cell by cell."""
    return isinstance(value, str) and value == word


def has_params(value: object) -> bool:
    """Return whether this is an estimator, and not its class."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def check_budget(*, budget: object, name: str = "budget") -> float:
    """Return the budget in nats as a float, or raise :class:`BudgetError`.

    Whether it hides anything depends on the secret, and is asked where there is one.
    """
    if not is_real(budget):
        raise BudgetError(
            f"{name} must be a positive number of nats, got {brief(budget)} of type "
            f"{type(budget).__name__}; give for instance {name}=1/16."
        )
    try:
        value = float(budget)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value) or value <= 0:
        raise BudgetError(
            f"{name} must be a positive, finite number of nats, got {value!r}; give for instance "
            f"{name}=1/16."
        )
    if value < _LEAST_BUDGET:
        raise BudgetError(
            f"{name} must be at least {_LEAST_BUDGET} nats, below which noise drowns everything, "
            f"got {budget!r}."
        )
    return value


def check_integer(*, name: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """Return ``value`` as an int between ``minimum`` and ``maximum``."""
    value = _scalar(value)
    if not is_whole(value) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {brief(value)}.")
    number = int(value)
    if maximum is not None and number > maximum:
        raise ValueError(f"{name} must be at most {maximum:,}, got {brief(value)}.")
    return number


def check_flag(*, name: str, value: object) -> None:
    """Raise unless ``value`` is True or False; the word "no" is true."""
    if not isinstance(_scalar(value), bool):
        raise ValueError(f"{name} must be True or False, got {brief(value)}.")


def check_jobs(n_jobs: object, verbose: object) -> None:
    """Raise unless these say how many workers fit candidates, and how much is told of it."""
    if n_jobs is not None and not (isinstance(n_jobs, Integral) and n_jobs):
        raise ValueError(
            f"n_jobs must be None or an integer other than 0 (-1: all cores), got {brief(n_jobs)}."
        )
    if not isinstance(_scalar(verbose), Integral):
        raise ValueError(f"verbose must be an integer, 0 for silence, got {brief(verbose)}.")


def check_choice(*, name: str, value: Any, allowed: Iterable[Any]) -> None:
    """Raise unless ``value`` is one of a few."""
    known = list(allowed)
    if value not in known:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, known))}, got {brief(value)}."
        )


def brief(value: object) -> str:
    """Return a value as an error shows it; a number of hundreds of digits by its size.

    A column or a table, given by mistake, may hold rows: by its shape, or its length.
    """
    if (shape := getattr(value, "shape", ())) != ():
        return f"values of shape {shape}"
    if isinstance(value, list | tuple | set | frozenset | dict):
        return f"a {type(value).__name__} of length {len(value)}"
    if type(value) is int and abs(value) > _LONGEST_SHOWN:
        return f"a number of {value.bit_length()} bits"
    return repr(value)


def as_probability(name: str, value: Any) -> float:
    """Return ``value`` as a float in [0, 1]."""
    number = _as_real(name, value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must be a probability between 0 and 1, got {number!r}.")
    return number


def as_inner_share(name: str, value: Any) -> float:
    """Return ``value`` as a float strictly between 0 and 1."""
    value = _scalar(value)
    # A fraction between these and the ends would be rounded to an end.
    if not is_real(value) or not 2.0**-1074 <= value <= 1.0 - 2.0**-53:
        raise ValueError(f"{name} must be a number strictly between 0 and 1, got {brief(value)}.")
    return float(value)


def as_nats(name: str, value: Any) -> float:
    """Return ``value`` as a non-negative float, possibly infinite."""
    number = _as_real(name, value)
    if math.isnan(number) or number < 0.0:
        raise ValueError(f"{name} must be a non-negative number, got {number!r}.")
    return number


def _as_real(name: str, value: Any) -> float:
    value = _scalar(value)
    if not is_real(value):
        raise TypeError(f"{name} must be a real number, got {type(value).__name__}.")
    return float(value)


def _scalar(value: Any) -> Any:
    if getattr(value, "ndim", None) != 0:
        return value
    import numpy as np  # a tenth of a second, which the command line's help does without

    return value.item() if isinstance(value, (np.ndarray, np.generic)) else value


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line that led here, once a line, however many fits it makes."""
    # The outermost call of a library counts: a search of scikit-learn's calls many of ours.
    place, level, depth, frame = sys._getframe(1), 2, 1, sys._getframe(1)
    while frame is not None:
        depth += 1
        if frame.f_globals.get("__name__", "").startswith(_LIBRARIES):
            place, level = frame.f_back or frame, depth + 1
        frame = frame.f_back  # type: ignore[assignment]
    module = place.f_globals.get("__name__", "")
    if _action(message, category, module, place.f_lineno) == "default":
        # Python shows it once a line too, but forgets what it showed when any block of
        # catch_warnings ends, as one does in every fit.
        words = _FIGURES.sub("", message)
        shown = (category, words, place.f_code.co_filename, place.f_lineno)
        if shown in _shown:
            return
        _shown.add(shown)
    warnings.warn(message, category, stacklevel=level)


def _action(message: str, category: type[Warning], module: str, line: int) -> str:
    """Give what the filters of :mod:`warnings` say of such a warning."""
    for action, text, kind, where, number in warnings.filters:
        if (
            (text is None or text.match(message))
            and issubclass(category, kind)
            and (where is None or where.match(module))
            and number in (0, line)
        ):
            return action
    return "default"
