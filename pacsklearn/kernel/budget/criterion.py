"""What an adversary has to achieve to be called successful."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats

MEMBERSHIP_AIM: Final = "membership of one unit"
NAMING_AIM: Final = "naming the subset"


class Criterion(ABC):
    """Success of the Bayes-optimal adversary, for every one of several targets.

    PAC privacy, Definition 1, taken literally: a release is private when no adversary succeeds
    more often than the cap, at any target. A target is whatever she may try: a record whose
    membership she tells, the subset that she names.

    Attributes
    ----------
    name : str
        One or two words for listings and ledgers, as in "membership".
    statement : str
        What success means, to end the sentence "no adversary can ...".
    lowest : float
        Success that the optimal adversary never falls below, whatever she sees.
    aim : str
        What an attack that tries the same calls it (``AttackResult.criterion``): the cap then
        limits that attack, and the figure of the guarantee that is about it. Empty when none does.
    """

    name: str
    statement: str
    lowest: float = 0.0
    aim: str = ""

    @property
    @abstractmethod
    def n_targets(self) -> int:
        """Number of targets."""

    @abstractmethod
    def success(self, posterior: Floats, targets: NDArray[np.intp] | None = None) -> Floats:
        """Most likely success at each target, given what the adversary believes.

        Parameters
        ----------
        posterior : ndarray of shape (n, m)
            One belief over the candidates a row.
        targets : ndarray of int, optional
            Indices of targets; all when not given.

        Returns
        -------
        ndarray of shape (n, n_targets)
            Probabilities between ``lowest`` and 1.
        """

    @property
    def sets(self) -> NDArray[np.bool_] | None:
        """Candidates of each target's event, shape (n_targets, m); None in general.

        Where every target is to tell whether the secret is in a set of candidates, so that success
        is ``1/2 + |P(set | y) - 1/2|``, certificates can screen the targets by these sets.
        """
        return None

    @property
    def distinct(self) -> NDArray[np.intp]:
        """Targets that represent all: others have the same success as one of them."""
        return np.arange(self.n_targets)

    def directions(self, outputs: Floats, weights: Floats) -> Floats:
        """Differences of outputs that success at each target depends on to first order.

        They shape the noise and have no part in any proof. The outputs themselves unless a
        criterion knows better.

        Parameters
        ----------
        outputs : ndarray of shape (m, k)
            Centred under ``weights``.
        weights : ndarray of shape (m,)

        Returns
        -------
        ndarray of shape (t, k)
        """
        return np.asarray(outputs * np.sqrt(weights)[:, None])

    def prior(self, weights: Floats) -> Floats:
        """Success of guessing blindly; shape (n_targets,)."""
        return np.asarray(self.success(weights[None, :])[0])
