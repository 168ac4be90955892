"""Parameters of estimators that hold rows of the table."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_holds_no_rows(estimator: Any, X: Any) -> None:
    """Refuse parameters made of rows: every candidate starts from them, and they are published.

    Raises
    ------
    ValueError
    """
    for name, value in estimator.get_params(deep=True).items():
        # Categories are lists of one column each.
        if not name.endswith("categories") and _are_rows(value, X):
            raise ValueError(
                f"{name} holds rows of X, and parameters are published as they are; leave it out, "
                "or give public points that are no rows of X."
            )


def _are_rows(points: Any, X: Any) -> bool:
    try:
        given = np.asarray(points, dtype=np.float64) + 0.0  # the bytes of -0.0 are others
        if given.ndim != 2 or not given.size or not given.shape[1] == X.shape[1] > 1:
            return False
        rows = {row.tobytes() for row in np.asarray(X, dtype=np.float64) + 0.0}
    except (TypeError, ValueError):  # no numbers
        return False
    return all(row.tobytes() in rows for row in given)
