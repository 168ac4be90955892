"""Columns from the types of a table, without looking at a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pacsklearn.schema.column import Column
from pacsklearn.schema.values import column_names

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


def categories_of_type(column: Any) -> tuple[tuple[Any, ...], bool] | None:
    """Categories of a categorical column and whether they are ordered; None for other columns."""
    if hasattr(column, "cat") and hasattr(column, "iloc"):  # pandas
        return tuple(column.cat.categories), bool(column.cat.ordered)
    if hasattr(column, "combine_chunks"):  # Arrow
        if not str(column.type).startswith("dictionary"):
            return None
        values = column.unify_dictionaries()
        first = values.chunk(0).dictionary.to_pylist() if values.num_chunks else []
        return tuple(first), bool(column.type.ordered)
    categories = getattr(getattr(column, "dtype", None), "categories", None)  # polars' Enum
    if categories is not None and not callable(categories) and hasattr(categories, "to_list"):
        return tuple(categories.to_list()), False
    return None


def kind_of_type(column: Any) -> str:
    """Kind of a column by the name of its type."""
    name = str(column.type if hasattr(column, "combine_chunks") else column.dtype).lower()
    for kind, words in _WORDS.items():
        if name.startswith(words):
            return kind
    return "text"
