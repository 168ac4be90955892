"""What all planes share: errors, limits, headers, and who asks."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pacsklearn.service.authenticator import Authenticator
from pacsklearn.service.caller import Caller
from pacsklearn.service.link import Link
from pacsklearn.service.problem import KINDS, Problem, problem_of
from pacsklearn.service.settings import Settings

_LOG: Final = logging.getLogger("pacsklearn.service")
_BY_STATUS: Final = {
    400: "bad-request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    413: "too-large",
    415: "unsupported-media-type",
}
_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {
        "description": " / ".join(title for code, title in KINDS.values() if code == status),
        "content": {
            "application/problem+json": {
                "schema": {
                    "type": "object",
                    "required": ["type", "title", "status", "detail"],
                    "properties": {
                        "type": {"type": "string"},
                        "title": {"type": "string"},
                        "status": {"type": "integer"},
                        "detail": {"type": "string"},
                    },
                }
            }
        },
    }
    for status in sorted({code for code, _ in KINDS.values()})
}
"""Refusals, for the OpenAPI document."""


def new_app(title: str, link: Link, settings: Settings, lifespan: Any = None) -> FastAPI:
    """Application of one plane, closed by default."""
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

    @app.exception_handler(Problem)
    async def refused(_: Request, problem: Problem) -> Response:
        return problem_response(problem)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        # Names of fields only: pydantic's own messages quote what was sent.
        fields = sorted({".".join(str(part) for part in each["loc"]) for each in error.errors()})
        known = [each for each in fields if len(each) < 100 and each.isascii()][:5]
        return problem_response(
            Problem("invalid", f"These fields are missing or not valid: {', '.join(known)}.")
        )

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        kind = _BY_STATUS.get(error.status_code, "bad-request")
        response = problem_response(Problem(kind, f"{KINDS[kind][1]}."))
        response.headers.update(error.headers or {})
        return response

    app.add_middleware(Limits, settings=settings)
    return app


async def caller_of(request: Request) -> Caller:
    """Whoever the request is from; refused where nobody is."""
    caller: Caller = await request.app.state.authenticator.caller(request)
    return caller


async def ask(request: Request, what: str, caller: Caller | None = None, **facts: Any) -> Any:
    """Ask the coordinator, as a caller or else as whoever the request is from."""
    caller = caller or await caller_of(request)
    return await request.app.state.link.ask(what, caller, **facts)


def content_kind(request: Request) -> str:
    """Media type of the body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def problem_response(problem: Problem) -> Response:
    """Response of a refusal."""
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
    """Outermost layer: sizes, times and headers, and errors that nothing else has caught.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(receive, send, self._settings.most_bytes)
        # A stream of events lasts as long as its job.
        is_stream = scope["path"].endswith("/events")
        try:
            async with asyncio.timeout(None if is_stream else self._settings.seconds):
                await self._app(scope, exchange.receive, exchange.send)
        except TimeoutError:
            problem = Problem("timeout", "Try again with the same Idempotency-Key.", retry_after=1)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client reads no traceback
            problem = problem_of(error)
            if problem.kind == "defect":
                _LOG.error("a request failed: %s", type(error).__name__)
        else:
            return
        # A reply that has begun cannot become another one.
        if not exchange.has_begun:
            await problem_response(problem)(scope, receive, exchange.send)


class _Exchange:
    """One request, whose body is counted, and its response, which gets the service's headers."""

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive, self._send, self._most = receive, send, most
        self._size = 0
        self.has_begun = False

    async def receive(self) -> Message:
        message = await self._receive()
        # Counted as it comes: a length in a header is the client's word.
        self._size += len(message.get("body", b""))
        if self._size > self._most:
            raise Problem("too-large", f"A body holds at most {self._most} bytes.")
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            known = {name for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message["headers"] = [
                *message["headers"],
                *((name, value) for name, value in more if name not in known),
            ]
        await self._send(message)
