"""A web worker: a process that reads requests, and holds neither secret nor key.

It is a program of its own, begun anew and not forked: nothing that the coordinator holds is in its
memory. It ends when its coordinator does.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import math
import resource
import signal
import socket
import sys
import time
from asyncio import constants
from collections.abc import AsyncIterator
from typing import Any, ClassVar, Final, final

import h11
import uvicorn
from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from pacsklearn_service.server.console import pages
from pacsklearn_service.server.link import Link
from pacsklearn_service.server.log import write_to_stderr
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.web import curator_plane, data_plane, private_plane
from pacsklearn_service.server.web.app import new_app

_PATIENCE: Final = 10
"""Seconds that a connection may send nothing."""


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

    def eof_received(self) -> bool:  # type: ignore[override]
        # Whoever has sent a whole request may be done with sending, and waits for the reply.
        cycle: Any = self.cycle  # none before the first head
        if cycle is None or cycle.more_body or cycle.response_complete:
            return False
        cycle.keep_alive = False
        return self.scheme == "http"  # TLS ends both ways at once

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


_BLOCK: Final = 4096


@final
class Slot:
    """Layer outside all others, which holds a whole reply back until the slot ends.

    A slot begins when the request's body has been read. A reply that needs longer than one leaves
    at the end of the next: how many slots it took is then public, so choose one that is longer
    than the slowest reply.

    Parameters
    ----------
    app : ASGI application
    seconds : float
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].endswith("/events"):
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        held: list[Message] = []

        async def begun() -> Message:
            nonlocal began
            message = await receive()
            began = time.monotonic()
            return message

        async def hold(message: Message) -> None:
            held.append(message)

        await self._app(scope, begun, hold)
        # Whole slots: how much of the last one the work took shows nowhere.
        slots = max(1, math.ceil((time.monotonic() - began) / self._seconds))
        await asyncio.sleep(began + slots * self._seconds - time.monotonic())
        if not held:
            return
        start, body = held[0], b"".join(each.get("body", b"") for each in held[1:])
        headers = MutableHeaders(scope=start)
        if "json" in headers.get("content-type", ""):
            # The length says otherwise how many digits the answers have: spaces up to whole blocks.
            body = body.ljust(_BLOCK * math.ceil((len(body) + 1) / _BLOCK))
        headers["content-length"] = str(len(body))
        await send(start)
        await send({"type": "http.response.body", "body": body})


_PR_SET_PDEATHSIG: Final = 1


def main() -> None:
    """Serve one plane on an address that the coordinator hands over when it leads."""
    plane, path, descriptor, stated = sys.argv[1:]  # of the coordinator, which begins nobody else
    if sys.platform == "linux":
        # With the coordinator, also where both are stopped: the address must be free then.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator says when it is over
    write_to_stderr()
    settings, link = Settings.model_validate_json(stated), Link(path)
    # A body that needs more than a worker may have is an error of its own request.
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (settings.most_worker_bytes, most))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    control = socket.socket(fileno=int(descriptor))

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Nothing comes this way but the end: the coordinator is gone, or says so.
        asyncio.get_running_loop().add_reader(control, _end, server)
        yield
        asyncio.get_running_loop().remove_reader(control)
        await link.close()

    make = caller_app if plane == "caller" else curator_app
    server = uvicorn.Server(_config(make(link, settings, lifespan), settings))
    # Everything is imported and made: a standby's worker waits here until its coordinator leads.
    gc.freeze()  # to look through it for garbage keeps callers waiting
    _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    if descriptors:
        server.run(sockets=[socket.socket(fileno=descriptors[0])])


def _config(app: Any, settings: Settings) -> uvicorn.Config:
    # Of greetings too, which uvicorn leaves at a minute; a connection is ours only after its own.
    constants.SSL_HANDSHAKE_TIMEOUT = _PATIENCE
    return uvicorn.Config(
        app,
        http=BoundedHttp,
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=settings.most_connections,
        timeout_keep_alive=_PATIENCE,
        timeout_graceful_shutdown=20,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.private_key,
    )


def _end(server: uvicorn.Server) -> None:
    """End when the coordinator has: whoever takes over needs the address."""
    server.should_exit = server.force_exit = True


def caller_app(link: Link, settings: Settings, lifespan: Any = None) -> FastAPI:
    """Return the data plane and private plane."""
    app = new_app("pacsklearn", link, settings, lifespan)
    app.state.plane = "url"
    app.state.admissions = data_plane.Admissions(settings.requests_per_minute)
    app.include_router(data_plane.router)
    app.include_router(private_plane.router)
    if settings.slot is not None:
        app.add_middleware(Slot, seconds=settings.slot)
    return app


def curator_app(link: Link, settings: Settings, lifespan: Any = None) -> FastAPI:
    """Return the curator plane, and its console."""
    app = new_app("pacsklearn curator", link, settings, lifespan)
    app.state.plane = "curator_url"
    app.include_router(curator_plane.router)
    app.include_router(curator_plane.metrics)
    app.include_router(pages.router)
    app.state.refusal = pages.refusal
    return app


if __name__ == "__main__":
    main()
