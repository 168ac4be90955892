"""Whatever a secret is drawn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pacsklearn.kernel.secret.candidate_space import CandidateSpace
    from pacsklearn.kernel.secret.secret_space import SecretSpace


class Space(ABC):
    """Finitely many candidates, one of which is the secret, and how likely each is a priori.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Prior probabilities.
    """

    weights: NDArray[np.float64]

    @property
    @abstractmethod
    def n_candidates(self) -> int:
        """Number m of distinct candidates."""

    @property
    @abstractmethod
    def entropy(self) -> float:
        """Entropy of the secret, in nats."""

    @abstractmethod
    def listed(self) -> SecretSpace | CandidateSpace:
        """Return the space, to what looks at its candidates one by one.

        Raises
        ------
        TableError
            Where candidates are too large to be looked at.
        """

    @abstractmethod
    def row_subsets(self) -> SecretSpace:
        """Return the space, to what needs subsets of rows in memory.

        Raises
        ------
        TableError, TypeError
            Where candidates are something else.
        """


class RowSpace(Space):
    """Candidates are subsets of rows; all rows of a unit of privacy are in one or none are.

    Attributes
    ----------
    is_listed : bool
        Whether the subsets are public. No figure depends on it.
    """

    is_listed: bool

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Rows of the universe."""

    @property
    @abstractmethod
    def n_units(self) -> int:
        """Units of privacy in the universe."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of privacy: ``"row"`` or ``"group"``."""

    @abstractmethod
    def inclusion(self) -> NDArray[np.float64]:
        """Prior probability that each unit, or each of a sample, is in the secret subset."""

    @abstractmethod
    def membership(self, units: Any = slice(None)) -> NDArray[np.bool_]:
        """Which candidates hold each of those units; shape (n_chosen, m)."""
