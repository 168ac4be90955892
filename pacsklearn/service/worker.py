"""A web worker: a process that reads requests, and holds neither secret nor key.

It is a program of its own, begun anew and not forked: nothing that the coordinator holds is in its
memory. It ends when its coordinator does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from fastapi import FastAPI

from pacsklearn.service.apps import caller_app, curator_app
from pacsklearn.service.link import SocketLink
from pacsklearn.service.settings import Settings

__all__ = ["main"]

_TICK = 0.5


def main() -> None:
    """Serve one plane on a socket that the coordinator has opened."""
    parser = argparse.ArgumentParser(prog="pacsklearn.service.worker")
    parser.add_argument("--plane", choices=("caller", "curator"), required=True)
    parser.add_argument("--link", required=True)
    parser.add_argument("--descriptor", type=int, required=True)
    parser.add_argument("--settings", required=True)
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(name)s %(levelname)s %(message)s")
    settings, link = Settings.from_json(given.settings), SocketLink(given.link)
    parent = os.getppid()

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watch = asyncio.create_task(_end_with(parent, server))
        yield
        watch.cancel()
        await link.close()

    make = caller_app if given.plane == "caller" else curator_app
    server = uvicorn.Server(_config(make(link, settings, lifespan), settings))
    server.run(sockets=[socket.socket(fileno=given.descriptor)])


def _config(app: Any, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=2000,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=20,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.private_key,
    )


async def _end_with(parent: int, server: uvicorn.Server) -> None:
    """End when the coordinator has: whoever takes over needs the address."""
    while os.getppid() == parent:
        await asyncio.sleep(_TICK)
    server.should_exit = server.force_exit = True


if __name__ == "__main__":
    main()
