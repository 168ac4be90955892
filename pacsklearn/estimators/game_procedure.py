"""The procedure of a session that publishes nothing."""

from __future__ import annotations

from contextlib import nullcontext

from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.release.account import Account, Secret
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.terms import Terms
from pacsklearn.kernel.secret.space import Space


def game_procedure(
    space: Space, sampler: Sampler, ceiling: float, criterion: Criterion | None = None
) -> ReleaseProcedure:
    """Return the procedure of a session of its own, as games and simulations need.

    Its secret may be known.

    Parameters
    ----------
    space : Space
    sampler : Sampler
        Draws secret and noise.
    ceiling : float
    criterion : Criterion, optional
    """
    terms, secret = Terms(space, criterion), Secret(space, sampler)
    account = Account(MemoryLedger(ceiling, terms.unit), None)
    # Whatever the law hides: a game is played to measure that, and publishes nothing.
    return ReleaseProcedure(terms, secret, account, nullcontext(), allow_exact=True)
