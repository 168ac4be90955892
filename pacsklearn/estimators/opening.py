"""How releases about a secret begin: what is promised, and where it is charged."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from pacsklearn.estimators.released_tables import announce_release
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.release.account import Account, Secret, open_shared, sampler_for
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.terms import Terms
from pacsklearn.kernel.secret.space import Space


@final
@dataclass(frozen=True)
class Opening:
    """Budget, ledger and randomness of a session, or of one fit.

    Parameters
    ----------
    budget : Budget
    ledger, random_state
        As for :class:`~pacsklearn.PrivacySession`.
    """

    budget: Budget
    ledger: Any = None
    random_state: Any = None

    def procedure(
        self, space: Space, table: Any = None, looked_up: tuple[str, ...] = ()
    ) -> ReleaseProcedure:
        """Releases about one secret of a space.

        Parameters
        ----------
        space : Space
        table : array-like, optional
            What the secret is about, to warn of its second release.
        looked_up : tuple of str, default=()
            Facts of the table that are published exactly.

        Raises
        ------
        BudgetError
        """
        terms = Terms(space, self.budget.criterion(space), looked_up)
        own = MemoryLedger(self.budget.amount, terms.unit)
        announce = None if table is None else partial(announce_release, table)
        account = Account(own, open_shared(self.ledger), announce=announce)
        secret = Secret(space, sampler_for(self.random_state))
        return ReleaseProcedure(terms, secret, account, threading.RLock(), self.budget.allow_exact)
