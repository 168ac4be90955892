"""Values of one column of any table: numbers, days, and codes of categories."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.universe.frame import column_names, is_missing

# Codes of a value that is no category of the schema, and of one that is not there.
OUTSIDE, MISSING = -1, -2
# Words that stand for truth values unless others are stated, as in Table Schema.
SPELLINGS = {"False": ("false", "FALSE", "0"), "True": ("true", "TRUE", "1")}

_ZONE = re.compile(r"(:\d\d(?:\.\d+)?)\s*(?:Z|[+-]\d\d(?::?\d\d)?)$")


def column_values(X: Any, name: str, position: int) -> Any:
    """Return one column, by name if it has one, as an array or a categorical of pandas.

    Raises
    ------
    TypeError
        For lists, dictionaries and whatever else has parts.
    """
    values = _values_of(X, name, position)
    if isinstance(values, np.ndarray) and values.dtype == object:
        for kind in set(map(type, values)):
            if hasattr(kind, "__len__") and not issubclass(kind, (str, bytes)):
                raise TypeError(
                    f"Column {name} holds objects of type {kind.__name__}, and the cells of a "
                    "table must be numbers, texts, truths or dates: give each part a column."
                )
    return values


def _values_of(X: Any, name: str, position: int) -> Any:
    # Pandas knows that all names are texts; to list them for each column takes as long as the rest.
    known = getattr(getattr(X, "columns", None), "inferred_type", None)
    named = known == "string" or column_names(X) is not None
    if not named and not hasattr(X, "iloc"):
        return np.asarray(X)[:, position]
    column = X[name] if named else X.iloc[:, position]
    if hasattr(column, "iloc"):
        return column.array if hasattr(column, "cat") else column.to_numpy()
    if hasattr(column, "combine_chunks"):  # Arrow
        return np.array(column.to_pylist(), dtype=object)
    return (
        column.to_numpy() if column.dtype.is_numeric() else np.array(column.to_list(), dtype=object)
    )


def key_of(value: Any) -> str:
    """Return what a category is compared by: 1, 1.0 and "1" are the same everywhere."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, Decimal):  # 1.0 and 1.00 are equal, and other texts
        value = float(value)
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def keys_of(categories: Iterable[Any], missing: Sequence[Any]) -> dict[str, int]:
    """Return the code of every key that has one; what is stated goes before a usual spelling."""
    known = {key_of(value): code for code, value in enumerate(categories)}
    spelled = {
        word: known[truth] for truth, words in SPELLINGS.items() if truth in known for word in words
    }
    return spelled | {key_of(code): MISSING for code in (*missing, "")} | known


def day_of(value: Any) -> float:
    """Return the days since 1970-01-01 of a date, a time or a text in ISO form.

    Raises
    ------
    ValueError
        Without the value, which may be a row's.
    """
    try:
        return _day(value)
    except (TypeError, ValueError):
        raise ValueError(
            "A date must be a date, a datetime or a text such as '2024-02-29', got an object of "
            f"type {type(value).__name__} that is not one."
        ) from None


