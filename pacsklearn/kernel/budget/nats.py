"""A budget of mutual information, which is what a bare number means."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Final, final

from pacsklearn._validation import check_budget, check_flag, warn_user
from pacsklearn.exceptions import BudgetError, BudgetWarning
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.secret.space import Space

_SUSPECT: Final = 0.5


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

    def equivalent(self, space: Space) -> float:
        return self.amount

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


def as_budget(value: Any, *, warn: bool = True) -> Budget:
    """Return the budget that an argument states; a bare number is in nats.

    Parameters
    ----------
    value : float or Budget
    warn : bool, default=True
        Whether to warn of a bare number above 1/2; False where that was done.

    Raises
    ------
    BudgetError
        When it is neither, or its number is out of range.

    Warns
    -----
    BudgetWarning
        When a bare number is above 1/2: whoever meant a success gets another one.
    """
    if isinstance(value, Budget):
        # A stated unit is believed; a bare number is looked at below.
        budget = value
    elif isinstance(value, Real) and not isinstance(value, bool):
        budget = Nats(value)  # type: ignore[arg-type]  # checked next
    else:
        raise BudgetError(
            "budget must be a positive number of nats, or a budget such as Nats(1/4) or "
            f"Membership(0.60), got {value!r} of type {type(value).__name__}; give for instance "
            "budget=1/16."
        )
    amount = budget.amount
    check_flag(name="allow_exact", value=budget.allow_exact)
    # A success given without its unit is a number in (1/2, 1]: as nats it promises next to nothing.
    if warn and budget is not value and amount > _SUSPECT:
        warn_user(
            f"budget={value!r} is a number of nats, under which an adversary may tell whether a "
            f"row was used in {posterior_success(amount):.2%} of cases. Write Nats({value!r}) if "
            "that is meant; Membership(0.60) caps her success at 60 %.",
            BudgetWarning,
        )
    return budget
