"""The candidate subsets of a table that is read in passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.exceptions import TableError
from pacsklearn.tables.hashed_design import BatchMembers, HashedDesign
from pacsklearn.tables.table import Table


@final
@dataclass(frozen=True, eq=False)
class HashedSpace:
    """Candidate subsets of a table's units, one of which is the secret.

    As :class:`~pacsklearn.SecretSpace`, for units that are nowhere listed. Sizes, and a sample of
    the memberships, are known once the table was read.

    Parameters
    ----------
    design : HashedDesign
    table : Table
    is_listed : bool
        Whether the key is public.
    """

    design: HashedDesign
    table: Table = field(repr=False)
    is_listed: bool

    @property
    def n_subsets(self) -> int:
        """Number m of candidates."""
        return self.design.n_subsets

    @property
    def n_candidates(self) -> int:
        """Number m of candidates."""
        return self.design.n_subsets

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Prior probabilities: all the same."""
        return np.full(self.n_subsets, 1.0 / self.n_subsets)

    @property
    def entropy(self) -> float:
        """Entropy of the secret, in nats."""
        return float(np.log(self.n_subsets))

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.table.profile.n_rows

    @property
    def n_units(self) -> int:
        """Units of privacy in the table."""
        return self.table.profile.n_units

    @property
    def unit(self) -> str:
        """Unit of privacy: ``"row"`` or ``"group"``."""
        return self.table.unit

    @cached_property
    def sample(self) -> BatchMembers:
        """Memberships of the sampled rows."""
        return self.design.members(self.table.profile.sample.names)

    def inclusion(self) -> NDArray[np.float64]:
        """Prior probability that a sampled unit is in the secret subset: the same for all."""
        return np.full(len(self.sample.packed), self.design.included / self.n_subsets)

    def membership(self, units: Any = slice(None)) -> NDArray[np.bool_]:
        """Which candidates hold each of the sampled units; shape (n_chosen, m)."""
        return self.sample.membership(units)


Space = SecretSpace | CandidateSpace | HashedSpace
"""Whatever a secret is drawn from."""


def listed_space(space: Space) -> SecretSpace | CandidateSpace:
    """Space whose candidates can be looked at one by one.

    Raises
    ------
    TableError
        For the space of a table.
    """
    if isinstance(space, HashedSpace):
        raise TableError(
            "This is over a Table, whose rows pass one by one: models that follow from sums are "
            "released (PACPrivate.fit, PrivacySession.release), and nothing else."
        )
    return space


def row_space(space: Space) -> SecretSpace:
    """Subsets of rows in memory.

    Raises
    ------
    TableError
        For the space of a table.
    TypeError
        For candidates of another kind.
    """
    listed = listed_space(space)
    if isinstance(listed, CandidateSpace):
        raise TypeError(
            "This session is over arbitrary candidates, not over subsets of rows; use "
            "release_function, or begin a session with PrivacySession(X, y, ...)."
        )
    return listed
