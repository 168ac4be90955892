"""A made table on which joint fits and a library are compared, before any candidate is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats

_SEED = 0
# One of so many numbers is a gap, where there are any.
_GAP = 20


def public_table(X: Any, n: int, *, gaps: bool = False) -> tuple[Any, Floats]:
    """Rows with the columns and types of ``X``, none of its numbers; and a score of each.

    Whether a library is the one that a joint fit follows is then a public fact: the same whatever
    the rows are, and for all candidates.

    Parameters
    ----------
    X : array or DataFrame of numbers, shape (n_rows, p)
    n : int
        Rows wanted.
    gaps : bool, default=False
        Whether some numbers are missing, where a type can say so.

    Returns
    -------
    array or DataFrame of shape (n, p), and ndarray of shape (n,)
    """
    generator, p = np.random.default_rng(_SEED), X.shape[1]
    kinds = list(getattr(X, "dtypes", [getattr(X, "dtype", None)] * p))
    # Many numbers of some features, few of others.
    many, few = generator.normal(size=(n, p)), generator.integers(0, 100, size=(n, p))
    columns: list[NDArray[Any]] = []
    for j, kind in enumerate(kinds):
        if kind.kind != "f":
            columns.append(few[:, j].astype(kind))
            continue
        columns.append(np.where(j % 2, few[:, j] / 50, many[:, j]).astype(kind))
        if gaps:
            columns[-1][j % _GAP :: _GAP] = np.nan
    score = np.nan_to_num(np.asarray(columns[0], dtype=np.float64)) + generator.normal(size=n)
    if not hasattr(X, "iloc"):
        return np.column_stack(columns), score
    table = type(X)(dict(enumerate(columns)))
    table.columns = X.columns
    return table, score


def public_codes(score: Floats, n_classes: int) -> NDArray[np.intp]:
    """Classes by the score, of which the first is the largest; all have rows where n >= 2 K."""
    ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    return np.asarray(n_classes * (ranks / len(score)) ** 1.3).astype(np.intp)
