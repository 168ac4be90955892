"""What a noise law has to achieve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pacsklearn._validation import check_budget
from pacsklearn.core.criterion import Criterion


@final
@dataclass(frozen=True)
class Target:
    """Upper limit on what one release may reveal.

    Parameters
    ----------
    budget : float
        Mutual information between the secret and the release, in nats; with a criterion, the
        largest success of any adversary at any of its targets.
    criterion : Criterion, optional
    """

    budget: float
    criterion: Criterion | None = None

    def __post_init__(self) -> None:
        budget = check_budget(budget=self.budget)
        if self.criterion is not None and not budget <= 1:
            raise ValueError(
                f"budget={self.budget!r} is the cap on an adversary's success "
                f"(criterion={self.criterion.name!r}), which lies below 1."
            )
        object.__setattr__(self, "budget", budget)
