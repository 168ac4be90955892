"""Rows with missing values where an imputer would fill them in."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline

from pacsklearn._sklearn_compat import safe_columns, safe_indexing
from pacsklearn.information.arrays import Floats

_SHARE = 0.01
_ROWS_EACH = 4


def rows_with_gaps(step: Any, rows: Any) -> tuple[Any, Floats]:
    """Rows, with some more for each column that a fitted transformer imputes.

    Parameters
    ----------
    step : transformer
        Fitted; an imputer of numbers, or something that hands columns to some.
    rows : ndarray or DataFrame of shape (n, p)

    Returns
    -------
    rows : same type, of shape (n + 4 k, p)
        For k imputed columns; four rows in which each of them is missing.
    share : ndarray of shape (n + 4 k,)
        What each row counts: one in all for the given, one hundredth for each imputed column.
    """
    n = rows.shape[0]
    columns = sorted(set(_imputed(step, _positions(rows))))
    share = np.concatenate(
        [np.full(n, 1 / n), np.full(_ROWS_EACH * len(columns), _SHARE / _ROWS_EACH)]
    )
    if not columns:
        return rows, share
    every = np.concatenate([np.arange(n), np.arange(_ROWS_EACH * len(columns)) % n])
    wider = safe_indexing(rows, every)
    for k, (column, missing) in enumerate(columns):
        where = slice(n + k * _ROWS_EACH, n + (k + 1) * _ROWS_EACH)
        wider = _without(wider, where, column, missing)
    return wider, share


def _imputed(step: Any, positions: Any) -> list[tuple[int, float]]:
    """Positions of the columns that imputers of numbers see first, and what is missing there."""
    if type(step) is SimpleImputer:
        if step.strategy not in ("mean", "median"):
            return []
        return [(int(column), step.missing_values) for column in np.asarray(positions).ravel()]
    if type(step) is Pipeline:
        first = next((part for _, part in step.steps if part not in (None, "passthrough")), None)
        return _imputed(first, positions)
    if type(step) is FeatureUnion:
        return [gap for _, part in step.transformer_list for gap in _imputed(part, positions)]
    if type(step) is ColumnTransformer:
        return [
            gap
            for _, part, columns in step.transformers_
            if not isinstance(part, str) and np.size(columns)
            for gap in _imputed(part, safe_columns(positions, columns))
        ]
    return []


def _positions(rows: Any) -> Any:
    """One row that says of each column where it stands, in the type of ``rows``."""
    if hasattr(rows, "columns"):
        return type(rows)({name: [place] for place, name in enumerate(rows.columns)})
    return np.arange(rows.shape[1])[None, :]


def _without(rows: Any, where: slice, column: int, missing: float) -> Any:
    """The same with one column missing in some rows."""
    if not hasattr(rows, "columns"):
        rows = rows if rows.dtype.kind in "fO" else rows.astype(np.float64)
        rows[where, column] = missing
        return rows
    values = np.array(rows.iloc[:, column] if hasattr(rows, "iloc") else rows[:, column])
    values = values if values.dtype.kind == "O" else values.astype(np.float64)
    values[where] = missing
    name = rows.columns[column]
    if hasattr(rows, "with_columns"):
        return rows.with_columns(type(rows)({name: values})[name])
    return rows.assign(**{name: values})
