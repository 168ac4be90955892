"""Joint fits of a table that nobody holds whole, and what they see of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.joint.exact_fitter import ExactFitter
from pacsklearn.joint.member_sums import Memberships

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


class TableFitter(ExactFitter):
    """A subset fitter that needs no rows in memory: sums over batches of them, in a few passes.

    Attributes
    ----------
    needs_rows : bool
        Whether sums are not enough, so that a table has to be in memory after all.
    """

    needs_rows: bool = False

    @abstractmethod
    def table_sums(
        self, rows: Any, targets: Any, members: Memberships, n_classes: int
    ) -> list[Any]:
        """Return the sums over a batch of a table that :meth:`fit_table` begins with; they add up.

        Parameters
        ----------
        rows : ndarray of shape (n, p)
        targets : ndarray of shape (n,) or None
            Class codes where the fitter ``wants_classes``, numbers otherwise.
        members : Memberships
        n_classes : int
            Zero where there are none.

        Returns
        -------
        list of ndarray
        """

    @abstractmethod
    def fit_table(self, estimator: Any, sums: list[Any], view: TableView) -> list[Any]:
        """Fit all from sums over all batches, with further passes where needed."""
