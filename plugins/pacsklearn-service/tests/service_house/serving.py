"""A service's real application behind uvicorn, on a loopback port and in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from pacsklearn_service import PrivateModel
from pacsklearn_service.server.web.worker import caller_app
from service_house.house import House
from service_house.live import own_port
from service_house.local_link import LocalLink


class Faults:
    """What goes wrong between the application and the client, and what was asked.

    ``next`` holds one fault a coming request for answers: ``lost`` lets the application answer and
    breaks the reply off; a number is a status that is given without asking the application.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self.next: list[str | int] = []
        self.keys: list[str] = []
        self.paths: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.paths.append(scope["path"])
        if not scope["path"].endswith("/infer"):
            await self._app(scope, receive, send)
            return
        self.keys.append(dict(scope["headers"])[b"idempotency-key"].decode())
        fault = self.next.pop(0) if self.next else None
        if isinstance(fault, int):
            headers = [(b"location", b"http://127.0.0.1:1/"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": fault, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return

        async def broken(message: Any) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": message["body"][:20], "more_body": True}
            await send(message)

        await self._app(scope, receive, send if fault is None else broken)


@contextmanager
def serving(house: House, **options: Any) -> Iterator[tuple[str, Faults]]:
    """Address of the service while the block runs."""
    faults, own = Faults(caller_app(LocalLink(house.operations), house.settings)), own_port()
    server = uvicorn.Server(uvicorn.Config(faults, log_level="critical", lifespan="off", **options))
    thread = threading.Thread(target=server.run, args=([own],), daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield f"{'https' if options else 'http'}://127.0.0.1:{own.getsockname()[1]}", faults
    server.should_exit = True
    thread.join(30)


def ask(house: House, server: Any, user: str, quota: float = 1.0, **options: Any) -> PrivateModel:
    return PrivateModel(server[0], house.key(user, quota=quota), **options)
