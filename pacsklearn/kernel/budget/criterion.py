"""What an adversary has to achieve to be called successful."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import MOST_CELLS, Floats

MEMBERSHIP_AIM: Final = "membership of one unit"
NAMING_AIM: Final = "naming the subset"


class Criterion(ABC):
    """Success of the Bayes-optimal adversary, for every one of several targets.

    pac-private-algorithms, Definition 1, taken literally: a release is private when no adversary
    succeeds more often than the cap, at any target. A target is whatever she may try: a record
    whose membership she tells, the subset that she names. At each target she makes one guess; a
    table of gains says how well each guess does against each candidate.

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
    has_sets : bool
        Whether every target is to tell if the secret is in a set of candidates (:meth:`sets`).
    n_unseen : int
        Targets whose sets are not held, and are passed by :meth:`worst` alone.

    Notes
    -----
    Success is the largest expected gain of any guess: the maximum of functions that are linear in
    the belief, hence convex. That is what a cap rests on: more can never be learned from a noisy
    release than from the release itself. Of a criterion that is not the kernel's own the tables
    alone are believed (:class:`~pacsklearn.kernel.budget.cap.Tabled`).
    """

    name: str
    statement: str
    lowest: float = 0.0
    aim: str = ""
    has_sets: bool = False
    n_unseen: int = 0

    @property
    @abstractmethod
    def n_targets(self) -> int:
        """Number of targets."""

    @abstractmethod
    def gains(self, target: int) -> Iterable[Floats]:
        """Return the table of one target, as many rows at a time as are convenient.

        Parameters
        ----------
        target : int

        Returns
        -------
        iterable of ndarray of shape (n_guesses, m)
            How well each guess does against each candidate, between 0 and 1: the probability that
            it is right. The same in every call.
        """

    def success(self, posterior: Floats, targets: NDArray[np.intp] | None = None) -> Floats:
        """Return the most likely success at each target, given what the adversary believes.

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

        Raises
        ------
        ValueError
            When a table is not one of probabilities for so many candidates.
        """
        # Bayes: whoever believes p guesses what gains most under p, max over g of <gains_g, p>. A
        # maximum of linear functions is convex, so by Jensen no function of a release is worth more
        # to her, on average, than the release.
        chosen = range(self.n_targets) if targets is None else targets
        best = np.zeros((len(posterior), len(chosen)))
        for column, target in enumerate(chosen):
            for rows in self.gains(int(target)):
                table = self._checked(rows, posterior.shape[1])
                np.maximum(best[:, column], (posterior @ table.T).max(axis=1), out=best[:, column])
        # Beliefs add up to 1 but for rounding, and so does the success of a sure guess.
        return np.minimum(best, 1.0, out=best)

    def expected(self, share: Floats, posterior: Floats) -> float:
        """Return the success at the worst target over finitely many beliefs.

        Parameters
        ----------
        share : ndarray of shape (n,)
            Probabilities of the beliefs.
        posterior : ndarray of shape (n, m)
        """
        targets, step = self.distinct, MOST_CELLS // share.size
        return max(
            float(np.max(share @ self.success(posterior, targets[start : start + step])))
            for start in range(0, targets.size, step)
        )

    def _checked(self, rows: Floats, n_candidates: int) -> Floats:
        """Return the rows of a table, which must be gains against each candidate."""
        table = np.asarray(rows, dtype=np.float64)
        if table.ndim != 2 or not table.size or table.shape[1] != n_candidates:
            raise ValueError(
                f"The criterion {self.name!r} has gains of shape {table.shape}, and must have "
                f"(n_guesses, {n_candidates}): a row for each guess, a column for each of the "
                f"{n_candidates} candidates of the secret space."
            )
        if not np.all((table >= 0) & (table <= 1)):
            raise ValueError(
                f"The criterion {self.name!r} has gains outside [0, 1]; each must be the "
                "probability that a guess is right against a candidate."
            )
        return table

    def sets(self, targets: Any = slice(None)) -> Any:
        """Return the candidates of each target's event, shape (n_targets, m); None in general.

        Success is then ``1/2 + |P(set | y) - 1/2|``, and certificates can screen targets by sets.
        """
        return None

    def worst(self, figure: Callable[[NDArray[np.bool_]], Floats]) -> float:
        """Return the largest of what ``figure`` gives for the sets of all targets.

        Parameters
        ----------
        figure : callable
            From some sets, shape (n_some, m), to one number of each.
        """
        return float(figure(self.sets()).max())

    @property
    def distinct(self) -> NDArray[np.intp]:
        """Targets that represent all: others have the same success as one of them."""
        return np.arange(self.n_targets)

    def prior(self, weights: Floats) -> Floats:
        """Return the success of guessing blindly; shape (n_targets,)."""
        # Blindly means under the prior: the belief of whoever has seen nothing.
        return np.asarray(self.success(weights[None, :])[0])
