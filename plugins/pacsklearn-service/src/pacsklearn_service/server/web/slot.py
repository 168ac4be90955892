"""Fixed response times: every reply leaves at the end of a public slot, padded to a public size."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final, final

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
        if scope["type"] != "http":
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
        for message in _padded(held):
            await send(message)


def _padded(messages: list[Message]) -> list[Message]:
    """Return the same reply, with spaces after JSON up to a whole number of blocks."""
    start = next((each for each in messages if each["type"] == "http.response.start"), None)
    if start is None:
        return messages
    body = b"".join(each.get("body", b"") for each in messages)
    headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
    kind = dict(headers).get(b"content-type", b"")
    if b"json" in kind:
        # The length says otherwise how many digits the answers have.
        body = body.ljust(_BLOCK * math.ceil((len(body) + 1) / _BLOCK))
    headers.append((b"content-length", str(len(body)).encode()))
    start = {**start, "headers": headers}
    return [start, {"type": "http.response.body", "body": body, "more_body": False}]
