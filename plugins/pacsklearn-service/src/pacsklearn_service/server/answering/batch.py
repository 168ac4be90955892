"""Requests that are answered together: what is written before the charge, and after the draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, final

from pydantic import ConfigDict, TypeAdapter, with_config

from pacsklearn_service.server.answering.answer_book import Known
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
    known: Known, asks: Sequence[Ask], names: Mapping[int, list[bytes]]
) -> tuple[dict[int, Share], list[int]]:
    """Parts in a batch; what a caller asks in two requests at once is paid by the first.

    Parameters
    ----------
    known : Known
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
        new = known.new_to(caller.user, own)
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
class Learned:
    """What all answers so far have left behind.

    Parameters
    ----------
    belief : list of float
        Log-weights of the candidates.
    counts : (int, int)
        Rows that the responder has answered and charged.
    charged : int
        Events of the session that were charges.
    """

    belief: list[float] = field(repr=False)
    counts: tuple[int, int]
    charged: int


_BATCH: Final = TypeAdapter(Batch)
_LEARNED: Final = TypeAdapter(Learned)


@final
class Progress:
    """Where a model stands: what it has written down before a charge, and learned by the draws.

    Parameters
    ----------
    vault : Vault
    model : str
    """

    def __init__(self, vault: Vault, model: str) -> None:
        self._vault, self._model = vault, model
        self._intent, self._learned = f"intent/{model}", f"learned/{model}"

    def begin(self, connection: Connection) -> None:
        """Make the row of a new model."""
        connection.insert("service_progress", model=self._model)

    def read(self, connection: Connection) -> tuple[Learned | None, Batch | None]:
        """What was learned so far, and a batch that was written down and not finished."""
        question = "SELECT intent, learned FROM service_progress WHERE model = ?"
        (row,) = connection.ask(question, self._model)
        learned, batch = None, None
        if row["learned"] is not None:
            content = self._vault.open(row["learned"], self._learned)
            learned = _LEARNED.validate_json(content)
        if row["intent"] is not None:
            batch = _BATCH.validate_json(self._vault.open(row["intent"], self._intent))
        return learned, batch

    def write(self, connection: Connection, batch: Batch) -> None:
        """Put down what is about to be charged."""
        self._set(connection, intent=self._vault.seal(_BATCH.dump_json(batch), self._intent))

    def finish(self, connection: Connection, learned: Learned) -> None:
        """Put what the draw has left in the batch's place."""
        # The rows that were asked are not kept longer than a restart could need them.
        sealed = self._vault.seal(_LEARNED.dump_json(learned), self._learned)
        self._set(connection, intent=None, learned=sealed)

    def remove(self, connection: Connection) -> None:
        """Undo the batch, which was not charged."""
        self._set(connection, intent=None)

    def _set(self, connection: Connection, **values: bytes | None) -> None:
        what = ", ".join(f"{name} = ?" for name in values)
        statement = f"UPDATE service_progress SET {what} WHERE model = ?"  # noqa: S608
        connection.change(statement, *values.values(), self._model)
