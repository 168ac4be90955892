"""What private answers would cost, computed without the secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.kernel.answers.answered_rows import AnswerLaw
from pacsklearn.kernel.answers.responder import Responder, batches


@final
@dataclass(frozen=True)
class CostPreview:
    """What answering some queries would cost; computed without the secret.

    Parameters
    ----------
    n_queries : int
        Rows asked.
    n_stored : int
        Answered before, or twice in the same batch: free.
    n_unanimous : int
        All candidates with posterior mass agree: free.
    n_contested : int
        Charged the step budget each, until nothing is left to reveal.
    nats : float
        At most this much would be charged.
    worst_case : float
        What the papers' accounting would charge: the step budget for every query.
    """

    n_queries: int
    n_stored: int
    n_unanimous: int
    n_contested: int
    nats: float
    worst_case: float


def preview(responder: Responder, X: Any) -> CostPreview:
    """Return the cost of answering ``X`` now."""
    responder.procedure.account.home.check()
    X = responder.models.checked(X)
    stored = unanimous = contested = 0
    seen: set[bytes] = set()
    for part in batches(X):
        keys = responder.store.keys(part)
        fresh = [i for i in responder.store.missing(keys) if keys[i] not in seen]
        seen.update(keys[i] for i in fresh)
        stored += len(keys) - len(fresh)
        if fresh:
            predictions = responder.predictions(safe_indexing(part, fresh))
            split = responder.plan(predictions).law.n_noisy
            contested += split
            unanimous += len(fresh) - split
    return CostPreview(
        n_queries=X.shape[0],
        n_stored=stored,
        n_unanimous=unanimous,
        n_contested=contested,
        nats=_worst_case(responder, contested),
        worst_case=X.shape[0] * responder.step_budget,
    )


def affords(responder: Responder, contested: int) -> bool:
    """Return whether so many more rows could be charged now; nothing changes."""
    if contested == 0:
        return True
    try:
        with responder.procedure.lock:
            responder.procedure.account.check(_worst_case(responder, contested))
    except BudgetExhaustedError:
        return False
    return True


def _worst_case(responder: Responder, contested: int) -> float:
    return AnswerLaw.of(contested, responder.step_budget, responder.log_belief).bound
