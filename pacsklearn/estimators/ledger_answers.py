"""Answers in the ledger's database; in memory are those used last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, final

from numpy.typing import NDArray

from pacsklearn.estimators.answer_table import AnswerTable, Belief
from pacsklearn.estimators.stored_answers import row_keys
from pacsklearn.kernel.answers.answer_store import AnswerStore

# Answers in memory for each responder: about 400 bytes each.
_MOST_HELD: Final = 2**16


@final
class LedgerAnswers(AnswerStore):
    """As :class:`~pacsklearn.estimators.stored_answers.StoredAnswers`, on disk.

    Parameters
    ----------
    table : AnswerTable
    responder : str
        Whose answers these are.
    """

    keys = staticmethod(row_keys)

    def __init__(self, table: AnswerTable, responder: str) -> None:
        self._table, self._responder = table, responder
        self._held: OrderedDict[bytes, tuple[Any, float]] = OrderedDict()

    def __len__(self) -> int:
        """Return the answers in memory."""
        return len(self._held)

    def add(
        self,
        keys: Sequence[bytes],
        values: Sequence[Any],
        margins: Sequence[float],
        n_charged: int,
        log_belief: NDArray[Any] | None,
    ) -> None:
        names = [self._table.name(self._responder, key) for key in keys]
        answers = dict(zip(names, zip(values, margins, strict=True), strict=True))
        # Held afterwards: memory must not know an answer that a failed write has taken back.
        self._table.put(self._responder, answers, n_charged, log_belief)
        self._hold(answers)

    def missing(self, keys: Sequence[bytes]) -> list[int]:
        names = [self._table.name(self._responder, key) for key in keys]
        first: dict[bytes, int] = {}
        for i, name in enumerate(names):
            first.setdefault(name, i)
        stored = self._stored(list(first))
        return [i for name, i in first.items() if name not in stored]

    def answers(self, keys: Sequence[bytes]) -> tuple[list[Any], list[float]]:
        names = [self._table.name(self._responder, key) for key in keys]
        stored = self._stored(list(dict.fromkeys(names)))
        return [stored[name][0] for name in names], [stored[name][1] for name in names]

    def last_belief(self) -> Belief:
        return self._table.last_belief()

    def export(self) -> tuple[()]:
        """Return nothing for a session file: answers in a ledger stay there."""
        return ()

    def restore(self, runs: Sequence[Any]) -> None:
        """Take over what :meth:`export` gave."""

    def _stored(self, names: Sequence[bytes]) -> dict[bytes, tuple[Any, float]]:
        stored = {}
        for name in names:
            answer = self._held.pop(name, None)
            if answer is not None:
                stored[name] = self._held[name] = answer
        read = self._table.get(self._responder, [name for name in names if name not in stored])
        self._hold(read)
        return stored | read

    def _hold(self, answers: dict[bytes, tuple[Any, float]]) -> None:
        self._held.update(answers)
        while len(self._held) > _MOST_HELD:
            self._held.popitem(last=False)
