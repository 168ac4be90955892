"""Requests that another coordinator of the service has to answer, passed on to it as they came."""

from __future__ import annotations

import asyncio
import http.client
import ssl
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from fastapi import Request, Response

from pacsklearn_service.channel import connection_to, exchanged
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.settings import Settings

MARK: Final = "x-pacsklearn-passed-on"
_PASSED: Final = (
    "accept", "authorization", "content-encoding", "content-type", "idempotency-key",
    "inference-header-content-length", "x-request-id",
)  # fmt: skip
_AT_ONCE: Final = ThreadPoolExecutor(64, "passed on")


async def passed_on(request: Request, problem: Problem, body: bytes) -> Response:
    """Return the response of the coordinator that a problem names.

    Once: what it does not answer either, because the data set has just been taken from it, is
    refused with 503 and asked again.

    Raises
    ------
    Problem
        Where it cannot be reached; a request with an ``Idempotency-Key`` is paid once all the same.
    """
    url = problem.more[request.app.state.plane]
    if not url or MARK in request.headers:
        raise Problem("unavailable", problem.detail)
    try:
        settings, loop = request.app.state.settings, asyncio.get_running_loop()
        return await loop.run_in_executor(_AT_ONCE, _sent, request, url, body, settings)
    except (OSError, http.client.HTTPException, ValueError):  # not there, or not an address
        raise Problem("unavailable", problem.detail) from None


@lru_cache
def _trusted(ca_file: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=ca_file)


def _sent(request: Request, url: str, body: bytes, settings: Settings) -> Response:
    parts = urlsplit(url)
    tls = None if parts.scheme == "http" else _trusted(settings.ca_file)
    connection = connection_to(str(parts.hostname), parts.port, settings.seconds, tls)
    headers = {name: request.headers[name] for name in _PASSED if name in request.headers}
    path = request.scope["raw_path"].decode("latin-1")
    query = request.scope["query_string"].decode("latin-1")
    where = f"{parts.path.rstrip('/')}{path}" + ("?" + query if query else "")
    reply, content = exchanged(connection, request.method, where, body, headers | {MARK: "1"})
    own = {
        name: value
        for name, value in reply.getheaders()
        if name.lower() not in ("connection", "content-length", "transfer-encoding")
    }
    return Response(content, reply.status, own)
