"""Requests that are answered together: what is written before the charge, and after the draw."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from pacsklearn.service.answer_book import Answer, AnswerBook
from pacsklearn.service.caller import Ask
from pacsklearn.service.connection import Connection
from pacsklearn.service.vault import Vault


@final
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

    def to_bytes(self) -> bytes:
        """For the database, where it is sealed."""
        shares = [
            vars(each) | {"names": _hex(each.names), "new": _hex(each.new), "body": each.body.hex()}
            for each in self.shares
        ]
        rows = base64.b64encode(self.rows).decode()
        facts = vars(self) | {"names": _hex(self.names), "rows": rows, "shares": shares}
        return json.dumps(facts).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Batch:
        """Batch that :meth:`to_bytes` wrote."""
        facts = json.loads(content)
        facts["names"], facts["rows"] = _bytes(facts["names"]), base64.b64decode(facts["rows"])
        for each in facts["shares"]:
            each["names"], each["new"] = _bytes(each["names"]), _bytes(each["new"])
            each["body"] = bytes.fromhex(each["body"])
        return cls(**facts | {"shares": [Share(**each) for each in facts["shares"]]})


@final
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

    def to_bytes(self) -> bytes:
        """For the database, where it is sealed."""
        facts: dict[str, Any] = {
            "names": _hex(self.names),
            "values": [_plain(each.value) for each in self.answers],
            "margins": [each.margin for each in self.answers],
            "flags": [each.contested for each in self.answers],
            "owners": {user: _hex(names) for user, names in self.owners.items()},
            "belief": self.belief,
            "counts": self.counts,
        }
        return json.dumps(facts).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Outcome:
        """Outcome that :meth:`to_bytes` wrote."""
        facts = json.loads(content)
        answers = [
            Answer(*each)
            for each in zip(facts["values"], facts["margins"], facts["flags"], strict=True)
        ]
        return cls(
            _bytes(facts["names"]),
            answers,
            {user: _bytes(names) for user, names in facts["owners"].items()},
            facts["belief"],
            (facts["counts"][0], facts["counts"][1]),
        )


def _hex(names: list[bytes]) -> list[str]:
    return [name.hex() for name in names]


def _bytes(names: list[str]) -> list[bytes]:
    return [bytes.fromhex(name) for name in names]


def _plain(value: Any) -> Any:
    """Number or list of numbers; Python writes and reads every double exactly."""
    return value.tolist() if hasattr(value, "tolist") else value


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
                pending = Batch.from_bytes(self._vault.open(row["intent"], self._place("intent")))
            else:
                content = self._vault.open(row["outcome"], self._place("outcome"))
                outcomes.append(Outcome.from_bytes(content))
        return outcomes, pending

    def write(self, connection: Connection, batch: Batch) -> None:
        """Put down what is about to be charged."""
        self.sequence += 1
        sealed = self._vault.seal(batch.to_bytes(), self._place("intent"))
        connection.insert(
            "service_batches", model=self._model, sequence=self.sequence, intent=sealed
        )

    def finish(self, connection: Connection, outcome: Outcome) -> None:
        """Put what was drawn in the last batch's place."""
        sealed = self._vault.seal(outcome.to_bytes(), self._place("outcome"))
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
