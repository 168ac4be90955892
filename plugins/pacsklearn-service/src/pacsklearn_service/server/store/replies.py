"""Replies by idempotency key: the same key and body get the same answer, also after a crash."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, final

from pacsklearn_service.server.answering.batch import Share
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.vault import Vault


@final
class Replies:
    """What callers of one model were told under their idempotency keys.

    Parameters
    ----------
    vault : Vault
    model : str
    """

    def __init__(self, vault: Vault, model: str) -> None:
        self._vault, self._model = vault, model
        self._lock = threading.Lock()
        self._under_way: set[tuple[str, str]] = set()

    def enter(self, ask: Ask) -> None:
        """Claim the key for as long as the request is being answered.

        Raises
        ------
        Problem
            When the same key is being answered.
        """
        if ask.key is None:
            return
        with self._lock:
            if (ask.caller.user, ask.key) in self._under_way:
                raise Problem(
                    "in-progress",
                    "A request with this Idempotency-Key is being answered; try again later.",
                    retry_after=1,
                )
            self._under_way.add((ask.caller.user, ask.key))

    def leave(self, ask: Ask) -> None:
        """Give the key back."""
        if ask.key is not None:
            with self._lock:
                self._under_way.discard((ask.caller.user, ask.key))

    def find(self, connection: Connection, ask: Ask) -> dict[str, Any] | None:
        """Reply that was given for the key, None for a new one.

        Raises
        ------
        Problem
            When it was given for another body.
        """
        if ask.key is None:
            return None
        question = (
            'SELECT body, reply FROM service_requests WHERE model = ? AND "user" = ? AND key = ?'
        )
        rows = connection.ask(question, self._model, ask.caller.user, ask.key)
        if not rows:
            return None
        # The body's name under the key, not the body: what was asked is on no disk.
        if not self._vault.same(rows[0]["body"], self._vault.name(ask.body, self._model)):
            raise Problem(
                "key-reused",
                "This Idempotency-Key was used for a request with another body; use a new one.",
            )
        place = self._place(ask.caller.user, ask.key)
        return json.loads(self._vault.open(rows[0]["reply"], place))

    def store(self, connection: Connection, share: Share, reply: dict[str, Any]) -> None:
        """Keep a reply, inside the transaction that stores its answers."""
        if share.key is None:
            return
        place = self._place(share.user, share.key)
        sealed = self._vault.seal(json.dumps(reply).encode(), place)
        connection.insert(
            "service_requests",
            model=self._model,
            user=share.user,
            key=share.key,
            body=self._vault.name(share.body, self._model),
            reply=sealed,
            created=time.time(),
        )

    def forget_old(self, connection: Connection, seconds: float) -> None:
        """Delete replies older than that, but none of a job that is not finished.

        Their rows are still stored, and free for who asked.
        """
        # Whoever goes on with the job must find there what its parts have cost.
        connection.change(
            "DELETE FROM service_requests WHERE model = ? AND created < ? AND NOT EXISTS ("
            "SELECT 1 FROM service_jobs WHERE status IN ('queued', 'running') "
            "AND substr(key, 1, length(id) + 1) = id || '/')",
            self._model,
            time.time() - seconds,
        )

    def _place(self, user: str, key: str) -> str:
        return f"reply/{self._model}/{user}/{key}"
