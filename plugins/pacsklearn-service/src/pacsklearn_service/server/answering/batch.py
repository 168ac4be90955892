"""Requests that are answered together: what is written before the charge, and after the draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, final

from pydantic import ConfigDict, TypeAdapter, with_config

from pacsklearn_service.server.answering.answer_book import Answer, AnswerBook
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.vault import Vault

_AS_JSON: Final = ConfigDict(
    ser_json_bytes="base64", val_json_bytes="base64", ser_json_inf_nan="constants"
)


@final
@with_config(_AS_JSON)
@dataclass(frozen=True, eq=False)
class Share:
    """One request's part in a batch.

    Parameters
    ----------
    user, project : str or None
    price : float
        Nats that the caller's quota is debited.
    names : list of bytes
        Of every row, in the order asked.
    new : list of bytes
        Of the rows that are new to the caller, who has paid for them now.
    key : str or None
        Idempotency key; the reply belongs to it even when another process gives it.
    body : bytes
        Digest of the request's body.
    reservation : str or None
        Of the caller's own, which pays.
    remaining : float or None
        What is left of the caller's quota once it is debited; None before.
    """

    user: str
    project: str | None
    price: float
    names: list[bytes] = field(repr=False)
    new: list[bytes] = field(repr=False)
    key: str | None = None
    body: bytes = field(default=b"", repr=False)
    reservation: str | None = None
    remaining: float | None = None


def shares_of(
    book: AnswerBook, asks: Sequence[Ask], names: Mapping[int, list[bytes]]
) -> tuple[dict[int, Share], list[int]]:
    """Parts in a batch; what a caller asks in two requests at once is paid by the first.

    Parameters
    ----------
    book : AnswerBook
    asks : sequence of Ask
    names : mapping of int to list of bytes
        Of the rows of the requests that are answered, by the request's place.

    Returns
    -------
    dict of int to Share
    list of int
        Places of requests to be answered after these.
    """
    shares: dict[int, Share] = {}
    later: list[int] = []
    paying: dict[str, set[bytes]] = {}
    for i, own in names.items():
        ask, caller = asks[i], asks[i].caller
        new = [own[k] for k in book.new_to(caller.user, own)]
        mine = paying.setdefault(caller.user, set())
        # A row that the first of two requests pays for is not charged to the second.
        if not mine.isdisjoint(new):
            later.append(i)
            continue
        mine.update(new)
        shares[i] = Share(
            caller.user, caller.project, 0.0, own, new, ask.key, ask.body, ask.reservation
        )
    return shares, later


@final
@with_config(_AS_JSON)
@dataclass(frozen=True, eq=False)
class Batch:
    """What is about to be charged: enough to finish it in another process.

    Parameters
    ----------
    event : int
        Number of the session's next event, which the charge will have.
    names : list of bytes
        Of the queries that nobody has asked before.
    flags : list of bool
        Whether each is contested under the prior.
    rows : bytes
        The queries, as the signature packs them; empty when there are none.
    shares : list of Share
    """

    event: int
    names: list[bytes] = field(repr=False)
    flags: list[bool] = field(repr=False)
    rows: bytes = field(repr=False)
    shares: list[Share] = field(repr=False)


@final
@with_config(_AS_JSON)
@dataclass(frozen=True, eq=False)
class Outcome:
    """What was answered, and the belief it left.

    Parameters
    ----------
    names : list of bytes
    answers : list of Answer
    owners : mapping of str to list of bytes
        What each user has paid for.
    belief : list of float
        Log-weights after the batch.
    counts : (int, int)
        Rows the responder has answered and charged so far.
    """

    names: list[bytes] = field(repr=False)
    answers: list[Answer] = field(repr=False)
    owners: dict[str, list[bytes]] = field(repr=False)
    belief: list[float] = field(repr=False)
    counts: tuple[int, int]


_BATCH: Final = TypeAdapter(Batch)
_OUTCOME: Final = TypeAdapter(Outcome)


def as_stored(outcome: Outcome) -> Outcome:
    """Outcome as a reader has it, the same in every bit: JSON holds each double exactly."""
    return _OUTCOME.validate_json(_OUTCOME.dump_json(outcome))


@final
class WrittenBatches:
    """What a model has written down before each charge, and after each draw.

    Parameters
    ----------
    vault : Vault
    model : str

    Attributes
    ----------
    sequence : int
        Number of the last batch.
    """

    def __init__(self, vault: Vault, model: str) -> None:
        self._vault, self._model, self.sequence = vault, model, 0

    def read(self, connection: Connection) -> tuple[list[Outcome], Batch | None]:
        """What was drawn so far, and a batch that was written down and not finished."""
        outcomes, pending, self.sequence = [], None, 0
        question = "SELECT * FROM service_batches WHERE model = ? ORDER BY sequence"
        for row in connection.ask(question, self._model):
            self.sequence = row["sequence"]
            if row["outcome"] is None:
                pending = _BATCH.validate_json(
                    self._vault.open(row["intent"], self._place("intent"))
                )
            else:
                content = self._vault.open(row["outcome"], self._place("outcome"))
                outcomes.append(_OUTCOME.validate_json(content))
        return outcomes, pending

    def write(self, connection: Connection, batch: Batch) -> None:
        """Put down what is about to be charged."""
        self.sequence += 1
        sealed = self._vault.seal(_BATCH.dump_json(batch), self._place("intent"))
        connection.insert(
            "service_batches", model=self._model, sequence=self.sequence, intent=sealed
        )

    def finish(self, connection: Connection, outcome: Outcome) -> None:
        """Put what was drawn in the last batch's place."""
        sealed = self._vault.seal(_OUTCOME.dump_json(outcome), self._place("outcome"))
        # The rows that were asked are not kept longer than a restart could need them.
        connection.change(
            "UPDATE service_batches SET outcome = ?, intent = NULL "
            "WHERE model = ? AND sequence = ?",
            sealed,
            self._model,
            self.sequence,
        )

    def remove(self, connection: Connection) -> None:
        """Undo the last batch, which was not charged."""
        statement = "DELETE FROM service_batches WHERE model = ? AND sequence = ?"
        connection.change(statement, self._model, self.sequence)

    def _place(self, what: str) -> str:
        return f"{what}/{self._model}/{self.sequence}"
