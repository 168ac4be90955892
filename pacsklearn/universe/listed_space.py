"""Candidate subsets that a user lists, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn._validation import check_integer
from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.balanced_space import units_of


def listed_space(
    subsets: Sequence[ArrayLike],
    n_rows: int,
    *,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> SecretSpace:
    """Make a secret space of explicit candidates.

    Parameters
    ----------
    subsets : sequence of m array-likes
        Row indices, or boolean masks of length ``n_rows``.
    n_rows : int
        Rows of the universe.
    weights : array-like of shape (m,), optional
        Prior probabilities, positive; normalised. Uniform when not given.
    groups : array-like of shape (n_rows,), optional
        Unit of privacy of each row; every subset must hold whole groups.
    """
    check_integer(name="n_rows", value=n_rows, minimum=1)
    m = len(subsets)
    if m < 2:
        raise DesignError(f"subsets must hold at least 2 candidates, got {m}.")
    unit_of_row, n_units = units_of(groups, n_rows)
    rows = np.zeros((m, n_rows), dtype=bool)
    for i, subset in enumerate(subsets):
        rows[i, _row_indices(subset, n_rows, i)] = True
    if unit_of_row is None:
        members = rows.T
    else:
        members = np.zeros((n_units, m), dtype=bool)
        # The unit of privacy is the group: all of its rows are in or none is.
        members[unit_of_row] = rows.T
        split = np.flatnonzero((members[unit_of_row] != rows.T).any(axis=0))
        if split.size:
            raise DesignError(
                f"subsets[{split[0]}] holds a part of a group; with groups= a subset must "
                "hold all rows of a group or none."
            )
    if not members.any(axis=0).all():
        raise DesignError("Every subset must hold at least one row; one is empty.")
    # A candidate that is impossible is none: it would be counted in the size of the list.
    prior = np.full(m, 1.0 / m) if weights is None else np.asarray(weights, dtype=np.float64)
    if prior.shape != (m,) or not np.all(np.isfinite(prior)) or np.any(prior <= 0):
        raise DesignError(
            f"weights must be {m} positive numbers, one for each subset, got shape {prior.shape}."
        )
    return SecretSpace(np.packbits(members, axis=1), m, prior / prior.sum(), unit_of_row)


def _row_indices(subset: ArrayLike, n_rows: int, i: int) -> NDArray[Any]:
    rows = np.asarray(subset)
    if rows.dtype == bool and rows.shape == (n_rows,):
        return rows
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
        raise DesignError(
            f"subsets[{i}] must be a vector of row indices or a boolean mask of length {n_rows}, "
            f"got dtype {rows.dtype} and shape {rows.shape}."
        )
    if rows.size and (rows.min() < 0 or rows.max() >= n_rows):
        raise DesignError(f"subsets[{i}] must hold row indices from 0 to {n_rows - 1}.")
    return rows
