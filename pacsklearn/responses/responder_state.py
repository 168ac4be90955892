"""What a responder remembers, for a session file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from pacsklearn.responses.answer_kind import AnswerKind
from pacsklearn.responses.stored_answers import AnswerRun


@final
@dataclass(frozen=True, eq=False)
class ResponderState:
    """What a responder remembers; its answers are public, its queries need not be.

    Parameters
    ----------
    kind : AnswerKind
    step_budget : float
    n_answered, n_contested : int
    stored : tuple of AnswerRun
        Answers and margins by the digest of the query.
    """

    kind: AnswerKind
    step_budget: float
    n_answered: int
    n_contested: int
    stored: tuple[AnswerRun, ...] = field(repr=False)
