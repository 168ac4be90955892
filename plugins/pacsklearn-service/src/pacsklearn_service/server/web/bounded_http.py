"""Connections over which no whole request comes: they end, the oldest first of many."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedHttp(H11Protocol):
    """HTTP of uvicorn, whose own time limit begins with the first reply.

    Notes
    -----
    A connection waits until a request is complete, and again after each reply. One that sends no
    head, or no further piece of a body, for as long as one is kept alive (``timeout_keep_alive`` of
    its configuration) is closed, and so is the one that waits
    longest while more than half of all connections do: whoever sends requests by halves keeps
    nobody else out.
    """

    _waiting: ClassVar[dict[BoundedHttp, asyncio.TimerHandle]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def _look(self) -> None:
        theirs = self.conn.their_state
        if theirs is h11.IDLE and self in self._waiting:
            return  # one time limit for the whole of a head
        self._wait_no_more()
        # A body that is not read because the application is busy waits for us.
        if theirs is h11.IDLE or (theirs is h11.SEND_BODY and not self.flow.read_paused):
            self._waiting[self] = self.loop.call_later(
                self.config.timeout_keep_alive, self._give_up
            )
        if len(self._waiting) > (self.config.limit_concurrency or 2) // 2:
            next(iter(self._waiting))._give_up()

    def _wait_no_more(self) -> None:
        timer = self._waiting.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _give_up(self) -> None:
        self._wait_no_more()
        self.transport.abort()
