"""What a session may still spend: its own ceiling, and a shared ledger's."""

from __future__ import annotations

from typing import final

from pacsklearn._validation import check_budget
from pacsklearn.core.event import Event
from pacsklearn.core.ledger import Ledger, MemoryLedger
from pacsklearn.exceptions import BudgetExhaustedError, LedgerError

__all__ = ["Account", "open_shared"]


@final
class Account:
    """Both ledgers of a session: every charge must fit under both ceilings.

    Parameters
    ----------
    own : MemoryLedger
        Of this session alone.
    shared : Ledger or None
        Of the data set, across sessions and processes.
    """

    def __init__(self, own: MemoryLedger, shared: Ledger | None) -> None:
        self.own = own
        self.shared = shared

    @property
    def remaining(self) -> float:
        """Nats that may still be charged."""
        shared = float("inf") if self.shared is None else self.shared.remaining
        return min(self.own.remaining, shared)

    def check(self, asked: float | None) -> float:
        """Nats asked for (all that remains of the session's own when None), if they fit.

        Raises
        ------
        BudgetExhaustedError
            When they do not fit, or nothing remains.
        """
        amount = self.own.remaining if asked is None else check_budget(budget=asked)
        for ledger in (self.own, self.shared):
            if ledger is not None and (amount == 0 or not ledger.allows(amount)):
                raise BudgetExhaustedError(ledger.spent, amount, ledger.ceiling)
        return amount

    def charge(self, event: Event) -> None:
        """Charge both ledgers, the shared one first: it alone can refuse for others' sake.

        Raises
        ------
        BudgetExhaustedError
            When it does not fit under one of them; no answer may leave then.
        """
        if not self.own.allows(event.charge):
            raise BudgetExhaustedError(self.own.spent, event.charge, self.own.ceiling)
        if self.shared is not None and not self.shared.charge(event):
            raise LedgerError(
                "This release has been charged before, so its noise has been drawn before: it "
                "cannot be released a second time with other noise."
            )
        self.own.charge(event)


def open_shared(ledger: str | Ledger | None, ceiling: float) -> Ledger | None:
    """Ledger that a user named, or None."""
    if ledger is None:
        return None
    from pacsklearn.accounting.open_ledger import open_ledger  # loads the database's client

    return open_ledger(ledger, ceiling=ceiling)
