"""Connections over which no request comes: they end, the oldest first where there are many."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS: Final = 2000
_MOST_WAITING: Final = 1000
_SECONDS: Final = 10.0


class BoundedHttp(H11Protocol):
    """HTTP of uvicorn, whose own time limit begins with the first reply.

    Notes
    -----
    A connection waits until a request's head is complete, and again after each reply. One that
    waits longer than ten seconds is closed, and so is the one that waits longest while more than
    half of all connections do: whoever sends heads by halves keeps nobody else out.
    """

    _waiting: ClassVar[dict[BoundedHttp, asyncio.TimerHandle]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_idle:
            self._wait_no_more()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_idle:  # no further request came with the last
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    @property
    def _is_idle(self) -> bool:
        cycle: Any = self.cycle
        return cycle is None or bool(cycle.response_complete)

    def _wait(self) -> None:
        self._wait_no_more()
        self._waiting[self] = self.loop.call_later(_SECONDS, self._give_up)
        if len(self._waiting) > _MOST_WAITING:
            next(iter(self._waiting))._give_up()

    def _wait_no_more(self) -> None:
        timer: Any = self._waiting.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _give_up(self) -> None:
        self._wait_no_more()
        self.transport.abort()
