"""What private answers would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


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
