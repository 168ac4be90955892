"""Answers by the name of the query, who has paid for each, and what each showed.

One noun for all that has been answered, so that it can move into a ledger's own table of answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, final

from pydantic import PlainSerializer


def _plain(value: Any) -> Any:
    """Number or list of numbers, for JSON."""
    return value.tolist() if hasattr(value, "tolist") else value


class Answer(NamedTuple):
    """What was told of one query.

    Parameters
    ----------
    value : object
        As the engine gave it: a label's code, or numbers.
    margin : float
    contested : bool
        Whether candidates disagree under the prior; the same for every caller at all times.
    """

    value: Annotated[Any, PlainSerializer(_plain)]
    margin: float
    contested: bool


@final
class AnswerBook:
    """Everything that one model has answered.

    Notes
    -----
    A row belongs to a user once the user has paid for it, and is free for this user from then on.
    Whether anybody else has asked it shows in nothing that another user is told.
    """

    def __init__(self) -> None:
        self._answers: dict[bytes, Answer] = {}
        self._owned: dict[str, set[bytes]] = {}

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, name: bytes) -> Answer | None:
        """Answer to a query, None when nobody has asked it."""
        return self._answers.get(name)

    def new_to(self, user: str, names: Sequence[bytes]) -> list[int]:
        """Where each query that the user has not asked before stands first."""
        owned, first = self._owned.get(user, set()), dict[bytes, int]()
        for i, name in enumerate(names):
            if name not in owned:
                first.setdefault(name, i)
        return list(first.values())

    def add(self, names: Sequence[bytes], answers: Sequence[Answer]) -> None:
        """Keep answers; one that is there already stays as it was told."""
        for name, answer in zip(names, answers, strict=True):
            # Never another one: two answers to a query say more than the one that was charged.
            self._answers.setdefault(name, answer)

    def give(self, user: str, names: Sequence[bytes]) -> None:
        """Remember that a user has been told these."""
        self._owned.setdefault(user, set()).update(names)
