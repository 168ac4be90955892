"""How releases about a secret begin: what is promised, and where it is charged."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from pacsklearn.estimators.released_tables import announce_release
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.release.account import Account, Secret, open_shared, sampler_for
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.terms import ListedTerms, Terms
from pacsklearn.kernel.secret.space import Space
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.sampled.drawn_terms import DrawnTerms
from pacsklearn.sampled.sampled import check_nats
from pacsklearn.sampled.sampled_subsets import SampledSubsets


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

    def listed(self, space: Space, table: Any = None) -> ReleaseProcedure:
        """Releases about one of listed candidates.

        Parameters
        ----------
        space : Space
        table : array-like, optional
            What the secret is about, to warn of its second release.

        Raises
        ------
        BudgetError
        """
        return self._procedure(
            ListedTerms(space, self.budget.criterion(space)), space.weights, table
        )

    def drawn(self, subsets: DrawnSubsets, sizes: SampledSubsets, table: Any) -> ReleaseProcedure:
        """Releases about a secret that is drawn from all balanced subsets.

        Raises
        ------
        BudgetError
        """
        check_nats(self.budget)
        # Of a list of one: there is no belief about subsets that cannot be listed.
        return self._procedure(DrawnTerms(subsets, sizes), np.ones(1), table)

    def _procedure(self, terms: Terms, weights: Any, table: Any) -> ReleaseProcedure:
        own = MemoryLedger(self.budget.amount, terms.unit)
        announce = None if table is None else partial(announce_release, table)
        account = Account(own, open_shared(self.ledger), announce=announce)
        secret = Secret(weights, sampler_for(self.random_state))
        return ReleaseProcedure(terms, secret, account, threading.RLock(), self.budget.allow_exact)
