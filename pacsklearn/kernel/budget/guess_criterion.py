"""A criterion by a table: which guesses succeed against which secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import NAMING_AIM, Criterion
from pacsklearn.kernel.budget.membership_criterion import has_units

if TYPE_CHECKING:
    from pacsklearn.kernel.secret.space import Space


@final
class GuessCriterion(Criterion):
    """The adversary makes one guess; a table says how well each does against each secret.

    Parameters
    ----------
    gains : array-like of shape (n_guesses, m)
        Success, between 0 and 1, of each guess against each candidate.
    name : str
    statement : str
        What success means, to end the sentence "no adversary can ...".

    Attributes
    ----------
    table : ndarray of shape (n_guesses, m)
        The gains; read-only.
    aim : str
        As for a :class:`Criterion`: that of naming the candidate, where that is what it is.

    Examples
    --------
    Telling which half of four candidates the secret is in:

    >>> import numpy as np
    >>> half = GuessCriterion([[1, 1, 0, 0], [0, 0, 1, 1]], "half", "tell the half")
    >>> half.prior(np.full(4, 0.25))
    array([0.5])
    """

    def __init__(self, gains: ArrayLike, name: str, statement: str) -> None:
        table = np.asarray(gains, dtype=np.float64)
        if table.ndim != 2 or table.size == 0 or not np.all((table >= 0) & (table <= 1)):
            raise ValueError(
                "gains must have shape (n_guesses, n_candidates) and lie in [0, 1], got an array "
                f"of shape {table.shape}."
            )
        # A caller that changes the array later must not change what was capped.
        self.table = table.copy()
        self.table.setflags(write=False)
        self.name, self.statement = str(name), str(statement)
        # From the table alone: a cap is stated of an attack that it limits, and of no other.
        self.aim = NAMING_AIM if np.array_equal(self.table, np.eye(len(self.table))) else ""

    @property
    def n_targets(self) -> int:
        return 1

    def gains(self, target: int) -> Iterator[Floats]:
        yield self.table


def identification(space: Space) -> GuessCriterion:
    """Return the criterion of naming the secret candidate."""
    # One guess for each candidate, right against that one alone.
    gains = np.eye(space.n_candidates)
    return GuessCriterion(gains, "identification", "name the candidate that was used")


def k_of_n(space: Space, k: int) -> GuessCriterion:
    """Return the criterion of naming as many units as a subset holds, ``k`` of them right.

    Parameters
    ----------
    space : SecretSpace
        The guess names as many units as its largest candidate holds.
    k : int
        Units of the guess that must be in the secret subset.

    Returns
    -------
    GuessCriterion
        An upper bound on the adversary's success: a guess that shares ``k`` units with each of
        several candidates makes those candidates share ``2 k - size`` units with one another, so
        it succeeds against one candidate and some of those that overlap it so much.

    Notes
    -----
    Source: pac-private-algorithms, section 8.2 and equation 6, on an enumerated space.
    """
    listed = has_units(space, f"{k}_of_n").row_subsets()
    members = listed.membership().T.astype(np.float64)
    size = int(members.sum(axis=1).max())
    k = check_integer(name="k", value=k, minimum=1, maximum=size)
    # A guess G of `size` units with k of them in S_i and k in S_j has, by inclusion and exclusion
    # inside G, 2 k - size of them in both: where two candidates share fewer no guess is right
    # against both. Row i allows a guess every candidate that may go with S_i: an upper bound.
    reachable = (members @ members.T >= 2 * k - size).astype(np.float64)
    # A small candidate may not share so much even with itself; a guess succeeds against one anyway.
    np.fill_diagonal(reachable, 1.0)
    return GuessCriterion(
        reachable, f"{k}-of-{listed.n_units}", f"name {size} units, {k} of them right"
    )
