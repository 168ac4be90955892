"""Tables of other libraries as the ones scikit-learn can take rows from."""

from __future__ import annotations

from typing import Any

from pacsklearn.schema.dtypes import categories_of_type
from pacsklearn.schema.values import column_names

__all__ = ["as_pandas"]


def as_pandas(X: Any) -> Any:
    """Polars and Arrow tables as a DataFrame of pandas, with its names; the rest as it is.

    A table stays what it is where pandas is not installed.
    """
    if hasattr(X, "iloc") or column_names(X) is None:
        return X
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
        elif column.dtype.is_numeric() or column.dtype.is_temporal():
            columns[name] = column.to_numpy()
        else:
            columns[name] = pd.Series(column.to_list(), dtype=None if column.len() else object)
    return pd.DataFrame(columns)
