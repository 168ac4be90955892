"""Answers in the ledger's database; in memory are those used last."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.stored_answers import row_keys
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, SessionRolledBackError
from pacsklearn.kernel.answers.answer_store import AnswerStore
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.upkeep.log_contents import answers_named, n_answers

if TYPE_CHECKING:  # the databases' clients are loaded when a ledger is opened
    from pacsklearn.kernel.ledger.store import LogBook

Belief = tuple[int, NDArray[np.float64]]
"""How many events the session had, and log-weights of its candidates after them."""

_SEAL: Final = 16
# Answers in memory for each responder: about 400 bytes each.
_MOST_HELD: Final = 2**16


@final
class AnswerTable:
    """What a session has answered, and what its answers made an adversary believe.

    Each batch is a row of the ledger's log, in its chain of hashes. Its content is sealed with the
    session's own key, and queries are named by it: who reads the database cannot look a query up,
    and who may add rows cannot add an answer.

    Parameters
    ----------
    ledger : Ledger
        The session's, in a database.
    session : str
        Its name there.
    key : bytes
        Of the session, secret.

    Raises
    ------
    LedgerError
        When the ledger is not in a database.
    """

    def __init__(self, ledger: Ledger | None, session: str, key: bytes) -> None:
        from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

        if not isinstance(ledger, SharedLedger):
            raise LedgerError(
                "store='ledger' needs a ledger in a database, such as ledger='sqlite:///path' (a "
                "reservation will not do)."
            )
        self._store, self._session, self._key = ledger.store, session, key

    def begin(self, log_belief: NDArray[np.float64]) -> None:
        """Write the prior: a database without it is not the one the session's answers are in."""
        facts = self._facts("", 0, log_belief)
        self._store.write(lambda book: book.store(facts, ()))

    def name(self, responder: str, row: bytes) -> bytes:
        """Return the name of a query."""
        return self._seal(b"name", responder.encode(), row)

    def get(self, responder: str, names: Sequence[bytes]) -> dict[bytes, tuple[Any, float]]:
        """Return the values and margins of those queries that have been answered.

        Raises
        ------
        LedgerCorruptedError
            When an answer is not what was written.
        """
        if not names:
            return {}
        dataset = self._store.founding.dataset
        lines = self._store.read(lambda book: answers_named(book.log, dataset, responder, names))
        answers = {}
        for _, name, value, margin, seal in lines:
            parts = bytes(name), bytes(value), bytes(margin)
            if bytes(seal) != self._seal(b"answer", responder.encode(), *parts):
                raise LedgerCorruptedError(0, "(a stored answer) was altered")
            answers[parts[0]] = _decoded(parts[1]), struct.unpack("<d", parts[2])[0]
        return answers

    def put(
        self,
        responder: str,
        answers: dict[bytes, tuple[Any, float]],
        n_charged: int,
        log_belief: NDArray[np.float64] | None,
    ) -> None:
        """Write answers, with the belief after them where it has changed: all of it or nothing.

        Parameters
        ----------
        responder : str
        answers : dict
            Values and margins of queries that have none yet.
        n_charged : int
            Events of the session.
        log_belief : ndarray of shape (m,) or None

        Raises
        ------
        SessionRolledBackError
            When another process has taken the session over; nothing may be told then.
        """
        lines = []
        for name, (value, margin) in answers.items():
            parts = name, _encoded(value), struct.pack("<d", margin)
            lines.append((responder, *parts, self._seal(b"answer", responder.encode(), *parts)))
        facts = self._facts(responder, n_charged, log_belief)

        def write(book: LogBook) -> None:
            # In the transaction that stores: no other process can go on in between.
            if book.find(f"{self._session}/{n_charged}") is not None:
                raise SessionRolledBackError(
                    "Another process has gone on with this session: its answers are given there."
                )
            book.store(facts, tuple(lines))

        self._store.write(write)

    def last_belief(self) -> Belief:
        """Return the belief after the last answers that were charged and stored.

        Raises
        ------
        SessionRolledBackError
            When the database never held this session's answers.
        LedgerCorruptedError
            When it is not what was written.
        """

        def read(book: LogBook) -> dict[str, Any] | None:
            dataset, number = book.fold.founding.dataset, book.fold.beliefs.get(self._session)
            for responder, count in book.fold.n_answers.items():
                if n_answers(book.log, dataset, responder) != count:
                    raise LedgerCorruptedError(
                        book.fold.position.sequence, "has lost stored answers"
                    )
            row = None if number is None else book.log.row(dataset, number)
            return None if row is None else row.facts()["stored"]

        stored = self._store.read(read)
        if stored is None:
            raise SessionRolledBackError(
                "The ledger's database does not hold the answers of this session: its charges were "
                "moved here without them. Give the database in use with ledger=."
            )
        event, content = int(stored["event"]), base64.b64decode(stored["belief"])
        if stored["seal"] != self._belief_seal(event, content):
            raise LedgerCorruptedError(event, "(the belief after an answer) was altered")
        return event, np.frombuffer(content, dtype="<f8").astype(np.float64)

    def _facts(
        self, responder: str, event: int, log_belief: NDArray[np.float64] | None
    ) -> dict[str, Any]:
        facts = {"session": self._session, "responder": responder, "event": event}
        if log_belief is None:
            return facts | {"belief": None, "seal": None}
        content = log_belief.astype("<f8").tobytes()
        belief = base64.b64encode(content).decode()
        return facts | {"belief": belief, "seal": self._belief_seal(event, content)}

    def _belief_seal(self, event: int, content: bytes) -> str:
        return self._seal(b"belief", self._session.encode(), str(event).encode(), content).hex()

    def _seal(self, *parts: bytes) -> bytes:
        digest = hashlib.blake2b(key=self._key, digest_size=_SEAL)
        for part in parts:
            digest.update(len(part).to_bytes(8, "little") + part)
        return digest.digest()


def _encoded(value: Any) -> bytes:
    array = np.asarray(value)
    return f"{array.ndim}{array.dtype.str} ".encode() + array.tobytes()


def _decoded(content: bytes) -> Any:
    head, _, rest = content.partition(b" ")
    array = np.frombuffer(rest, dtype=np.dtype(head[1:].decode()))
    return array[0] if head[:1] == b"0" else array


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
