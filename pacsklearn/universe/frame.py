"""Tables of other libraries: names, gaps, categories and precision; the same as of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np


def column_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a pandas, polars or Arrow table; None for an array."""
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", None) if names is None else names
    if names is None or callable(names):
        return None
    names = list(names)
    return names if all(isinstance(name, str) for name in names) else None


def is_missing(value: Any) -> bool:
    """Return whether a cell is None, NaN or another library's word for a gap."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return not hasattr(value, "__len__") and bool(value != value)  # noqa: PLR0124


def categories_of_type(column: Any) -> tuple[tuple[Any, ...], bool] | None:
    """Return the categories of a categorical column and whether they are ordered.

    None for other columns.
    """
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
        return tuple(categories.to_list()), True  # as polars compares and exports them
    return None


def as_pandas(X: Any) -> Any:
    """Return tables of Polars and Arrow as a DataFrame of pandas, with its names.

    The rest as it is.

    A table stays what it is where pandas is not installed, and one that is not computed yet.

    Raises
    ------
    TypeError
        For a batch of Arrow, whose names no estimator reads.
    """
    if hasattr(X, "to_struct_array") and not hasattr(X, "to_batches"):
        raise TypeError(
            f"X must be a table, got a {type(X).__name__}; give pyarrow.Table.from_batches([X])."
        )
    if hasattr(X, "iloc") or not hasattr(X, "shape") or column_names(X) is None:
        return with_gaps(X) if np.ma.is_masked(X) else X
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return X
    if hasattr(X, "combine_chunks"):  # Arrow
        return X.to_pandas()
    columns = {}
    for name in X.columns:
        column = X[name]
        enum = categories_of_type(column)
        if enum is not None:
            columns[name] = pd.Categorical(column.to_list(), categories=list(enum[0]))
        elif column.dtype.is_numeric() or (
            # NumPy would read a time in a zone by another clock.
            column.dtype.is_temporal() and getattr(column.dtype, "time_zone", None) is None
        ):
            columns[name] = column.to_numpy()
        else:
            columns[name] = pd.Series(column.to_list(), dtype=None if column.len() else object)
    return pd.DataFrame(columns)


def not_numbers(X: Any) -> dict[Any, Any]:
    """Return the columns of a frame that hold no numbers, with their types; none of an array."""
    columns = X.dtypes.items() if hasattr(X, "iloc") else ()
    return {name: dtype for name, dtype in columns if getattr(dtype, "kind", "O") not in "biufc"}


def as_doubles(X: Any) -> Any:
    """Return a frame's columns of objects, categories and words as the numbers that they hold."""
    others = not_numbers(X)
    return X.astype(dict.fromkeys(others, np.float64)) if others else X


def with_gaps(values: Any) -> Any:
    """Return values as an array that shows every gap.

    NumPy reads one in a list of words as the word "nan", and what is behind a mask as known.
    """
    # Arrays of pandas have a mask too, and NumPy reads their gaps as they are.
    if np.ma.is_masked(values) and hasattr(values, "data"):
        return np.where(np.ma.getmaskarray(values), None, values.data)
    array = np.asarray(values)
    if array.dtype.kind == "U" and isinstance(values, (list, tuple)):
        objects = np.asarray(values, dtype=object)
        return objects if any(map(is_missing, objects.flat)) else array
    return array


def half_as_double(X: Any) -> Any:
    """Return numbers of 16 bits as doubles.

    Some estimators compute in the precision of the rows: a model comes back rounded from 16 bits.
    """
    if hasattr(X, "iloc"):
        half = [name for name, dtype in X.dtypes.items() if dtype == np.float16]
        return X.astype(dict.fromkeys(half, np.float64)) if half else X
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float16 else X
