"""The candidate subsets, one of which is the secret."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.secret.packed_subsets import (
    distinct_subsets,
    inclusion_counts,
    unpack_subset,
)
from pacsklearn.kernel.secret.space import RowSpace, Space, Work


@final
@dataclass(frozen=True, eq=False)
class SecretSpace(RowSpace):
    """A finite list of candidate subsets of the rows, and how likely each is a priori.

    Lists are dealt by :func:`~pacsklearn.secrets.balanced_space` or given to
    :func:`~pacsklearn.secrets.listed_space`.
    How they came about carries no proof: every figure is computed from the list itself. Which
    candidate is the secret is not part of it; everything here is known to the adversary. Candidates
    that coincide are one, with the sum of their weights: nobody could tell them apart, so there is
    less to hide.

    Parameters
    ----------
    packed : ndarray of uint8, shape (n_units, ceil(m / 8))
        Bit ``i`` of row ``u``: is unit ``u`` in candidate subset ``i``?
    n_subsets : int
        Number m of distinct candidates.
    weights : ndarray of shape (m,)
        Prior probabilities.
    unit_of_row : ndarray of shape (n_rows,) or None
        Unit of privacy each row belongs to; None when every row is its own.
    is_listed : bool, default=True
        Whether the subsets are public. No figure depends on it.
    dealt : str, default=""
        How units were put into the subsets, in words for the guarantee.
    mates : ndarray of int64, optional
        Some or all units of a smallest set of which all subsets hold the same number, up to one.
    """

    packed: NDArray[np.uint8] = field(repr=False)
    n_subsets: int
    weights: NDArray[np.float64] = field(repr=False)
    unit_of_row: NDArray[np.int64] | None = field(default=None, repr=False)
    is_listed: bool = True
    dealt: str = field(default="", repr=False)
    mates: NDArray[np.int64] | None = field(default=None, repr=False)

    has_members: ClassVar[bool] = True

    def __post_init__(self) -> None:
        # Equal subsets are one candidate: counted as two they would make the secret look larger.
        numbers = distinct_subsets(self.packed, self.n_subsets)
        m = int(numbers.max()) + 1
        if m < min(self.n_subsets, 2):
            raise DesignError(
                "All candidate subsets are the same one, so there is no secret; give subsets that "
                "differ, or more groups."
            )
        if m < self.n_subsets:
            _, first = np.unique(numbers, return_index=True)
            units = np.arange(self.n_units)
            kept = [np.packbits(some[:, first], axis=1) for some in self.passed(units)]
            object.__setattr__(self, "packed", np.concatenate(kept))
            object.__setattr__(self, "weights", np.bincount(numbers, self.weights))
            object.__setattr__(self, "n_subsets", m)
        # Every figure is computed from them, at different times: criteria that keep the space, and
        # whoever else is given it, may not write into them.
        self.packed.flags.writeable = self.weights.flags.writeable = False

    @property
    def n_candidates(self) -> int:
        """Number m of candidates; ``n_subsets`` by the name other spaces have for it."""
        return self.n_subsets

    @property
    def n_units(self) -> int:
        """Units of privacy in the universe."""
        return int(self.packed.shape[0])

    @property
    def n_rows(self) -> int:
        """Rows of the universe."""
        return self.n_units if self.unit_of_row is None else int(self.unit_of_row.shape[0])

    @property
    def unit(self) -> str:
        """Unit of privacy: ``"row"`` or ``"group"``."""
        return "row" if self.unit_of_row is None else "group"

    def has_candidates_of(self, other: Space) -> bool:
        return other.has_members and other.row_subsets().packed is self.packed

    def outputs(self, work: Work) -> Any:
        """Compute ``work`` for the rows of every candidate."""
        return work.of_rows(self)

    def listed(self) -> SecretSpace:
        """Return the space itself: its candidates are subsets of rows in memory, one by one."""
        return self

    row_subsets = listed

    def rows(self, index: int) -> NDArray[np.int64]:
        """Return the row indices of candidate ``index``, increasing."""
        if not 0 <= index < self.n_subsets:
            raise DesignError(f"index must be from 0 to {self.n_subsets - 1}, got {index!r}.")
        # Rule 1: the rows of this candidate alone, from its own column of the list.
        units = unpack_subset(self.packed, index)
        if self.unit_of_row is None:
            return units
        chosen = np.zeros(self.n_units, dtype=bool)
        chosen[units] = True
        return np.flatnonzero(chosen[self.unit_of_row])

    def judged(self, X: Any, y: Any) -> tuple[Any, Any, SecretSpace]:
        return X, y, self

    def inclusion(self) -> NDArray[np.float64]:
        """Compute the prior probability that each unit is in the secret subset; (n_units,)."""
        # Equal weights: a count over m, exact, where a sum of weights is one up to rounding.
        counts = inclusion_counts(self.packed)
        if np.all(self.weights == self.weights[0]):
            return counts / self.n_subsets
        rates = np.concatenate([u @ self.weights for u in self.passed(np.arange(self.n_units))])
        # Certainty is decided by counting: sums of weights are one only up to rounding.
        uncertain = np.clip(rates, np.nextafter(0, 1), np.nextafter(1, 0))
        return np.where(counts % self.n_subsets, uncertain, counts / self.n_subsets)
