"""Answers by the name of the query, and who has paid for each: looked up, never loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, final

from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.vault import Vault

_AT_ONCE: Final = 900


class Answer(NamedTuple):
    """What was told of one query.

    Parameters
    ----------
    value : object
        A label's code, or numbers, as JSON holds them.
    contested : bool
        Whether candidates disagree under the prior; the same for every caller at all times.
    """

    value: Any
    contested: bool


@final
@dataclass
class Known:
    """What was answered before of the queries that some requests ask.

    Parameters
    ----------
    answers : dict of bytes to Answer
        By name; queries that nobody has asked are not in it.
    paid : dict of str to set of bytes
        Names of those that each user has paid for.
    """

    answers: dict[bytes, Answer] = field(repr=False)
    paid: dict[str, set[bytes]] = field(repr=False)

    def new_to(self, user: str, names: Sequence[bytes]) -> list[bytes]:
        """Names that the user has not paid for, each once, in the order asked."""
        return [name for name in dict.fromkeys(names) if name not in self.paid[user]]


@final
class AnswerBook:
    """Everything that one model has answered, in the service's database.

    Parameters
    ----------
    vault : Vault
    model : str

    Notes
    -----
    A row belongs to a user once the user has paid for it, and is free for this user from then on.
    Whether anybody else has asked it shows in nothing that another user is told. Answers are
    sealed, and users' rows have names of their own: the database says how many rows a user has
    asked, and neither which nor whether two users have asked the same.
    """

    def __init__(self, vault: Vault, model: str) -> None:
        self._vault, self._model = vault, model

    def look_up(self, connection: Connection, asked: Mapping[str, Sequence[bytes]]) -> Known:
        """What is known of the queries that users ask, by their names."""
        names = list(dict.fromkeys(name for own in asked.values() for name in own))
        question = "SELECT name, answer FROM service_answers WHERE model = ? AND name IN"
        answers = {
            bytes(row["name"]): self._opened(bytes(row["name"]), row["answer"])
            for row in self._rows(connection, question, names, self._model)
        }
        question = 'SELECT name FROM service_paid WHERE model = ? AND "user" = ? AND name IN'
        paid = {}
        for user, rows in asked.items():
            # Nobody has paid for what was never answered.
            own = {self._own(user, name): name for name in rows if name in answers}
            found = self._rows(connection, question, list(own), self._model, user)
            paid[user] = {own[bytes(row["name"])] for row in found}
        return Known(answers, paid)

    def add(
        self,
        connection: Connection,
        answers: Mapping[bytes, Answer],
        paid: Mapping[str, Sequence[bytes]],
    ) -> None:
        """Keep answers to new queries, and what users have paid for."""
        # An answer that is there already is an error of the database: two answers to a query say
        # more than the one that was charged.
        connection.insert_all(
            "service_answers",
            ("model", "name", "answer"),
            [(self._model, name, self._sealed(name, each)) for name, each in answers.items()],
        )
        connection.insert_all(
            "service_paid",
            ("model", "user", "name"),
            [
                (self._model, user, self._own(user, name))
                for user, names in paid.items()
                for name in names
            ],
        )

    def size(self, connection: Connection) -> int:
        """How many queries were answered."""
        question = "SELECT count(*) AS number FROM service_answers WHERE model = ?"
        return int(connection.ask(question, self._model)[0]["number"])

    def _own(self, user: str, name: bytes) -> bytes:
        return self._vault.name(name, f"{self._model} {user}")

    def _sealed(self, name: bytes, answer: Answer) -> bytes:
        return self._vault.seal(json.dumps(answer).encode(), self._place(name))

    def _opened(self, name: bytes, sealed: bytes) -> Answer:
        return Answer(*json.loads(self._vault.open(sealed, self._place(name))))

    def _place(self, name: bytes) -> str:
        return f"answer/{self._model}/{name.hex()}"

    @staticmethod
    def _rows(
        connection: Connection, question: str, names: Sequence[bytes], *first: str
    ) -> Iterator[dict[str, Any]]:
        for at in range(0, len(names), _AT_ONCE):
            some = names[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            yield from connection.ask(f"{question} ({marks})", *first, *some)
