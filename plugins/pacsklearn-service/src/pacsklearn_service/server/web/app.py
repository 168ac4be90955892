"""What all planes share: errors, limits, headers, who asks, and requests passed on to another."""

from __future__ import annotations

import asyncio
import http.client
import re
import secrets
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Final, ParamSpec, TypeVar
from urllib.parse import urlsplit

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pacsklearn_service.channel import connection_to, exchanged
from pacsklearn_service.server.link import Link
from pacsklearn_service.server.log import LOG
from pacsklearn_service.server.problem import KINDS, Problem, problem_of
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.web.authenticator import Authenticator
from pacsklearn_service.server.web.schemas import invalid

MARK: Final = "x-pacsklearn-passed-on"
_PASSED: Final = (
    "accept", "authorization", "content-encoding", "content-type", "cookie", "idempotency-key",
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


P = ParamSpec("P")
T = TypeVar("T")

_BY_STATUS: Final = {status: kind for kind, (status, _) in reversed(KINDS.items())}
_OPEN: Final = ("/v2", "/v2/health/live", "/v2/health/ready", "/ping", "/openapi.json")
"""Paths that anybody may ask."""
_LONG: Final = 2**16
_TABLES: Final = re.compile(r"/v1/(datasets|models/[^/]+/versions)")
_REQUEST_ID: Final = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_ONCE: Final = (
    "authorization", "content-type", "idempotency-key", "inference-header-content-length",
)  # fmt: skip
_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

_MEMBERS: Final = {"type": "string", "title": "string", "status": "integer", "detail": "string"}
_PROBLEM: Final = {
    "type": "object",
    "required": list(_MEMBERS),
    "properties": {name: {"type": kind} for name, kind in _MEMBERS.items()},
}
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {
        "description": " / ".join(title for code, title in KINDS.values() if code == status),
        "content": {"application/problem+json": {"schema": _PROBLEM}},
    }
    for status in sorted(_BY_STATUS)
}
"""Refusals, for the OpenAPI document."""


def new_app(title: str, link: Link, settings: Settings, lifespan: Any = None) -> FastAPI:
    """Return the application of one plane, closed by default."""
    from pacsklearn import __version__

    app = FastAPI(
        title=title,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.link, app.state.settings = link, settings
    app.state.authenticator = Authenticator(link, settings)
    app.state.decoding, app.state.refusal = asyncio.Lock(), problem_response

    @app.exception_handler(Problem)
    async def refused(request: Request, problem: Problem) -> Response:
        try:
            if problem.kind == "elsewhere":
                return await passed_on(request, problem, await request.body())
        except Problem as other:
            problem = other
        return _refusal(request, problem)

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> Response:
        return _refusal(request, invalid(error.errors()))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        kind = _BY_STATUS.get(error.status_code, "bad-request")
        response = _refusal(request, Problem(kind, f"{KINDS[kind][1]}."))
        response.headers.update(error.headers or {})
        return response

    app.add_middleware(Limits, settings=settings, authenticator=app.state.authenticator)
    return app


async def ask(request: Request, what: str, **facts: Any) -> Any:
    """Ask the coordinator for whoever the request is from."""
    return await request.app.state.link.ask(what, request.state.shown, **facts)


async def decoded(request: Request, read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a body holds; a long one is read beside the event loop, one after the other."""
    if is_short(request):
        return read(*args, **kwargs)
    async with request.app.state.decoding:
        return await asyncio.to_thread(read, *args, **kwargs)


def is_short(request: Request) -> bool:
    """Return whether reading the body keeps no other request waiting."""
    return int(request.headers.get("content-length", _LONG)) < _LONG


def content_kind(request: Request) -> str:
    """Return the media type of the body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _refusal(request: Request, problem: Problem) -> Response:
    response: Response = request.app.state.refusal(request, problem)
    return response


def problem_response(_: Request, problem: Problem) -> Response:
    """Return the response of a refusal."""
    headers = {}
    if "retry_after" in problem.more:
        headers["retry-after"] = str(problem.more["retry_after"])
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    return JSONResponse(
        problem.document(),
        status_code=problem.status,
        headers=headers,
        media_type="application/problem+json",
    )


class Limits:
    """Outermost layer: who asks, sizes, times and headers, and errors that nothing else has caught.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    authenticator : Authenticator

    Notes
    -----
    Whoever asks is known before a byte of the body is read: FastAPI decodes a body before any code
    of a route runs.
    """

    def __init__(self, app: ASGIApp, settings: Settings, authenticator: Authenticator) -> None:
        self._app, self._settings, self._authenticator = app, settings, authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        settings, path, began = self._settings, scope["path"], time.monotonic()
        # Only curators come so far that a byte of these is read.
        brings_table = scope["method"] == "POST" and _TABLES.fullmatch(path) is not None
        seconds = settings.table_seconds if brings_table else settings.seconds
        most = settings.most_table_bytes if brings_table else settings.most_bytes
        headers = Request(scope).headers
        given = headers.get("x-request-id", "")
        own = given if _REQUEST_ID.fullmatch(given) else ""
        exchange = _Exchange(receive, send, most, own)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=own or secrets.token_hex(8))
        problem: Problem | None = None
        try:
            _check_head(path, headers)
            # A stream of events lasts as long as its job.
            async with asyncio.timeout(None if path.endswith("/events") else seconds):
                # The console's pages know people by a cookie.
                if path not in _OPEN and not path.startswith("/console"):
                    await self._authenticator.caller(Request(scope))
                await self._app(scope, exchange.receive, exchange.send)
        except TimeoutError:
            problem = Problem("timeout", "Try again with the same Idempotency-Key.")
        except ClientDisconnect:  # no defect of ours
            problem = Problem("bad-request", "The body broke off before its end.")
        except Exception as error:  # noqa: BLE001 - whatever it is, the client reads no traceback
            problem = problem_of(error)
            if problem.kind == "defect":
                LOG.error("a request failed", error=type(error).__name__)
        # A reply that has begun cannot become another one.
        if problem is not None and not exchange.status:
            await _refusal(Request(scope), problem)(scope, receive, exchange.send)
        LOG.info(
            "answered",
            method=scope["method"],
            path=path,
            status=exchange.status,
            seconds=round(time.monotonic() - began, 6),
        )


def _check_head(path: str, headers: Headers) -> None:
    if "\0" in path:  # no name has one, and no server's text can hold it
        raise Problem("not-found", "There is nothing of this name.")
    for name in _ONCE:  # sender, proxies and service may differ on which one counts
        if len(headers.getlist(name)) > 1:
            raise Problem("bad-request", f"The header {name} stands twice.")


class _Exchange:
    """One request, whose body is counted, and its response, which gets the service's headers."""

    def __init__(self, receive: Receive, send: Send, most: int, own: str) -> None:
        self._receive, self._send, self._most = receive, send, most
        self._size, self.status = 0, 0
        self._headers = _HEADERS | ({"x-request-id": own} if own else {})

    async def receive(self) -> Message:
        message = await self._receive()
        # Counted as it comes: a length in a header is the client's word.
        self._size += len(message.get("body", b""))
        if self._size > self._most:
            raise Problem("too-large", f"A body holds at most {self._most} bytes.")
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers.setdefault(name, value)
        await self._send(message)
