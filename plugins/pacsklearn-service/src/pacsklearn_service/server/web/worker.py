"""A web worker: a process that reads requests, and holds neither secret nor key.

It is a program of its own, begun anew and not forked: nothing that the coordinator holds is in its
memory. It ends when its coordinator does.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

import uvicorn
from fastapi import FastAPI

from pacsklearn_service.server.console import pages
from pacsklearn_service.server.link import Link
from pacsklearn_service.server.log import write_to_stderr
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.web import curator_plane, data_plane, private_plane
from pacsklearn_service.server.web.app import new_app
from pacsklearn_service.server.web.bounded_http import BoundedHttp
from pacsklearn_service.server.web.slot import Slot

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
    _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    if descriptors:
        server.run(sockets=[socket.socket(fileno=descriptors[0])])


def _config(app: Any, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=BoundedHttp,
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=settings.most_connections,
        timeout_keep_alive=10,
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
    return app


if __name__ == "__main__":
    main()
