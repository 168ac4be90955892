"""A coordinator in this process, in the place of one behind a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from pacsklearn_service.server.link import Operation
from pacsklearn_service.server.problem import problem_of


class LocalLink:
    def __init__(self, operation: Callable[[str], Operation]) -> None:
        self._operation = operation

    async def ask(
        self, what: str, shown: str | None = None, content: bytes = b"", **facts: Any
    ) -> Any:
        try:
            reply = await asyncio.to_thread(self._operation(what), shown, facts, content)
            return await asyncio.wrap_future(reply) if isinstance(reply, Future) else reply
        except Exception as error:  # noqa: BLE001 - whatever it is, it leaves as a problem
            raise problem_of(error) from None
