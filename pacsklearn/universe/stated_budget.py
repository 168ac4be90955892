"""The budget that a user's argument states, and the nats that imply as much."""

from __future__ import annotations

from typing import Any, Final

from pacsklearn._validation import brief, check_flag, is_real, warn_user
from pacsklearn.exceptions import BudgetError, BudgetWarning
from pacsklearn.kernel.bounds.posterior_success import (
    mutual_information_for_success,
    posterior_success,
)
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.nats import Nats
from pacsklearn.kernel.secret.space import Space

_SUSPECT: Final = 0.5


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
        When it is neither, its number is out of range, or it makes its criterion by itself.

    Warns
    -----
    BudgetWarning
        When a bare number is above 1/2: whoever meant a success gets another one.
    """
    if isinstance(value, Budget):
        # A stated unit is believed; a bare number is looked at below.
        budget = value
    elif is_real(value):
        budget = Nats(value)
    else:
        raise BudgetError(
            "budget must be a positive number of nats, or a budget such as Nats(1/4) or "
            f"Membership(0.60), got {brief(value)} of type {type(value).__name__}; give for "
            "instance budget=1/16."
        )
    if hasattr(budget, "against") and not hasattr(type(budget).criterion, "__final__"):
        raise BudgetError(
            f"{type(budget).__name__} overrides criterion, which looks at the tables of what is "
            "capped; say in against() what an adversary has to achieve."
        )
    amount = budget.amount
    check_flag(name="allow_exact", value=budget.allow_exact)
    # A success given without its unit is a number in (1/2, 1]: as nats it promises next to nothing.
    if warn and budget is not value and amount > _SUSPECT:
        warn_user(
            f"budget={value!r} is a number of nats, under which an adversary may tell whether a "
            f"row was used in {100 * posterior_success(amount):.4g} % of cases. Write "
            f"Nats({value!r}) if that is meant; Membership(0.60) caps her success at 60 %.",
            BudgetWarning,
        )
    return budget


def equivalent_nats(budget: Budget, space: Space) -> float:
    """Return the nats that imply the same success of the attack, where a budget caps one.

    Raises
    ------
    BudgetError
        Of a budget of another kind that cannot be kept over these candidates.
    """
    criterion = None if isinstance(budget, Nats) else budget.criterion(space)
    if criterion is None:
        return budget.amount
    # Equation 3 solved for the information, at the target that is easiest to guess blindly: so many
    # nats imply the cap there, and with it at every other target.
    blind = float(criterion.prior(space.weights).max())
    return mutual_information_for_success(budget.amount, blind)
