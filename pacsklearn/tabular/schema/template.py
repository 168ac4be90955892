"""Columns by the types of a table, and a draft of a codebook from what it looks like.

Types are read without looking at a cell; each fact of a draft is marked as looked up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.values import (
    as_days,
    as_numbers,
    column_values,
    key_of,
)
from pacsklearn.universe.frame import categories_of_type, column_names

_WORDS = {
    "number": ("int", "float", "double", "decimal", "uint"),
    "boolean": ("bool",),
    "date": ("date", "time"),
}


def columns_of_dtypes(data: Any, ranges: Mapping[str, tuple[Any, Any]]) -> Iterator[Column]:
    """Columns of a table of pandas, polars or Arrow; ranges by name."""
    names = column_names(data)
    if names is None:
        raise TypeError(
            "data must be a DataFrame of pandas or polars, or an Arrow table, with columns named "
            f"by strings; got an object of type {type(data).__name__}."
        )
    unknown = sorted(ranges.keys() - set(names))
    if unknown:
        raise ValueError(f"There is no column {unknown[0]!r} to give a range to.")
    for name in names:
        kind, categories = kind_of_type(data[name]), categories_of_type(data[name])
        low, high = ranges.get(name, (None, None))
        if categories is not None:
            values, ordered = categories
            yield Column(name, "category", categories=values, ordered=ordered)
        else:
            yield Column(name, kind, low=low, high=high)


def kind_of_type(column: Any) -> str:
    """Kind of a column by the name of its type."""
    name = str(column.type if hasattr(column, "combine_chunks") else column.dtype).lower()
    for kind, words in _WORDS.items():
        if name.startswith(words):
            return kind
    return "text"


# More distinct texts than this are words, or names of rows.
_MOST_CATEGORIES = 50
# Share of distinct texts from which a column looks like an identifier.
_NEARLY_ALL = 0.95
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_EPOCH = np.datetime64(0, "D")


def drafted_columns(data: Any) -> Iterator[Column]:
    """Columns as the rows show them; whatever was looked up is listed in ``looked_up``."""
    names = column_names(data)
    if names is None:
        data = data if hasattr(data, "iloc") else np.asarray(data)
        if data.ndim != 2:
            raise ValueError(
                f"data must have rows and columns, got an array of shape {data.shape}."
            )
        names = [f"x{position}" for position in range(data.shape[1])]
    for position, name in enumerate(names):
        values = column_values(data, name, position)
        named = column_names(data) is not None
        yield _drafted(name, data[name] if named else None, values)


def _drafted(name: str, column: Any, values: Any) -> Column:
    categories = None if column is None else categories_of_type(column)
    if categories is not None:
        return Column(
            name,
            "category",
            categories=categories[0],
            ordered=categories[1],
            looked_up=("categories",),
        )
    kind = _kind_of_array(values) if column is None else kind_of_type(column)
    if kind == "boolean":
        return Column(name, "boolean")
    if kind == "number":
        numbers, _ = as_numbers(values, ())
        return Column(name, **_range(numbers))
    if kind == "date":
        return _drafted_date(name, as_days(values, ())[0])
    numbers, strange = as_numbers(values, ())
    if not strange.any() and not np.isnan(numbers).all():  # numbers in a column of texts
        facts = _range(numbers)
        return Column(name, **{**facts, "looked_up": ("kind", *facts["looked_up"])})
    texts = [
        key_of(value)
        for value in np.asarray(values, dtype=object)
        if isinstance(value, str) and value
    ]
    if texts and all(map(_ISO_DATE.match, texts)):
        days, strange = as_days(values, ())
        if not strange.any():
            drafted = _drafted_date(name, days)
            return replace(drafted, looked_up=("kind", *drafted.looked_up))
    distinct = sorted(set(texts))
    if len(distinct) <= _MOST_CATEGORIES:
        looked_up = ("kind", "categories")
        return Column(name, "category", categories=tuple(distinct), looked_up=looked_up)
    single_words = sum(" " not in text for text in texts) >= _NEARLY_ALL * len(texts)
    if single_words and len(distinct) >= _NEARLY_ALL * len(texts):
        return Column(name, "ignored", looked_up=("kind",))
    return Column(name, "text", looked_up=("kind",))


def _range(numbers: Any) -> dict[str, Any]:
    there = numbers[~np.isnan(numbers)]
    if not there.size:
        return {"looked_up": ()}
    low, high = (_round(float(there.min()), down=True), _round(float(there.max()), down=False))
    if low == high:
        high = low + 1.0
    return {"low": low, "high": high, "looked_up": ("low", "high")}


def _round(end: float, *, down: bool) -> float:
    """Outwards to two digits: a draft should not hold the extreme person's exact figure."""
    if end == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(end))) - 1)
    steps = math.floor(end / unit) if down else math.ceil(end / unit)
    rounded = steps * unit
    return float(f"{rounded:.12g}")


def _drafted_date(name: str, days: Any) -> Column:
    there = days[~np.isnan(days)]
    if not there.size:
        return Column(name, "date")
    first, last = (
        _EPOCH + np.timedelta64(math.floor(day), "D") for day in (there.min(), there.max())
    )
    # Whole years, for the same reason.
    low, high = first.astype("datetime64[Y]"), last.astype("datetime64[Y]") + np.timedelta64(1, "Y")
    return Column(name, "date", low=f"{low}-01-01", high=f"{high}-01-01", looked_up=("low", "high"))


def _kind_of_array(values: Any) -> str:
    kinds = {"b": "boolean", "i": "number", "u": "number", "f": "number", "M": "date"}
    return kinds.get(np.asarray(values).dtype.kind, "text")
