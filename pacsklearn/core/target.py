"""What a noise law has to achieve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pacsklearn._validation import check_budget

__all__ = ["Target"]


@final
@dataclass(frozen=True)
class Target:
    """Upper limit on what one release may reveal.

    Parameters
    ----------
    budget : float
        Mutual information between the secret and the release, in nats.
    """

    budget: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", check_budget(budget=self.budget))
