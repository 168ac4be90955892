"""What is stored of one model: answers by the name of the query, who has paid, replies by key."""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, final

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn_service.server.answering.batch import Batch, Learned, Share
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.vault import Vault

_AT_ONCE: Final = 900
_BATCH: Final = TypeAdapter(Batch)
_LEARNED: Final = TypeAdapter(Learned)


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
        """Return the names that the user has not paid for, each once, in the order asked."""
        return [name for name in dict.fromkeys(names) if name not in self.paid[user]]

    def preview(self, ask: Ask, names: list[bytes], step_budget: float) -> dict[str, Any] | None:
        """Return what is told before anything is computed: the most it can cost, or a refusal."""
        count = len(self.new_to(ask.caller.user, names))
        worst = count * step_budget
        if ask.dry_run:
            return {
                "n_rows": ask.n_rows,
                "charged": 0.0,
                "worst_case": worst,
                "free": ask.n_rows - count,
            }
        if ask.max_charge is not None and worst > ask.max_charge:
            raise Problem(
                "price-too-high",
                "The rows that you have not asked before could cost more than max_charge; nothing "
                "was charged. Ask fewer rows, or allow more.",
                worst_case=worst,
            )
        return None

    def reply(self, share: Share, kind: AnswerKind) -> dict[str, Any]:
        """Return what a request is told once all of its rows have answers."""
        told = [self.answers[name] for name in share.names]
        decoded = kind.decoded([each.value for each in told])
        contested = sum(self.answers[name].contested for name in share.new)
        outputs = {"predict": kind.predicted(decoded).tolist()}
        if kind.answers == "probabilities":
            outputs["predict_proba"] = decoded.tolist()
        return {
            "outputs": outputs,
            "charged": share.price,
            "contested": contested,
            "free": len(share.names) - contested,
            "remaining": share.remaining,
        }

    def shares(
        self, asks: Sequence[Ask], names: Mapping[int, list[bytes]]
    ) -> tuple[dict[int, Share], list[int]]:
        """Return parts in a batch; what a caller asks in two requests at once is paid by the first.

        Parameters
        ----------
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
        paying: dict[str, set[bytes]] = {}
        for i, own in names.items():
            ask, caller = asks[i], asks[i].caller
            new, mine = self.new_to(caller.user, own), paying.setdefault(caller.user, set())
            # A row that the first of two requests pays for is not charged to the second.
            if mine.isdisjoint(new):
                mine.update(new)
                shares[i] = Share(
                    caller.user, caller.project, 0.0, own, new, ask.key, ask.body, ask.reservation
                )
        return shares, [i for i in names if i not in shares]


@final
class Records:
    """Everything that the service's database holds of what one model was asked.

    Parameters
    ----------
    vault : Vault
    model : str

    Notes
    -----
    A row belongs to a user once the user has paid for it, and is free for this user from then on.
    Whether anybody else has asked it shows in nothing that another user is told. Answers are
    looked up and never loaded; they are sealed, and users' rows have names of their own: the
    database says how many rows a user has asked, and neither which nor whether two users have asked
    the same.
    """

    def __init__(self, vault: Vault, model: str) -> None:
        self._vault, self.model = vault, model

    def state(self, connection: Connection) -> bytes:
        """Return what the model was registered with."""
        (row,) = connection.ask("SELECT state FROM service_models WHERE name = ?", self.model)
        # Sealed by this service: whoever has not its key cannot have put models there.
        return self._vault.open(row["state"], self._place("model"))

    def progress(self, connection: Connection) -> tuple[Learned | None, Batch | None]:
        """Return what was learned so far, and a batch that was written down and not finished."""
        (row,) = connection.rows("service_progress", model=self.model)
        intent, learned = (
            None if row[name] is None else self._vault.open(row[name], self._place(name))
            for name in ("intent", "learned")
        )
        return (
            None if learned is None else _LEARNED.validate_json(learned),
            None if intent is None else _BATCH.validate_json(intent),
        )

    def write(self, connection: Connection, batch: Batch | None) -> None:
        """Put down what is about to be charged; None where it was not, and is undone."""
        intent = batch and self._vault.seal(_BATCH.dump_json(batch), self._place("intent"))
        connection.update("service_progress", {"intent": intent}, model=self.model)

    def finish(
        self,
        connection: Connection,
        learned: Learned,
        answers: Mapping[bytes, Answer],
        shares: Iterable[Share],
    ) -> None:
        """Put answers, who has paid for them and what the draw has left in the batch's place."""
        # The rows that were asked are not kept longer than a restart could need them.
        sealed = self._vault.seal(_LEARNED.dump_json(learned), self._place("learned"))
        done = {"intent": None, "learned": sealed}
        connection.update("service_progress", done, model=self.model)
        # An answer that is there already is an error of the database: two answers to a query say
        # more than the one that was charged.
        place = self._place("answer", "")
        told = self._vault.seal_all(
            [(to_json(each), place + name.hex()) for name, each in answers.items()]
        )
        connection.insert_all(
            "service_answers",
            ("model", "name", "answer"),
            [(self.model, name, each) for name, each in zip(answers, told, strict=True)],
        )
        connection.insert_all(
            "service_paid",
            ("model", "user", "name"),
            [
                (self.model, each.user, name)
                for each in shares
                for name in self._own(each.user, each.new)
            ],
        )

    def look_up(
        self, connection: Connection, asked: Iterable[tuple[str, Sequence[bytes]]]
    ) -> Known:
        """Return what is known of the queries that users ask, by their names."""
        by_user: dict[str, list[bytes]] = {}
        for user, rows in asked:
            by_user.setdefault(user, []).extend(rows)
        names = list(dict.fromkeys(name for rows in by_user.values() for name in rows))
        question = "SELECT name, answer FROM service_answers WHERE model = ? AND name IN"
        found = self._rows(connection, question, names, self.model)
        answers = {
            (name := bytes(row["name"])): Answer(*self._opened(row["answer"], "answer", name.hex()))
            for row in found
        }
        question = 'SELECT name FROM service_paid WHERE model = ? AND "user" = ? AND name IN'
        paid = {}
        for user, rows in by_user.items():
            # Nobody has paid for what was never answered.
            known = [name for name in rows if name in answers]
            own = dict(zip(self._own(user, known), known, strict=True))
            found = self._rows(connection, question, list(own), self.model, user)
            paid[user] = {own[bytes(row["name"])] for row in found}
        return Known(answers, paid)

    def reply(self, connection: Connection, ask: Ask) -> dict[str, Any] | None:
        """Return the reply that was given for the key, None for a new one.

        Raises
        ------
        Problem
            When it was given for another request.
        """
        if ask.key is None:
            return None
        own = {"model": self.model, "user": ask.caller.user, "key": ask.key}
        rows = connection.rows("service_requests", **own)
        if not rows:
            return None
        # The body's name under the key, not the body: what was asked is on no disk.
        if not hmac.compare_digest(rows[0]["body"], self._vault.name(ask.body, self.model)):
            raise Problem(
                "key-reused",
                "This Idempotency-Key was used for another request; use a new one.",
            )
        told: dict[str, Any] = self._opened(rows[0]["reply"], "reply", ask.caller.user, ask.key)
        return told

    def keep(self, connection: Connection, share: Share, reply: dict[str, Any]) -> None:
        """Keep a reply, inside the transaction that stores its answers."""
        if share.key is not None:
            connection.insert(
                "service_requests",
                model=self.model,
                user=share.user,
                key=share.key,
                body=self._vault.name(share.body, self.model),
                reply=self._vault.seal(to_json(reply), self._place("reply", share.user, share.key)),
                created=time.time(),
            )

    def _own(self, user: str, names: Sequence[bytes]) -> list[bytes]:
        return self._vault.names(names, f"{self.model} {user}")

    def _opened(self, sealed: bytes, kind: str, *which: str) -> Any:
        return from_json(self._vault.open(sealed, self._place(kind, *which)))

    def _place(self, kind: str, *which: str) -> str:
        return "/".join([kind, self.model, *which])

    @staticmethod
    def _rows(
        connection: Connection, question: str, names: Sequence[bytes], *first: str
    ) -> Iterator[dict[str, Any]]:
        for at in range(0, len(names), _AT_ONCE):
            some = names[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            yield from connection.ask(f"{question} ({marks})", *first, *some)


def forget_replies(connection: Connection, seconds: float) -> None:
    """Delete replies older than that, but none of a job that is not finished.

    Their rows are still stored, and free for who asked.
    """
    # Whoever goes on with the job must find there what its parts have cost.
    connection.change(
        "DELETE FROM service_requests WHERE created < ? AND NOT EXISTS ("
        "SELECT 1 FROM service_jobs WHERE status IN ('queued', 'running') "
        "AND substr(key, 1, length(id) + 1) = id || '/')",
        time.time() - seconds,
    )
