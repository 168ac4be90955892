"""Fixed response times: every reply leaves at the end of a public slot, padded to a public size."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final, final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
