"""Where requests of many callers wait for one model, and are answered together."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from itertools import count
from queue import SimpleQueue
from typing import Any, Final, final

from pacsklearn_service.server.answering.hosted_model import HostedModel
from pacsklearn_service.server.answering.released_model import ReleasedModel
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.problem import Problem

_MOST_TOGETHER: Final = 256
_MOST_ROWS: Final = 2**14
_MOST_WAITING: Final = 20_000
_NUMBERS: Final = count(1)


@final
class Desk:
    """One thread that answers for one model: whoever waits meanwhile shares the next commit.

    Parameters
    ----------
    model : HostedModel or ReleasedModel

    Attributes
    ----------
    number : int
        Its own, of all desks of this process.
    """

    def __init__(self, model: HostedModel | ReleasedModel) -> None:
        self.model, self.number = model, next(_NUMBERS)
        self._waiting: SimpleQueue[tuple[Ask, Future[dict[str, Any]]] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._under_way: set[tuple[str, str]] = set()
        self._is_closed = False
        # One thread a model that is asked: its session answers one batch after the other anyway.
        self._thread: threading.Thread | None = None

    def ask(self, ask: Ask) -> Future[dict[str, Any]]:
        """Return the reply to a request, when it is there.

        Raises
        ------
        Problem
            When the same key is being answered, too many wait, or the desk is closed.
        """
        future = Future[dict[str, Any]]()
        with self._lock:
            # What waits behind the end would never be answered.
            if self._is_closed:
                raise Problem("unavailable", "The model was just closed; try again.")
            # Before it waits: a key sent twice at once must not be answered twice.
            self.check_free(ask)
            if self._waiting.qsize() >= _MOST_WAITING:
                raise Problem(
                    "too-many-requests", "Too many requests wait for this model.", retry_after=5
                )
            if self._thread is None:
                name = f"desk {self.model.name}"
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()
            self._waiting.put((ask, future))
            if ask.key is not None:
                self._under_way.add((ask.caller.user, ask.key))
        return future

    def check_free(self, ask: Ask) -> None:
        """Refuse a request whose key is being answered."""
        if (ask.caller.user, ask.key or "") in self._under_way:
            raise Problem(
                "in-progress",
                "A request with this Idempotency-Key is being answered; try again later.",
            )

    def close(self) -> None:
        """Answer what waits, then nothing more."""
        with self._lock:
            self._is_closed = True
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(timeout=30)
        self.model.close()

    def _run(self) -> None:
        is_open = True
        while is_open:
            together = [self._waiting.get()]
            rows = 0
            while together[-1] is not None and len(together) < _MOST_TOGETHER:
                rows += together[-1][0].n_rows
                # Nobody is waited for: those who are there share a commit.
                if rows >= _MOST_ROWS or self._waiting.empty():
                    break
                together.append(self._waiting.get())
            is_open = together[-1] is not None
            self._serve([each for each in together if each is not None])

    def _serve(self, together: list[tuple[Ask, Future[dict[str, Any]]]]) -> None:
        # Who has gone away before the work began is charged nothing; later it cannot be called off.
        together = [each for each in together if self._is_wanted(*each)]
        if not together:
            return
        asks = [ask for ask, _ in together]
        try:
            replies: list[Any] = list(self.model.answer(asks))
        except Exception as error:  # noqa: BLE001 - each caller is told, and the desk goes on
            replies = [error] * len(asks)
        for (ask, future), reply in zip(together, replies, strict=True):
            self._leave(ask)
            if isinstance(reply, Exception):
                future.set_exception(reply)
            else:
                future.set_result(reply)

    def _is_wanted(self, ask: Ask, future: Future[dict[str, Any]]) -> bool:
        if future.set_running_or_notify_cancel():
            return True
        self._leave(ask)
        return False

    def _leave(self, ask: Ask) -> None:
        """Give the request's key back."""
        with self._lock:
            self._under_way.discard((ask.caller.user, ask.key or ""))
