"""Rows that an attack puts among those of the universe."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats


def dense_table(X: Any, attack: str) -> Floats:
    """Return ``X`` as numbers.

    Raises
    ------
    ValueError
        When it is no dense table of numbers.
    """
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2:
        raise ValueError(
            "Rows are put among others as numbers, so X must be a dense table of numbers; leave "
            f"{attack!r} out of the attacks."
        )
    return table


def appended(
    X: Any, y: Any, groups: Any, rows: Floats, targets: Any
) -> tuple[Any, Any, Any, tuple[int, ...]]:
    """Return the universe with rows at its end, each a unit of privacy of its own.

    Returns
    -------
    X, y, groups
    units : tuple of int
        The units that were added.
    """
    table = np.asarray(X, dtype=np.float64)
    longer: Any = np.concatenate([table, rows])
    if hasattr(X, "iloc"):
        longer = type(X)(longer, columns=X.columns)
    first = len(table)
    if groups is not None:
        # Numbers instead of names: new units need some that nobody has.
        codes = np.unique(np.asarray(groups), return_inverse=True)[1]
        first = int(codes.max()) + 1
        groups = np.concatenate([codes, first + np.arange(len(rows))])
    if y is not None:
        y = np.concatenate([np.asarray(y), np.asarray(targets)])
    return longer, y, groups, tuple(range(first, first + len(rows)))
