"""Caps by what the adversary tries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import final

from pacsklearn.kernel.budget.cap import Cap
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.budget.guess_criterion import identification, k_of_n
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import Space


@final
@dataclass(repr=False, unsafe_hash=True)
class Membership(Cap):
    """Cap on telling whether any one unit was used.

    Parameters
    ----------
    cap : float
    allow_exact : bool, default=False
        Consent to noise that hides something else altogether.

    Examples
    --------
    >>> from pacsklearn import Membership
    >>> Membership(0.60)
    Membership(0.6)
    """

    cap: float
    _: KW_ONLY
    allow_exact: bool = False

    # Of every unit that candidates do not share: the cap is on the worst of them.
    name = "membership"
    description = "success at telling whether any one row, or group, was used"

    against = staticmethod(MembershipCriterion)

    def _over(self, space: Space) -> Criterion:
        # It goes through all units, wherever they are.
        return self.against(space if space.has_members else space.listed())


@final
@dataclass(repr=False, unsafe_hash=True)
class Identification(Cap):
    """Cap on naming the secret candidate.

    Parameters
    ----------
    cap : float
    allow_exact : bool, default=False
        As for :class:`Membership`.
    """

    cap: float
    _: KW_ONLY
    allow_exact: bool = False

    name = "identification"
    description = "success at naming the candidate that was used"

    against = staticmethod(identification)


@final
@dataclass(repr=False, unsafe_hash=True)
class KOfN(Cap):
    """Cap on naming as many units as a subset holds, ``k`` of them right.

    Parameters
    ----------
    k : int
    cap : float
    allow_exact : bool, default=False
        As for :class:`Membership`.
    """

    k: int
    cap: float
    _: KW_ONLY
    allow_exact: bool = False

    name = "k_of_n"
    description = "success at naming as many units as a subset holds, k of them right"

    def against(self, space: SecretSpace | CandidateSpace) -> Criterion:
        return k_of_n(space, self.k)


@final
@dataclass(repr=False, unsafe_hash=True)
class Success(Cap):
    """Cap on success at a criterion of one's own.

    Parameters
    ----------
    of : Criterion or callable
        Or what makes one for a secret space.
    cap : float
    allow_exact : bool, default=False
        As for :class:`Membership`.
    """

    of: Criterion | Callable[[SecretSpace | CandidateSpace], Criterion]
    cap: float
    _: KW_ONLY
    allow_exact: bool = False

    name = "success"
    description = "success at a criterion of one's own"

    def against(self, space: SecretSpace | CandidateSpace) -> Criterion:
        # Whatever this gives, criterion() looks whether it is one.
        return self.of(space) if callable(self.of) else self.of
