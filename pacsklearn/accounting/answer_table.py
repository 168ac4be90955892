"""Answers of a session in its ledger's database: on disk before they are told."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.ledger import Ledger
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, SessionRolledBackError

if TYPE_CHECKING:  # SQLAlchemy is loaded when a ledger is opened
    from pacsklearn.accounting.rows import Rows

T = TypeVar("T")
Belief = tuple[int, NDArray[np.float64]]
"""How many events the session had, and log-weights of its candidates after them."""

_SEAL: Final = 16
_AT_ONCE: Final = 500


@final
class AnswerTable:
    """What a session has answered, and what its answers made an adversary believe.

    Rows are sealed with the session's own key, and queries are named by it: who reads the database
    cannot look a query up, and who may add rows cannot add an answer.

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
        from pacsklearn.accounting.shared_ledger import SharedLedger

        if not isinstance(ledger, SharedLedger):
            raise LedgerError(
                "store='ledger' needs a ledger in a database, such as ledger='sqlite:///path' (a "
                "reservation will not do)."
            )
        self._store, self._session, self._key = ledger._store, session, key

    def begin(self, log_belief: NDArray[np.float64]) -> None:
        """Write the prior: a database without it is not the one the session's answers are in."""
        self._write(lambda rows: self._put_belief(rows, 0, log_belief))

    def name(self, responder: str, row: bytes) -> bytes:
        """Name of a query."""
        return self._seal(b"name", responder.encode(), row)

    def get(self, responder: str, names: Sequence[bytes]) -> dict[bytes, tuple[Any, float]]:
        """Values and margins of those queries that have been answered.

        Raises
        ------
        LedgerCorruptedError
            When an answer is not what was written.
        """
        answers: dict[bytes, tuple[Any, float]] = {}

        def read(rows: Rows) -> None:
            for start in range(0, len(names), _AT_ONCE):
                answers.update(self._read(rows, responder, names[start : start + _AT_ONCE]))

        if names:
            self._run(read, write=False)
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

        def write(rows: Rows) -> None:
            if next(rows.with_keys([f"{self._session}/{n_charged}"]), None) is not None:
                raise SessionRolledBackError(
                    "Another process has gone on with this session: its answers are given there."
                )
            lines = []
            for name, (value, margin) in answers.items():
                value_bytes, margin_bytes = _encoded(value), struct.pack("<d", margin)
                seal = self._seal(b"answer", responder.encode(), name, value_bytes, margin_bytes)
                lines.append((self._dataset, responder, name, value_bytes, margin_bytes, seal))
            rows.insert("answers", lines)
            if log_belief is not None:
                self._put_belief(rows, n_charged, log_belief)

        self._write(write)

    def last_belief(self) -> Belief:
        """Belief after the last answers that were charged and stored.

        Raises
        ------
        SessionRolledBackError
            When the database never held this session's answers.
        LedgerCorruptedError
            When it is not what was written.
        """
        row = self._run(
            lambda rows: rows.one(
                "SELECT event, belief, seal FROM beliefs WHERE dataset = {0} AND session = {0} "
                "ORDER BY event DESC LIMIT 1",
                self._dataset,
                self._session,
            ),
            write=True,  # waits for a transaction whose end was not seen
        )
        if row is None:
            raise SessionRolledBackError(
                "The ledger's database does not hold the answers of this session: its charges were "
                "moved here without them. Give the database in use with ledger=."
            )
        event, content = int(row[0]), bytes(row[1])
        if bytes(row[2]) != self._belief_seal(event, content):
            raise LedgerCorruptedError(event, "(the belief after an answer) was altered")
        return event, np.frombuffer(content, dtype="<f8").astype(np.float64)

    @property
    def _dataset(self) -> str:
        return self._store.founding.name

    def _read(
        self, rows: Rows, responder: str, names: Sequence[bytes]
    ) -> dict[bytes, tuple[Any, float]]:
        marks = ", ".join(["{0}"] * len(names))
        answers = {}
        for name, value, margin, seal in rows.all(
            "SELECT key, value, margin, seal FROM answers WHERE dataset = {0} AND responder = {0} "  # noqa: S608
            f"AND key IN ({marks})",
            self._dataset,
            responder,
            *names,
        ):
            parts = responder.encode(), bytes(name), bytes(value), bytes(margin)
            if bytes(seal) != self._seal(b"answer", *parts):
                raise LedgerCorruptedError(0, "(a stored answer) was altered")
            answers[bytes(name)] = _decoded(bytes(value)), struct.unpack("<d", bytes(margin))[0]
        return answers

    def _put_belief(self, rows: Rows, event: int, log_belief: NDArray[np.float64]) -> None:
        content = log_belief.astype("<f8").tobytes()
        seal = self._belief_seal(event, content)
        rows.insert("beliefs", [(self._dataset, self._session, event, content, seal)])

    def _belief_seal(self, event: int, content: bytes) -> bytes:
        return self._seal(b"belief", self._session.encode(), str(event).encode(), content)

    def _seal(self, *parts: bytes) -> bytes:
        digest = hashlib.blake2b(key=self._key, digest_size=_SEAL)
        for part in parts:
            digest.update(len(part).to_bytes(8, "little") + part)
        return digest.digest()

    def _write(self, work: Callable[[Rows], None]) -> None:
        self._run(work, write=True)

    def _run(self, work: Callable[[Rows], T], *, write: bool) -> T:
        from pacsklearn.accounting.database import run
        from pacsklearn.accounting.rows import open_rows
        from pacsklearn.accounting.schema import bring_up

        def inside(connection: Any) -> T:
            rows = open_rows(connection, self._dataset)
            founding, version, _ = rows.founding(lock=write)
            if founding != self._store.founding:
                raise SessionRolledBackError("The database does not hold this ledger any more.")
            if write:
                bring_up(connection, version)
            return work(rows)

        return run(self._store.address, inside, write=write)


def _encoded(value: Any) -> bytes:
    array = np.asarray(value)
    return f"{array.ndim}{array.dtype.str} ".encode() + array.tobytes()


def _decoded(content: bytes) -> Any:
    head, _, rest = content.partition(b" ")
    array = np.frombuffer(rest, dtype=np.dtype(head[1:].decode()))
    return array[0] if head[:1] == b"0" else array
