"""What a joint fit sees of a table that nobody holds whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.secret.memberships import Memberships

BatchWork = Callable[[NDArray[np.float64], Any, Memberships], Sequence[Any]]
"""From a batch's rows, their targets (class codes, numbers or None) and memberships to arrays."""


@final
@dataclass(frozen=True, eq=False)
class TableView:
    """Sums over a table's batches, and a sample of its rows; secret material.

    Parameters
    ----------
    n_rows : int
    rows : ndarray of shape (n_sample, p)
        Rows spread over the table: a start for what is then solved on all of it, never more.
    targets : ndarray of shape (n_sample,) or None
        Class codes, or numbers.
    members : Memberships
        Of the sample.
    classes : ndarray or None
    features : estimator
        Holds ``n_features_in_``, and ``feature_names_in_`` where there are names.
    total : callable
        Sums the arrays that some work gives for every batch: one pass.
    """

    n_rows: int
    rows: NDArray[np.float64] = field(repr=False)
    targets: NDArray[Any] | None = field(repr=False)
    members: Memberships = field(repr=False)
    classes: NDArray[Any] | None
    features: Any
    total: Callable[[BatchWork], list[Any]] = field(repr=False)
