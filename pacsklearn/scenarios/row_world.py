"""Worlds made of the rows that were given: chosen, repeated, and edited in one column."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.core.scenario import World
from pacsklearn.exceptions import ScenarioError

__all__ = ["RowWorld"]


@final
class RowWorld(World):
    """Some of the rows given, perhaps with other values of the secret in some of them.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Indices into the rows given.
    place : "y", str, int or None
        Where values are overwritten; None for nowhere.
    edited : ndarray of shape (k,), optional
        Positions in this world whose value is overwritten.
    values : ndarray of shape (k,), optional
        What with.
    """

    def __init__(
        self,
        rows: NDArray[np.int64],
        place: Any = None,
        edited: NDArray[np.int64] | None = None,
        values: NDArray[Any] | None = None,
    ) -> None:
        self._rows, self._place, self._edited, self._values = rows, place, edited, values

    @property
    def rows(self) -> NDArray[np.int64]:
        return self._rows

    def data(self, X: Any, y: Any) -> tuple[Any, Any]:
        own = safe_indexing(X, self._rows)
        target = None if y is None else safe_indexing(y, self._rows)
        if self._edited is None:
            return own, target
        if self._place == "y":
            return own, _edited(target, self._edited, self._values)
        return _edited_column(own, self._place, self._edited, self._values), target

    def __repr__(self) -> str:
        return "RowWorld(...)"


def _edited(target: Any, edited: Any, values: Any) -> Any:
    if hasattr(target, "iloc"):
        target = target.copy()
        target.iloc[edited] = values
        return target
    target = np.array(target)
    target[edited] = values
    return target


def _edited_column(X: Any, place: Any, edited: Any, values: Any) -> Any:
    if sparse.issparse(X):
        raise ScenarioError(
            "A column of a sparse matrix is not overwritten; use edit='replace', or a dense array."
        )
    if hasattr(X, "iloc"):
        X = X.copy()
        X.iloc[edited, X.columns.get_loc(place)] = values
        return X
    X = np.array(X)
    X[edited, place] = values
    return X
