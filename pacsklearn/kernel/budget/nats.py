"""A budget of mutual information, which is what a bare number means."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import final

from pacsklearn._validation import check_budget
from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.secret.space import Space


@final
@dataclass(repr=False, unsafe_hash=True)
class Nats(Budget):
    """At most so much mutual information between the secret and everything released.

    It bounds every attack at once, and amounts of several releases add up.

    Parameters
    ----------
    nats : float
    allow_exact : bool, default=False
        Consent to a release that hides nothing: to at least the entropy of the secret,
        ``ln(n_subsets)``, or to noise under which attacks succeed in at least 99.99 % of cases.

    Notes
    -----
    Source: pac-private-algorithms, equation 3, which turns nats into the success of any attack.

    Examples
    --------
    >>> from pacsklearn import Nats
    >>> Nats(1 / 4)
    Nats(0.25)
    """

    nats: float
    _: KW_ONLY
    allow_exact: bool = False

    name = "nats"
    description = "mutual information between the secret and everything released"
    adds = True

    @property
    def amount(self) -> float:
        return check_budget(budget=self.nats)

    def criterion(self, space: Space) -> None:
        # I(S; Y) <= H(S) holds of any release: a budget beyond it bounds nothing, and no noise is
        # needed to keep it.
        if self.amount >= space.entropy and not self.allow_exact:
            raise BudgetError(
                f"budget={self.amount:.6g} nats covers the whole secret: {space.n_candidates} "
                f"candidates have an entropy of {space.entropy:.6g} nats, so nothing would be "
                "hidden, and results published as they are. Give less, for instance budget=1/16, "
                f"or Nats({self.amount:.6g}, allow_exact=True) if that is what you want."
            )