def as_numbers(values: Any, missing: Sequence[Any]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return numbers, NaN where there is none; and which of those are there but are no numbers.

    A duration is a number of days.
    """
    array = _plain(values)
    if array.dtype.kind == "m":
        array = array / np.timedelta64(1, "D")
    if array.dtype.kind in "biuf":
        numbers = array.astype(np.float64)
        for code in missing:
            if isinstance(code, (int, float)):
                numbers[numbers == code] = np.nan
        return np.where(np.isfinite(numbers), numbers, np.nan), np.isinf(numbers)
    return _each(array, missing, _number)


def as_days(values: Any, missing: Sequence[Any]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the days since 1970-01-01, as :func:`as_numbers`."""
    array = _plain(values)
    if array.dtype.kind == "M":
        # Microseconds: nanoseconds of 64 bits end in 2262, and codebooks have dates beyond.
        since = array.astype("datetime64[us]") - np.datetime64(0, "us")
        days = since / np.timedelta64(1, "D")
        return np.where(np.isnat(array), np.nan, days), np.zeros(array.shape, dtype=bool)
    return _each(array, missing, _day)


def as_codes(values: Any, categories: Iterable[Any], missing: Sequence[Any]) -> NDArray[np.intp]:
    """Return position of each value among the categories, :data:`OUTSIDE` or :data:`MISSING`."""
    known = _Codes(categories, missing)
    if hasattr(values, "codes"):  # a categorical of pandas
        table = np.array(
            [*(known[type(value), value] for value in values.categories.tolist()), MISSING]
        )
        return table[np.asarray(values.codes)]
    return np.array([known[type(value), value] for value in _plain(values).tolist()], dtype=np.intp)


def as_words(values: Any, missing: Sequence[Any]) -> list[str | None]:
    """Return the text of each value; None where there is none."""
    known = _Codes((), missing)
    plain = _plain(values).tolist()
    return [None if known[type(value), value] == MISSING else str(value) for value in plain]


def as_keys(values: Any) -> list[str]:
    """Return what each value that is there is compared by."""
    known = _Keys()
    keys = (known[type(value), value] for value in np.asarray(values, dtype=object).tolist())
    return [key for key in keys if key is not None]


class _Keys(dict[Any, Any]):
    """Keys of the values seen so far, each with its type; None of a gap."""

    def __missing__(self, typed: tuple[type, Any]) -> str | None:
        self[typed] = None if is_missing(typed[1]) else key_of(typed[1])
        return self[typed]


class _Codes(dict[Any, int]):
    """Codes of the values seen so far, each with its type; each distinct one is looked at once.

    By type too: 1 and True are one key to Python, and a row's code may not depend on which of them
    another row has.
    """

    def __init__(self, categories: Iterable[Any], missing: Sequence[Any]) -> None:
        super().__init__()
        self.keys_known = keys_of(categories, missing)

    def __missing__(self, typed: tuple[type, Any]) -> int:
        value = typed[1]
        code = self.keys_known.get(key_of(value), MISSING if is_missing(value) else OUTSIDE)
        self[typed] = code
        return code


def _each(
    array: NDArray[Any], missing: Sequence[Any], read: Any
) -> tuple[Floats, NDArray[np.bool_]]:
    known, seen = _Codes((), missing), dict[Any, float]()
    numbers = np.full(array.shape, np.nan)
    for i, value in enumerate(array.tolist()):
        typed = type(value), value
        if known[typed] == MISSING:
            continue
        # By zone too: one moment is equal in all of them, and is read by the row's own clock.
        one = *typed, getattr(value, "tzinfo", None)
        if one not in seen:  # each distinct one is read once
            with suppress(TypeError, ValueError, OverflowError):
                seen[one] = read(value)
            if not math.isfinite(seen.get(one, math.inf)):
                seen[one] = math.inf
        numbers[i] = seen[one]
    strange = np.isinf(numbers)
    return np.where(strange, np.nan, numbers), strange


def _number(value: Any) -> float:
    return value / timedelta(days=1) if isinstance(value, timedelta) else float(value)


def _day(value: Any) -> float:
    if isinstance(value, (int, float)):
        raise TypeError
    if isinstance(value, date) and not isinstance(value, datetime):
        return float((value - date(1970, 1, 1)).days)
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
    if isinstance(value, str):  # by its own clock, as a datetime: NumPy would turn it to UTC
        value = _ZONE.sub(r"\1", value)
    return float((np.datetime64(value, "us") - np.datetime64(0, "us")) / np.timedelta64(1, "D"))


def _plain(values: Any) -> NDArray[Any]:
    if hasattr(values, "codes"):
        return np.asarray(values.astype(object), dtype=object)
    array = np.asarray(values)
    return array if array.ndim == 1 else array.ravel()
