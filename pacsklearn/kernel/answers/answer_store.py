"""Where answers that were given are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from pacsklearn.kernel.bounds.arrays import Floats


class AnswerStore(ABC):
    """Answers that were given: who asks a query again gets the same one, which tells nothing new.

    Attributes
    ----------
    last_belief : callable or None
        Gives the events of the session before the last answers that are on disk, and the belief
        after these; None where answers end with the process.
    """

    last_belief: Callable[[], tuple[int, Floats]] | None = None

    @abstractmethod
    def keys(self, X: Any) -> list[bytes]:
        """Return the key of each row: equal for the same query."""

    @abstractmethod
    def missing(self, keys: Sequence[bytes]) -> list[int]:
        """Return the first position of each key that has no answer."""

    @abstractmethod
    def answers(self, keys: Sequence[bytes]) -> tuple[list[Any], list[float]]:
        """Return the values and margins of keys that have an answer."""

    @abstractmethod
    def export(self) -> tuple[Any, ...]:
        """Return what a session file keeps."""

    @abstractmethod
    def restore(self, runs: Sequence[Any]) -> None:
        """Take over what :meth:`export` gave."""

    @abstractmethod
    def add(
        self,
        keys: Sequence[bytes],
        values: Sequence[Any],
        margins: Sequence[float],
        n_charged: int,
        log_belief: Floats | None,
    ) -> None:
        """Store answers to queries that have none yet; what returns can be told.

        ``n_charged`` are the session's events, ``log_belief`` what they led to where it moved.
        """
